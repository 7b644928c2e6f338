package api

import (
	"context"

	"chairside/ent"
	"chairside/internal/clock"
	"chairside/ogent"
	"chairside/schema"
)

// recallRule sets contacted_at when the status becomes contacted, unless it is sent.
func recallRule(ctx context.Context, w *ogent.RecallWrite) error {
	old := w.Old
	if old == nil {
		old = &ent.Recall{}
	}
	_, sent := w.In.ContactedAt.Get()
	switch {
	case sent || w.In.Status.Or(string(old.Status)) != string(schema.RecallContacted):
	case old.Status != schema.RecallContacted:
		w.Mutation.ResetContactedAt() // of a null that was sent
		w.Mutation.SetContactedAt(clock.Now(ctx))
	case w.In.ContactedAt.IsNull():
		w.Problems.Add("contacted_at", "can't be blank while the status is contacted")
	}
	return nil
}
