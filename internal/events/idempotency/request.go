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
	token  uuid.UUID
	lock   store.Lock
	name   []byte // hash of the key
	hash   []byte // hash of the request
	status int    // of a successful response
	secret []byte // seals the response
}

// New returns the request of the caller of ctx with a key. value is its access token; status
// is that of a successful response. content is everything that makes it this request: method,
// path, query and body.
func New(ctx context.Context, value, key string, status int, content ...[]byte) *Request {
	token := principal.Must(ctx).TokenID
	return &Request{
		token:  token,
		lock:   store.LockOf("idempotency", token, " ", key),
		name:   digest(value, "name", []byte(key)),
		hash:   digest(value, "request", content...),
		status: status,
		secret: digest(value, "response", []byte(key)),
	}
}

// digest returns a hash of the parts that only a holder of the access token can calculate.
func digest(token, purpose string, parts ...[]byte) []byte {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte(purpose)) // a hash never fails
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
		expired, err := r.replay(ctx, tx)
		if err != nil {
			return err
		}
		if expired != nil {
			if err := tx.IdempotencyKey.DeleteOne(expired).Exec(ctx); err != nil {
				return err
			}
		}
		response, err := work(tx)
		if err != nil {
			return err
		}
		return r.store(ctx, tx, response)
	})
	if errors.Is(err, store.ErrLocked) {
		// A replay holds the lock, too: if a response is stored, nothing is in progress.
		if _, err := r.replay(ctx, db.Ent); err != nil {
			return err
		}
		return apierror.IdempotencyInProgress()
	}
	return err
}

// replay returns the stored response as an error of type *Replay, or nil for a new key. An expired
// response counts for nothing; the caller may delete it.
func (r *Request) replay(ctx context.Context, client *ent.Client) (expired *ent.IdempotencyKey, err error) {
	stored, err := client.IdempotencyKey.Query().
		Where(idempotencykey.TokenID(r.token), idempotencykey.KeyHash(r.name)).Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, err
	case !stored.CreatedAt.After(clock.Now(ctx).Add(-Retention)):
		return stored, nil
	case !hmac.Equal(stored.RequestHash, r.hash):
		return nil, apierror.IdempotencyKeyReused()
	}
	body, err := r.open(ctx, stored.Response)
	if err != nil {
		return nil, err
	}
	return nil, &Replay{Status: stored.Status, Body: body}
}

// store stores the response.
func (r *Request) store(ctx context.Context, tx *ent.Client, response Response) error {
	sealed, err := r.seal(ctx, response)
	if err != nil {
		return err
	}
	return tx.IdempotencyKey.Create().SetTokenID(r.token).SetKeyHash(r.name).SetRequestHash(r.hash).
		SetStatus(r.status).SetResponse(sealed).SetCreatedAt(clock.Now(ctx)).Exec(ctx)
}

// seal encrypts the records that the request has read, for the access log of a replay, and
// the body of its response.
func (r *Request) seal(ctx context.Context, response Response) ([]byte, error) {
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
	aead, err := r.aead()
	if err != nil {
		return nil, err
	}
	return aead.Seal(nil, nil, text, r.hash), nil
}

// open decrypts a response, notes the records in the access log and returns the body.
func (r *Request) open(ctx context.Context, sealed []byte) ([]byte, error) {
	aead, err := r.aead()
	if err != nil {
		return nil, err
	}
	text, err := aead.Open(nil, nil, sealed, r.hash)
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

func (r *Request) aead() (cipher.AEAD, error) {
	block, err := aes.NewCipher(r.secret)
	if err != nil {
		return nil, fmt.Errorf("idempotency: %w", err)
	}
	return cipher.NewGCMWithRandomNonce(block)
}
