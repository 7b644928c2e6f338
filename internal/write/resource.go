package write

import (
	"context"
	"errors"

	"github.com/go-faster/jx"

	"chairside/ent"
	"chairside/internal/apierror"
	"chairside/internal/clock"
	"chairside/internal/codec"
	"chairside/internal/entx"
	"chairside/internal/events/idempotency"
	"chairside/internal/list"
	"chairside/internal/principal"
	"chairside/internal/store"
	"chairside/internal/write/etag"
)

// Response is the generated response of one row.
type Response = idempotency.Response

// Tx runs the write of a request in one transaction. Every operation that writes runs through
// it, or through a Resource, which does so. work returns the response, or nil for 204. A
// request with an idempotency key writes once: its response is stored in the transaction, and
// returned as a *idempotency.Replay if the request is sent again.
func Tx(ctx context.Context, db *store.DB, work func(tx *ent.Client) (Response, error)) error {
	if r := idempotency.From(ctx); r != nil {
		return r.Do(ctx, db, work)
	}
	return db.Tx(ctx, func(tx *ent.Client) error {
		_, err := work(tx)
		return err
	})
}

// Save writes a row if the conditions hold and returns its response.
type Save[R any] func(context.Context, ...entx.Condition) (R, error)

// Create is a generated create C.
type Create[C any] interface {
	list.Rows
	If(...entx.Condition) C
}

// Insert writes a new row if the conditions hold and reads it back. It returns
// entx.ErrConditionFailed if one does not hold and, without conditions, apierror.NotFound
// if the caller may not see the row. No other row points at a new one, so its lists of
// parts are empty.
func Insert[R any, C Create[C]](ctx context.Context, view codec.View, c C, form list.Form[R], conditions ...entx.Condition) (*R, error) {
	rows, err := list.All(ctx, view, c.If(conditions...), form, 1)
	switch {
	case err != nil:
		return nil, err
	case len(rows) > 0:
		return &rows[0], nil
	case len(conditions) > 0:
		return nil, entx.ErrConditionFailed
	}
	return nil, apierror.NotFound()
}

// Resource describes a writable resource. Generated code fills it in; functions that its schema
// does not need are nil.
type Resource[ID, E any, M ent.Mutation, I any, R Response] struct {
	DB *store.DB
	// Rule is the rule of the resource, nil if it has none.
	Rule func(context.Context, *Write[E, M, I, R]) error
	// PracticeWide refuses callers that are limited to a site.
	PracticeWide bool
	// Conflicts makes a create one statement that takes its locks.
	Conflicts bool

	GetForUpdate func(context.Context, *ent.Client, ID) (*E, error)
	Get          func(context.Context, *ent.Client, ID) (R, error)
	AddMembers   func(context.Context, *ent.Client, R) error // adds members that are not columns; may be nil
	Create       func(*ent.Client) (M, Save[R])
	Update       func(*ent.Client, *E) (M, Save[R])
	Delete       func(context.Context, *ent.Client, *E) error // or archives
	Set          func(M, *I, *E)                              // sets the columns that were sent and differ
	References   func(*Write[E, M, I, R])                     // requires that linked rows exist
}

// Post creates a row.
func (r *Resource[ID, E, M, I, R]) Post(ctx context.Context, in *I) (response R, err error) {
	if err := r.checkSite(ctx); err != nil {
		return response, err
	}
	w := &Write[E, M, I, R]{} // replaced in each phase
	createIn := func(p phase) func(*ent.Client) error {
		return func(tx *ent.Client) error {
			ctx := clock.Refresh(ctx)
			w = r.newWrite(ctx, tx, in, nil, p)
			w.Mutation, w.save = r.Create(tx)
			r.Set(w.Mutation, in, nil)
			return r.run(ctx, w)
		}
	}
	if r.Conflicts && r.Rule != nil && r.AddMembers == nil && idempotency.From(ctx) == nil {
		err := createIn(planPhase)(r.DB.Ent)
		switch {
		case errors.Is(err, errNeedsTransaction): // the rule needs an ordinary transaction
		case err != nil:
			return response, err
		case len(w.Problems) > 0: // it will be refused, so it needs no lock
			return response, w.check(ctx)
		default:
			err = r.DB.TxSingleStatement(ctx, w.locks, createIn(statementPhase), createIn(transactionPhase))
			return w.Response, err
		}
	}
	err = Tx(ctx, r.DB, func(tx *ent.Client) (Response, error) {
		err := createIn(transactionPhase)(tx)
		return w.Response, err
	})
	return w.Response, err
}

// Patch changes the fields of a row that were sent.
func (r *Resource[ID, E, M, I, R]) Patch(ctx context.Context, id ID, in *I) (response R, err error) {
	err = r.withLockedRow(ctx, id, func(ctx context.Context, tx *ent.Client, old *E) (Response, error) {
		w := r.newWrite(ctx, tx, in, old, transactionPhase)
		var save Save[R]
		w.Mutation, save = r.Update(tx, old)
		w.save = func(ctx context.Context, conditions ...entx.Condition) (R, error) {
			// If nothing differs, nothing is written and the entity tag stays the same.
			if len(w.Mutation.Fields()) == 0 && len(w.Mutation.ClearedFields()) == 0 {
				return r.Get(ctx, tx, id)
			}
			return save(ctx, conditions...)
		}
		r.Set(w.Mutation, in, old)
		err := r.run(ctx, w)
		response = w.Response
		return response, err
	})
	return response, err
}

// Remove deletes a row, or archives it if the schema says so.
func (r *Resource[ID, E, M, I, R]) Remove(ctx context.Context, id ID) error {
	return r.withLockedRow(ctx, id, func(ctx context.Context, tx *ent.Client, old *E) (Response, error) {
		return nil, r.Delete(ctx, tx, old)
	})
}

// Unlink clears the references to a row that is about to be deleted. The rows with these ids
// point at it; a caller limited to one site clears references from all sites.
func Unlink[ID any](ctx context.Context, ids func(context.Context) ([]ID, error), clear func(context.Context, ID) error) error {
	ctx = principal.AtEverySite(ctx)
	pointing, err := ids(ctx)
	if err != nil {
		return err
	}
	for _, id := range pointing {
		if err := clear(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// checkSite refuses a caller that is limited to a site, before the row is read, if the
// resource is practice-wide.
func (r *Resource[ID, E, M, I, R]) checkSite(ctx context.Context) error {
	if r.PracticeWide && principal.Must(ctx).SiteID != nil {
		return apierror.SiteLimited()
	}
	return nil
}

// withLockedRow runs work in a transaction that has locked the row, so that no one else
// changes the row between the checks of work and its write.
func (r *Resource[ID, E, M, I, R]) withLockedRow(ctx context.Context, id ID, work func(context.Context, *ent.Client, *E) (Response, error)) error {
	if err := r.checkSite(ctx); err != nil {
		return err
	}
	return Tx(ctx, r.DB, func(tx *ent.Client) (Response, error) {
		old, err := r.GetForUpdate(ctx, tx, id)
		if ent.IsNotFound(err) {
			return nil, apierror.NotFound()
		}
		if err != nil {
			return nil, err
		}
		if err := r.checkIfMatch(ctx, tx, id); err != nil {
			return nil, err
		}
		return work(clock.Refresh(ctx), tx, old)
	})
}

// checkIfMatch returns apierror.VersionMismatch if the If-Match header does not match the
// current version. Without the header it reads nothing.
func (r *Resource[ID, E, M, I, R]) checkIfMatch(ctx context.Context, tx *ent.Client, id ID) error {
	header := etag.IfMatch(ctx)
	if header == "" {
		return nil
	}
	current, err := r.Get(ctx, tx, id)
	if err != nil {
		return err
	}
	if err := r.addMembers(ctx, tx, current); err != nil {
		return err
	}
	e := jx.GetEncoder()
	defer jx.PutEncoder(e)
	current.Encode(e)
	if !etag.Match(header, etag.Of(e.Bytes())) {
		return apierror.VersionMismatch()
	}
	return nil
}

func (r *Resource[ID, E, M, I, R]) addMembers(ctx context.Context, tx *ent.Client, response R) error {
	if r.AddMembers == nil {
		return nil
	}
	return r.AddMembers(ctx, tx, response)
}

// newWrite returns a write with a copy of the problems that reading the request has found.
func (r *Resource[ID, E, M, I, R]) newWrite(ctx context.Context, tx *ent.Client, in *I, old *E, p phase) *Write[E, M, I, R] {
	w := &Write[E, M, I, R]{Tx: tx, In: in, Old: old, Problems: apierror.Params{}, phase: p}
	w.Problems.Merge(codec.Problems(ctx))
	r.References(w)
	return w
}

// run runs the rule, then checks and saves unless the rule has done so.
func (r *Resource[ID, E, M, I, R]) run(ctx context.Context, w *Write[E, M, I, R]) (err error) {
	if r.Rule != nil {
		if err := r.Rule(ctx, w); err != nil {
			return err
		}
	}
	switch {
	case w.phase == planPhase:
		return nil
	case w.phase == statementPhase && len(w.Problems) > 0: // from rows that have changed since the plan phase
		return errNeedsTransaction
	case w.phase == statementPhase:
		w.Response, err = w.save(ctx, w.required()...)
		return err
	case !w.saved:
		if err := w.Save(ctx); err != nil {
			return err
		}
	}
	return r.addMembers(ctx, w.Tx, w.Response)
}
