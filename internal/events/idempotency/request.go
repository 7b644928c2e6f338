package idempotency

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/go-faster/jx"
	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/idempotencykey"
	"chairside/internal/apierror"
	"chairside/internal/audit"
	"chairside/internal/clock"
	"chairside/internal/principal"
	"chairside/internal/store"
)

// Retention is how long a response is replayed.
const Retention = 24 * time.Hour

// Request is a request with a key.
type Request struct {
	token    uuid.UUID // keeps its id when it is refreshed
	practice uuid.UUID
	key      string
	content  [][]byte
	status   int // of a successful response
	lock     store.Lock
}

// New returns the request of the caller of ctx with a key. status is that of a successful response.
// content is everything that makes it this request: method, path, query and body.
func New(ctx context.Context, key string, status int, content ...[]byte) *Request {
	caller := principal.Must(ctx)
	return &Request{
		token:    caller.TokenID,
		practice: caller.PracticeID,
		key:      key,
		content:  content,
		status:   status,
		lock:     store.LockOf("idempotency", caller.TokenID, " ", key),
	}
}

// secrets identify and seal a stored response. They can be calculated only with the practice's hash key, which is
// sealed in the database.
type secrets struct {
	name []byte // hash of the key
	hash []byte // hash of the request
	seal []byte // key that seals the response
}

// secrets derives them from the practice's hash key.
func (r *Request) secrets(hashKey string) secrets {
	return secrets{
		name: r.digest(hashKey, "idempotency name", []byte(r.key)),
		hash: r.digest(hashKey, "idempotency request", r.content...),
		seal: r.digest(hashKey, "idempotency response", []byte(r.key)),
	}
}

// digest returns a keyed hash of the token's id and the parts.
func (r *Request) digest(hashKey, purpose string, parts ...[]byte) []byte {
	mac := hmac.New(sha256.New, []byte(hashKey))
	mac.Write([]byte(purpose)) // a hash never fails
	mac.Write(r.token[:])
	for _, part := range parts {
		mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		mac.Write(part)
	}
	return mac.Sum(nil)
}

type contextKey struct{}

// With returns a context in which only Do can write.
func With(ctx context.Context, r *Request) context.Context {
	return context.WithValue(store.Once(ctx), contextKey{}, r)
}

// From returns the request of ctx, or nil if it has no key.
func From(ctx context.Context) *Request {
	r, _ := ctx.Value(contextKey{}).(*Request)
	return r
}

// Replay is the response to an earlier request with the same key. Do returns it as an error,
// because the operation has done nothing.
type Replay struct {
	Status int
	Body   []byte // empty for 204
}

func (*Replay) Error() string { return "idempotency: the response is stored" }

// Response is the generated response of an operation; nil if it has no body.
type Response interface{ Encode(*jx.Encoder) }

// Do runs work in one transaction that also stores its response. If a response is stored
// already, it returns a *Replay and does nothing.
func (r *Request) Do(ctx context.Context, db *store.DB, work func(tx *ent.Client) (Response, error)) error {
	err := db.TxOnce(ctx, r.lock, func(tx *ent.Client) error {
		ctx := clock.Refresh(ctx)
		hashKey, err := db.HashKey(ctx, tx, r.practice)
		if err != nil {
			return err
		}
		s := r.secrets(hashKey)
		expired, err := r.replay(ctx, tx, s)
		if err != nil {
			return err
		}
		if expired != nil { // Prune may have deleted it meanwhile
			if _, err := tx.IdempotencyKey.Delete().Where(idempotencykey.ID(expired.ID)).Exec(ctx); err != nil {
				return err
			}
		}
		response, err := work(tx)
		if err != nil {
			return err
		}
		return r.store(ctx, tx, s, response)
	})
	if errors.Is(err, store.ErrLocked) {
		// A replay holds the lock, too: if a response is stored, nothing is in progress.
		hashKey, err := db.SearchKey(ctx, db.Ent, r.practice)
		if err != nil {
			return err
		}
		if _, err := r.replay(ctx, db.Ent, r.secrets(hashKey)); err != nil {
			return err
		}
		return apierror.IdempotencyInProgress()
	}
	return err
}

// replay returns the stored response as an error of type *Replay, or nil for a new key. An expired
// response counts for nothing; the caller may delete it.
func (r *Request) replay(ctx context.Context, client *ent.Client, s secrets) (expired *ent.IdempotencyKey, err error) {
	stored, err := client.IdempotencyKey.Query().
		Where(idempotencykey.TokenID(r.token), idempotencykey.KeyHash(s.name)).Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, err
	case !stored.CreatedAt.After(clock.Now(ctx).Add(-Retention)):
		return stored, nil
	case !hmac.Equal(stored.RequestHash, s.hash):
		return nil, apierror.IdempotencyKeyReused()
	}
	body, err := s.open(ctx, stored.Response)
	if err != nil {
		return nil, err
	}
	return nil, &Replay{Status: stored.Status, Body: body}
}

// store stores the response.
func (r *Request) store(ctx context.Context, tx *ent.Client, s secrets, response Response) error {
	sealed, err := s.sealed(ctx, response)
	if err != nil {
		return err
	}
	return tx.IdempotencyKey.Create().SetTokenID(r.token).SetKeyHash(s.name).SetRequestHash(s.hash).
		SetStatus(r.status).SetResponse(sealed).SetCreatedAt(clock.Now(ctx)).Exec(ctx)
}

// sealed encrypts the records that the request has read, for the access log of a replay, and
// the body of its response.
func (s secrets) sealed(ctx context.Context, response Response) ([]byte, error) {
	notes, err := audit.From(ctx).Marshal()
	if err != nil {
		return nil, err
	}
	text := append(binary.AppendUvarint(nil, uint64(len(notes))), notes...)
	if response != nil {
		e := jx.GetEncoder()
		defer jx.PutEncoder(e)
		response.Encode(e)
		text = append(text, e.Bytes()...)
	}
	aead, err := s.aead()
	if err != nil {
		return nil, err
	}
	return aead.Seal(nil, nil, text, s.hash), nil
}

// open decrypts a response, notes the records in the access log and returns the body.
func (s secrets) open(ctx context.Context, sealed []byte) ([]byte, error) {
	aead, err := s.aead()
	if err != nil {
		return nil, err
	}
	text, err := aead.Open(nil, nil, sealed, s.hash)
	if err != nil {
		return nil, fmt.Errorf("idempotency: open a stored response: %w", err)
	}
	size, n := binary.Uvarint(text)
	if n <= 0 || size > uint64(len(text)-n) {
		return nil, errors.New("idempotency: a stored response is not valid")
	}
	notes, body := text[n:n+int(size)], text[n+int(size):]
	return body, audit.From(ctx).Unmarshal(notes)
}

func (s secrets) aead() (cipher.AEAD, error) {
	block, err := aes.NewCipher(s.seal)
	if err != nil {
		return nil, fmt.Errorf("idempotency: %w", err)
	}
	return cipher.NewGCMWithRandomNonce(block)
}
