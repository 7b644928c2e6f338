package api

import (
	"context"

	"chairside/internal/principal"
	"chairside/ogent"
)

// noteRule sets the user of a new note. Package store keeps the text before a change.
func noteRule(ctx context.Context, w *ogent.NoteWrite) error {
	if w.Old == nil {
		w.Mutation.SetUserID(principal.Must(ctx).UserID)
	}
	return nil
}
