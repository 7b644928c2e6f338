package write

import (
	"context"
	"errors"

	"entgo.io/ent/dialect/sql"
	"github.com/go-faster/jx"

	"chairside/ent"
	"chairside/internal/apierror"
	"chairside/internal/clock"
	"chairside/internal/codec"
	"chairside/internal/entx"
	"chairside/internal/write/etag"
	"chairside/internal/list"
	"chairside/internal/principal"
	"chairside/internal/store"
)

// Response is the generated response form of one row.
type Response interface{ Encode(*jx.Encoder) }

// Save saves a row where conditions hold and gives its response form.
type Save[R any] func(context.Context, ...entx.Condition) (R, error)

// Create is a generated create.
type Create interface {
	Rows(ctx context.Context, columns string, conditions ...entx.Condition) (*sql.Rows, error)
}

// Insert saves a new row where conditions hold and reads it back, or gives entx.ErrUnmet.
// Without conditions it gives apierror.NotFound where the caller would not see the row. No
// lists are read: no row points at a new one.
func Insert[R any](ctx context.Context, view codec.View, c Create, form list.Form[R], conditions ...entx.Condition) (*R, error) {
	rows, err := list.All(ctx, view, under{c, conditions}, form, 1)
	switch {
	case err != nil:
		return nil, err
	case len(rows) > 0:
		return &rows[0], nil
	case len(conditions) > 0:
		return nil, entx.ErrUnmet
	}
	return nil, apierror.NotFound()
}

// under is a create under conditions.
type under struct {
	Create
	conditions []entx.Condition
}

func (u under) Rows(ctx context.Context, columns string) (*sql.Rows, error) {
	return u.Create.Rows(ctx, columns, u.conditions...)
}

// Resource describes a writable resource; the schema decides which members are set.
type Resource[ID, E any, M ent.Mutation, I any, R Response] struct {
	DB *store.DB
	// Rule is the rule of the resource, nil where it has none.
	Rule func(context.Context, *Write[E, M, I, R]) error
	// PracticeWide rows are not for callers that are limited to a site to write.
	PracticeWide bool
	// Conflicts is whether a create is to be one statement with its locks before it.
	Conflicts bool

	GetForUpdate func(context.Context, *ent.Client, ID) (*E, error)
	Get          func(context.Context, *ent.Client, ID) (R, error)
	Complete     func(context.Context, *ent.Client, R) error // adds what no column has; may be nil
	Create       func(*ent.Client) (M, Save[R])
	Update       func(*ent.Client, *E) (M, Save[R])
	Delete       func(context.Context, *ent.Client, *E) error // or archives
	Set          func(M, *I, *E)                              // what was sent and differs
	References   func(*Write[E, M, I, R])                     // requires the targets of links
}

// Post creates a row.
func (r *Resource[ID, E, M, I, R]) Post(ctx context.Context, in *I) (response R, err error) {
	if err := r.admit(ctx); err != nil {
		return response, err
	}
	create := func(tx *ent.Client, p phase) (*Write[E, M, I, R], error) {
		ctx := clock.Refresh(ctx)
		w := r.begin(ctx, tx, in, nil, p)
		w.Change, w.save = r.Create(tx)
		r.Set(w.Change, in, nil)
		err := r.run(ctx, w)
		response = w.Response
		return w, err
	}
	whole := func(tx *ent.Client) error {
		_, err := create(tx, complete)
		return err
	}
	if !r.Conflicts || r.Rule == nil || r.Complete != nil {
		return response, r.DB.Tx(ctx, whole)
	}
	w, err := create(r.DB.Ent, planning)
	switch {
	case errors.Is(err, errStopped):
		return response, r.DB.Tx(ctx, whole)
	case err != nil:
		return response, err
	case len(w.Problems) > 0: // what else is wrong needs no lock
		return response, w.check(ctx)
	}
	try := func(tx *ent.Client) error {
		_, err := create(tx, statement)
		if errors.Is(err, errStopped) {
			return entx.ErrUnmet
		}
		return err
	}
	err = r.DB.TxSingleStatement(ctx, w.locks, try, whole)
	return response, err
}

// Patch changes what was sent of a row.
func (r *Resource[ID, E, M, I, R]) Patch(ctx context.Context, id ID, in *I) (response R, err error) {
	err = r.change(ctx, id, func(ctx context.Context, tx *ent.Client, old *E) error {
		w := r.begin(ctx, tx, in, old, complete)
		var save Save[R]
		w.Change, save = r.Update(tx, old)
		w.save = func(ctx context.Context, conditions ...entx.Condition) (R, error) {
			// A change in which nothing differs leaves no trace, and keeps the entity tag.
			if len(w.Change.Fields()) == 0 && len(w.Change.ClearedFields()) == 0 {
				return r.Get(ctx, tx, id)
			}
			return save(ctx, conditions...)
		}
		r.Set(w.Change, in, old)
		err := r.run(ctx, w)
		response = w.Response
		return err
	})
	return response, err
}

// Remove deletes a row, or archives it where the schema says so. The record of changes
// keeps that it was there.
func (r *Resource[ID, E, M, I, R]) Remove(ctx context.Context, id ID) error {
	return r.change(ctx, id, r.Delete)
}

// admit refuses a caller that is limited to a site, before the row is looked for.
func (r *Resource[ID, E, M, I, R]) admit(ctx context.Context) error {
	if r.PracticeWide && principal.Must(ctx).SiteID != nil {
		return apierror.SiteLimited()
	}
	return nil
}

// change locks a row before it reads it, so that what is checked is what is changed.
func (r *Resource[ID, E, M, I, R]) change(ctx context.Context, id ID, work func(context.Context, *ent.Client, *E) error) error {
	if err := r.admit(ctx); err != nil {
		return err
	}
	return r.DB.Tx(ctx, func(tx *ent.Client) error {
		old, err := r.GetForUpdate(ctx, tx, id)
		if ent.IsNotFound(err) {
			return apierror.NotFound()
		}
		if err != nil {
			return err
		}
		if err := r.match(ctx, tx, id); err != nil {
			return err
		}
		return work(clock.Refresh(ctx), tx, old)
	})
}

// match refuses a write whose If-Match header names another version than the current
// response form, with apierror.VersionMismatch. Without the header the form is not read.
func (r *Resource[ID, E, M, I, R]) match(ctx context.Context, tx *ent.Client, id ID) error {
	header := etag.IfMatch(ctx)
	if header == "" {
		return nil
	}
	current, err := r.Get(ctx, tx, id)
	if err != nil {
		return err
	}
	if err := r.complete(ctx, tx, current); err != nil {
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

func (r *Resource[ID, E, M, I, R]) complete(ctx context.Context, tx *ent.Client, response R) error {
	if r.Complete == nil {
		return nil
	}
	return r.Complete(ctx, tx, response)
}

// begin is a write with the problems that reading the request has found, which the
// phases do not share.
func (r *Resource[ID, E, M, I, R]) begin(ctx context.Context, tx *ent.Client, in *I, old *E, p phase) *Write[E, M, I, R] {
	w := &Write[E, M, I, R]{Tx: tx, In: in, Old: old, Problems: apierror.Params{}, phase: p}
	w.Problems.Merge(codec.Problems(ctx))
	r.References(w)
	return w
}

// run runs the rule and does what it leaves to do.
func (r *Resource[ID, E, M, I, R]) run(ctx context.Context, w *Write[E, M, I, R]) (err error) {
	if r.Rule != nil {
		if err := r.Rule(ctx, w); err != nil {
			return err
		}
	}
	switch {
	case w.phase == planning:
		return nil
	case w.phase == statement && len(w.Problems) > 0: // the transaction sees more than planning did
		return errStopped
	case w.phase == statement:
		w.Response, err = w.save(ctx, w.asked()...)
		return err
	case !w.saved:
		if err := w.Save(ctx); err != nil {
			return err
		}
	}
	return r.complete(ctx, w.Tx, w.Response)
}
