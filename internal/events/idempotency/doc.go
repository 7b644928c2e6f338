// Package idempotency makes a write safe to send again (the Idempotency-Key header of
// draft-ietf-httpapi-idempotency-key-header).
//
//	ParseKey    key.go      the header
//	Request     request.go  the key, the token and a hash of the request
//	Do          request.go  one transaction: lock ─▶ look up ─▶ write ─▶ store the response
//	KeepPruning prune.go    deletes responses after a day
//
// The response is stored in the transaction of the write, as its last statement: either both
// are in the database or neither is. So a request that is sent again after a crash, at any
// moment, either writes or gets the first response, and never writes twice. Only successes
// are stored, because a refused write has stored nothing.
//
// A request takes a lock on its key and is refused at once if another holds it
// (store.DB.TxOnce). The context of a request with a key refuses every transaction but Do's
// (store.Once), so no operation can forget to store its response.
//
// A response is patient data, so it is sealed. Its key is derived from the practice's hash key, the
// token's id and the Idempotency-Key. The hash key is sealed with the keys of the installation, and
// the Idempotency-Key is stored only as a keyed hash: a copy of the database does not reveal the
// response. A refreshed token keeps its id, and so its responses. Only the same request gets a
// stored response. Exports omit them.
package idempotency
