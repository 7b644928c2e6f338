package subject

import (
	"context"
	"fmt"

	"chairside/ent"
	"chairside/ent/patient"
	"chairside/internal/clock"
	"chairside/internal/store"
)

// Hold starts a legal hold: the patient cannot be erased until Release. It returns ent's error for
// a row that does not exist if the practice has no such patient.
func Hold(ctx context.Context, db *store.DB, id int64, reason string) error {
	return change(ctx, db, id, func(p *ent.Patient, u *ent.PatientUpdateOne) error {
		switch {
		case p.ErasedAt != nil:
			return Refusal(fmt.Sprintf("patient %d was erased", id))
		case p.LegalHoldAt != nil:
			return Refusal(fmt.Sprintf("patient %d is held already: release the hold first", id))
		}
		u.SetLegalHoldAt(clock.Now(ctx)).SetLegalHoldReason(reason)
		return nil
	})
}

// Release ends the legal hold of a patient.
func Release(ctx context.Context, db *store.DB, id int64) error {
	return change(ctx, db, id, func(p *ent.Patient, u *ent.PatientUpdateOne) error {
		if p.LegalHoldAt == nil {
			return Refusal(fmt.Sprintf("patient %d is not held", id))
		}
		u.ClearLegalHoldAt().ClearLegalHoldReason()
		return nil
	})
}

// change changes a patient's row, which it locks first.
func change(ctx context.Context, db *store.DB, id int64, set func(*ent.Patient, *ent.PatientUpdateOne) error) error {
	return db.Tx(ctx, func(tx *ent.Client) error {
		p, err := tx.Patient.Query().Where(patient.ID(id), store.ForUpdate).Only(ctx)
		if err != nil {
			return err
		}
		u := tx.Patient.UpdateOne(p)
		if err := set(p, u); err != nil {
			return err
		}
		return u.Exec(ctx)
	})
}
