package write

import (
	"context"
	"fmt"

	"chairside/ent"
	"chairside/internal/apierror"
	"chairside/internal/clock"
	"chairside/internal/entx"
	"chairside/internal/store"
)

// Write is one create or update of a row E, with its mutation M, the input I that the
// client sent, and the response R.
type Write[E any, M ent.Mutation, I any, R any] struct {
	Tx       *ent.Client
	In       *I
	Old      *E // the row before an update, locked; nil for a create
	Change   M  // the mutation to save, with In applied
	Problems apierror.Params
	Response R // after Save

	phase          phase
	locks          []store.Lock // requested while planning
	conditions     []condition
	locked         bool // waited for locks, so the clock is read again
	checked, saved bool
	save           func(context.Context, ...entx.Condition) (R, error)
}

// phase is the purpose for which a rule runs.
type phase int

const (
	complete  phase = iota // to check and save
	planning               // to learn the locks, outside a transaction
	statement              // to check and save in one statement
)

// errStopped ends a rule that calls Check or Save in another phase than complete. It is an
// ErrConditionFailed, so TxSingleStatement then runs the complete phase.
var errStopped = fmt.Errorf("write: the rule must run in an ordinary transaction: %w", entx.ErrConditionFailed)

// condition must hold before the row is saved.
type condition struct {
	entx.Condition
	field, message string                      // the problem if it does not hold
	refuse         func(context.Context) error // or the function that returns the error
}

// Require adds a problem to a field unless the condition holds. All conditions are checked
// in one statement.
func (w *Write[E, M, I, R]) Require(field, message string, c entx.Condition) {
	w.conditions = append(w.conditions, condition{Condition: c, field: field, message: message})
}

// RequireOr refuses a write that has no problems with the error of refuse, unless the
// condition holds.
func (w *Write[E, M, I, R]) RequireOr(c entx.Condition, refuse func(context.Context) error) {
	w.conditions = append(w.conditions, condition{Condition: c, refuse: refuse})
}

// Lock waits until the transaction holds the locks. They must cover the rows that the
// conditions look at. A write with problems is refused in any case and takes no lock.
func (w *Write[E, M, I, R]) Lock(ctx context.Context, locks ...store.Lock) error {
	switch {
	case w.phase == planning:
		w.locks = append(w.locks, locks...)
		return nil
	case w.phase == statement || len(w.Problems) > 0:
		return nil
	}
	w.locked = true
	return store.TakeLocks(ctx, w.Tx, locks...)
}

// Check refuses the write if it has problems or a condition does not hold. Save calls it;
// a rule calls it before it writes other rows.
func (w *Write[E, M, I, R]) Check(ctx context.Context) error {
	if w.phase != complete {
		return errStopped
	}
	w.checked = true
	return w.check(ctx)
}

func (w *Write[E, M, I, R]) check(ctx context.Context) error {
	failed, err := w.Tx.FailedConditions(ctx, w.required()...)
	if err != nil {
		return err
	}
	var refuse func(context.Context) error
	for i, c := range w.conditions {
		switch {
		case !failed[i]:
		case c.refuse == nil:
			w.Problems.Add(c.field, c.message)
		case refuse == nil:
			refuse = c.refuse
		}
	}
	if len(w.Problems) > 0 {
		return apierror.ValidationFailed(w.Problems)
	}
	if refuse != nil {
		return refuse(ctx)
	}
	return nil
}

func (w *Write[E, M, I, R]) required() []entx.Condition {
	required := make([]entx.Condition, len(w.conditions))
	for i, c := range w.conditions {
		required[i] = c.Condition
	}
	return required
}

// Save checks the write, saves the row and reads it back. A rule calls it if it needs the
// saved row.
func (w *Write[E, M, I, R]) Save(ctx context.Context) (err error) {
	if w.phase != complete {
		return errStopped
	}
	if w.locked {
		ctx = clock.Refresh(ctx)
	}
	if !w.checked {
		if err := w.Check(ctx); err != nil {
			return err
		}
	}
	w.saved = true
	w.Response, err = w.save(ctx)
	return err
}
