package api

import (
	"context"

	"github.com/go-faster/jx"

	"chairside/internal/etag"
	"chairside/internal/fault"
	"chairside/internal/recent"
	"chairside/internal/store"
	"chairside/ogent"
)

// Handler implements the operations. Those it has no method for are plain
// reads and come from ogent.Reads.
type Handler struct {
	ogent.Reads
	db   *store.DB
	work *recent.Memory[int64, work] // by practitioner
}

var _ ogent.Handler = (*Handler)(nil)

// New gives the handler over an open database. baseURL is this server's public
// address without a final slash.
func New(db *store.DB, baseURL string) *Handler {
	return &Handler{Reads: ogent.Reads{Client: db.Ent, BaseURL: baseURL}, db: db, work: rememberWork(db.Ent)}
}

// ifMatch refuses a write whose If-Match header names another version than the
// current response form, with fault.VersionMismatch. It is called inside the
// write's transaction, after the row was locked; without the header the form
// is not read.
func ifMatch[R interface{ Encode(*jx.Encoder) }, ID any](ctx context.Context, show func(context.Context, ID) (R, error), id ID) error {
	header := etag.IfMatch(ctx)
	if header == "" {
		return nil
	}
	current, err := show(ctx, id)
	if err != nil {
		return err
	}
	e := jx.GetEncoder()
	defer jx.PutEncoder(e)
	current.Encode(e)
	if !etag.Match(header, etag.Of(e.Bytes())) {
		return fault.VersionMismatch()
	}
	return nil
}
