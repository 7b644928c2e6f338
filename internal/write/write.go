package write

import (
	"context"
	"errors"

	"chairside/ent"
	"chairside/internal/apierror"
	"chairside/internal/clock"
	"chairside/internal/entx"
	"chairside/internal/store"
)

// Write is one create or update: the row E, its mutation M, the input I that was sent,
// and the response R.
type Write[E any, M ent.Mutation, I any, R any] struct {
	Tx       *ent.Client
	In       *I
	Old      *E // the row before an update, locked; nil for a create
	Change   M  // what will be saved; In is set already
	Problems apierror.Params
	Response R // after Save

	phase          phase
	locks          []store.Lock // those asked for while planning
	conditions     []condition
	locked         bool // the clock has to be read again
	checked, saved bool
	save           func(context.Context, ...entx.Condition) (R, error)
}

// phase says what a rule is run for.
type phase int

const (
	complete  phase = iota // to check and save
	planning               // to learn the locks, outside a transaction
	statement              // to check and save in one statement
)

// errStopped ends a rule in a phase that does not reach Check.
var errStopped = errors.New("write: the rule goes no further now")

// condition has to hold before the row is saved.
type condition struct {
	entx.Condition
	field, message string                      // the problem where it does not hold
	refuse         func(context.Context) error // or the error
}

// Require adds a problem of a field unless a condition holds. Conditions are asked
// together, in one statement.
func (w *Write[E, M, I, R]) Require(field, message string, c entx.Condition) {
	w.conditions = append(w.conditions, condition{Condition: c, field: field, message: message})
}

// RequireOr refuses a write without problems with an error of refuse unless a condition holds.
func (w *Write[E, M, I, R]) RequireOr(c entx.Condition, refuse func(context.Context) error) {
	w.conditions = append(w.conditions, condition{Condition: c, refuse: refuse})
}

// Lock waits until the transaction has locks. What the conditions look at stays as it is
// while the locks are held. A write with problems is refused in any case and takes none.
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

// Check refuses the write where it has problems or where a condition does not hold. Save
// calls it; a rule does so where it writes something else before.
func (w *Write[E, M, I, R]) Check(ctx context.Context) error {
	if w.phase != complete {
		return errStopped
	}
	w.checked = true
	return w.check(ctx)
}

func (w *Write[E, M, I, R]) check(ctx context.Context) error {
	failed, err := w.Tx.FailedConditions(ctx, w.asked()...)
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

func (w *Write[E, M, I, R]) asked() []entx.Condition {
	asked := make([]entx.Condition, len(w.conditions))
	for i, c := range w.conditions {
		asked[i] = c.Condition
	}
	return asked
}

// Save checks, saves and reads the row back. A rule calls it where it does something
// afterwards.
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
