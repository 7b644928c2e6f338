package store

import (
	"context"

	"chairside/ent"
	"chairside/ent/note"
	"chairside/internal/clock"
	"chairside/internal/principal"
	"chairside/internal/seal"
)

// keepNoteText is the hook that stores a note's text as a NoteVersion before the note is
// rewritten, moved to another patient or deleted, in the same transaction.
func (db *DB) keepNoteText(next ent.Mutator) ent.Mutator {
	return ent.MutateFunc(func(ctx context.Context, mutation ent.Mutation) (ent.Value, error) {
		if m, ok := mutation.(*ent.NoteMutation); ok && m.Op().Is(ent.OpUpdateOne|ent.OpDeleteOne) {
			if err := db.keepTextBefore(ctx, m); err != nil {
				return nil, err
			}
		}
		return next.Mutate(ctx, mutation)
	})
}

// keepTextBefore stores the text before m, if m changes the text or the patient.
func (db *DB) keepTextBefore(ctx context.Context, m *ent.NoteMutation) error {
	body, rewritten := m.Body()
	patient, moved := m.PatientID()
	if !rewritten && !moved && m.Op().Is(ent.OpUpdateOne) {
		return nil
	}
	id, _ := m.ID()
	client := m.Client()
	old, err := client.Note.Query().Where(note.ID(id), ForUpdate).Only(ctx)
	if err != nil {
		return err
	}
	if err := old.Unseal(db.Keys); err != nil {
		return err
	}
	text, _ := old.Body.Plain()
	if m.Op().Is(ent.OpUpdateOne) && (!rewritten || body.Holds(text)) && (!moved || patient == old.PatientID) {
		return nil
	}
	version := client.NoteVersion.Create().SetPracticeID(old.PracticeID).SetNoteID(old.ID).
		SetPatientID(old.PatientID).SetBody(seal.Plain(text)).SetAt(clock.Now(ctx))
	if c, err := principal.From(ctx); err == nil && c.UserID != 0 {
		version.SetUserID(c.UserID)
	}
	return version.Exec(ctx)
}
