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
	Mutation M  // the mutation to save, with In applied
	Problems apierror.Params
	Response R // after Save

	phase          phase
	locks          []store.Lock // requested while planning
	conditions     []condition
	waited         bool // for locks, so Save reads the clock again
	checked, saved bool
	save           func(context.Context, ...entx.Condition) (R, error)
}

// phase is the purpose for which a rule runs.
type phase int

const (
	transactionPhase phase = iota // to check and save in an ordinary transaction
	planPhase                     // to learn the locks, outside a transaction
	statementPhase                // to check and save in one statement
)

// errNeedsTransaction ends a rule that calls Check or Save outside the transaction phase. It
// wraps ErrConditionFailed, so that TxSingleStatement falls back to that phase.
var errNeedsTransaction = fmt.Errorf("write: the rule must run in an ordinary transaction: %w", entx.ErrConditionFailed)

// condition must hold before the row is saved.
type condition struct {
	entx.Condition
	field, message string                      // the problem if it does not hold
	refuse         func(context.Context) error // if set, returns the error instead
}

// Require adds a problem to a field unless the condition holds. All conditions are checked
// in one statement.
func (w *Write[E, M, I, R]) Require(field, message string, c entx.Condition) {
	w.conditions = append(w.conditions, condition{Condition: c, field: field, message: message})
}

// RequireOr refuses the write with the error of refuse unless the condition holds. Problems
// come first: refuse is not called if there are any.
func (w *Write[E, M, I, R]) RequireOr(c entx.Condition, refuse func(context.Context) error) {
	w.conditions = append(w.conditions, condition{Condition: c, refuse: refuse})
}

// Lock waits until the transaction holds the locks. They must protect the rows that the
// conditions read. A write with problems takes no lock, because it will be refused.
func (w *Write[E, M, I, R]) Lock(ctx context.Context, locks ...store.Lock) error {
	switch {
	case w.phase == planPhase:
		w.locks = append(w.locks, locks...)
		return nil
	case w.phase == statementPhase || len(w.Problems) > 0:
		return nil
	}
	w.waited = true
	return store.TakeLocks(ctx, w.Tx, locks...)
}

// Check refuses the write if it has problems or a condition does not hold. Save calls it;
// a rule calls it before it writes other rows.
func (w *Write[E, M, I, R]) Check(ctx context.Context) error {
	if w.phase != transactionPhase {
		return errNeedsTransaction
	}
	w.checked = true
	return w.check(ctx)
}

// check is Check in any phase.
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

// required returns all conditions, in the order in which they were required.
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
	if w.phase != transactionPhase {
		return errNeedsTransaction
	}
	if w.waited {
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
