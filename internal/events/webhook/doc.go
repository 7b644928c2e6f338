// Package webhook sends the changes of the change feed to the addresses of webhooks.
//
//	collect.go   changes ─▶ deliveries: each webhook follows the feed from its own cursor
//	deliver.go   deliveries ─▶ attempts: leases, order, parallel attempts
//	attempt.go   one attempt: send, record, back off, give up, switch off
//	payload.go   the body, from the record as it is at the attempt
//	sign.go      secrets and signatures (Standard Webhooks)
//	send.go      one HTTP request, bounded in time and size
//	address.go   addresses that are never connected to
//	manage.go    what the API, the pages and the command line do with webhooks
//	sweep.go     deletes old entries of the log
//
// # Guarantees
//
// An event is delivered at least once: attempts go on for two days. All of them have the same
// event id, so a receiver can drop repetitions. Events of one record arrive in order: while
// one fails, later ones of that record wait, and those of other records do not. After a failure,
// nothing is sent to that webhook for a moment, then one event at a time until one succeeds. Any
// number of server processes deliver. A delivery belongs to the process that holds its lease, and is
// free again when the lease ends. River, a job queue for PostgreSQL and SQLite, keeps no order
// for a key in its open edition.
//
// A delivery holds no data of the record. The log holds each request with its body for 14 days;
// pages that show a body are in the access log. Exports have neither webhooks nor their log: a
// restored copy must not send to the receivers of the original.
package webhook
