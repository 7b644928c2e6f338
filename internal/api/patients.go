package api

import (
	"context"

	"chairside/ent"
	"chairside/ent/account"
	"chairside/ent/site"
	"chairside/internal/access"
	"chairside/internal/caller"
	"chairside/internal/civil"
	"chairside/internal/clock"
	"chairside/internal/fault"
	"chairside/internal/store"
	"chairside/internal/wire"
	"chairside/ogent"
)

// GetPatient answers one patient with the answers to the practice's questions.
func (h *Handler) GetPatient(ctx context.Context, p ogent.GetPatientParams) (*ogent.PatientResponse, error) {
	return h.patient(ctx, h.Client, p.ID)
}

// ListPatients searches with query= and filters.
func (h *Handler) ListPatients(ctx context.Context, p ogent.ListPatientsParams) (*ogent.PatientList, error) {
	search := found(p.Query.Or(""), caller.Must(ctx))
	p.Query.Set = len(search) > 0 // a blank one is none: the list is not picked, and its total is the kept one
	shown, meta, err := h.ReadPatients(ctx, p, search...)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(shown))
	for i := range shown {
		ids[i] = shown[i].ID
	}
	entries, err := patientAnswers(ctx, h.Client, ids)
	if err != nil {
		return nil, err
	}
	for i := range shown {
		shown[i].CustomFields = entries[i]
	}
	return &ogent.PatientList{Patients: shown, Meta: meta}, nil
}

// CreatePatient also opens the patient's account, with a balance of 0.00.
func (h *Handler) CreatePatient(ctx context.Context, req *ogent.PatientInputRequest) (*ogent.PatientResponse, error) {
	in, problems := &req.Patient, wire.Problems(ctx)
	var response *ogent.PatientResponse
	err := h.db.Tx(ctx, func(tx *ent.Client) error {
		ctx := clock.Again(ctx)
		answers, err := checkPatient(ctx, tx, in, nil, problems)
		if err != nil {
			return err
		}
		create := tx.Patient.Create()
		ogent.SetPatient(create.Mutation(), in, nil)
		if !in.SiteID.Set {
			if err := defaultSite(ctx, tx, create); err != nil {
				return err
			}
		}
		if response, err = h.In(tx).AddPatient(ctx, create); err != nil {
			return err
		}
		added := &response.Patient
		opened, err := tx.Account.Create().SetPatientID(added.ID).Save(ctx)
		if err != nil {
			return err
		}
		added.AccountID.SetTo(opened.ID) // there was none when the patient was read
		access.From(ctx).Note(account.Table, opened.ID)
		if _, err := answers.save(ctx, tx, added.ID); err != nil {
			return err
		}
		added.CustomFields, err = oneOf(patientAnswers(ctx, tx, []int64{added.ID}))
		return err
	})
	return response, err
}

// UpdatePatient changes what is sent; active=true brings an archived patient back.
func (h *Handler) UpdatePatient(ctx context.Context, req *ogent.PatientInputRequest, p ogent.UpdatePatientParams) (*ogent.PatientResponse, error) {
	in, problems := &req.Patient, wire.Problems(ctx)
	var response *ogent.PatientResponse
	err := h.db.Tx(ctx, func(tx *ent.Client) error {
		old, err := h.matchingPatient(ctx, tx, p.ID)
		if err != nil {
			return err
		}
		ctx := clock.Again(ctx)
		answers, err := checkPatient(ctx, tx, in, old, problems)
		if err != nil {
			return err
		}
		update := tx.Patient.UpdateOne(old)
		ogent.SetPatient(update.Mutation(), in, old)
		answered, err := answers.save(ctx, tx, old.ID)
		if err != nil {
			return err
		}
		if answered { // an answer is part of the patient: updated_after must find it
			update.SetUpdatedAt(clock.Now(ctx))
		}
		if response, err = h.In(tx).ChangePatient(ctx, update); err != nil {
			return err
		}
		response.Patient.CustomFields, err = oneOf(patientAnswers(ctx, tx, []int64{old.ID}))
		return err
	})
	return response, err
}

// DeletePatient archives: medical records are kept.
func (h *Handler) DeletePatient(ctx context.Context, p ogent.DeletePatientParams) error {
	return h.db.Tx(ctx, func(tx *ent.Client) error {
		old, err := h.matchingPatient(ctx, tx, p.ID)
		if err != nil {
			return err
		}
		if !old.Active {
			return nil
		}
		return tx.Patient.UpdateOne(old).SetActive(false).Exec(clock.Again(ctx))
	})
}

// matchingPatient locks and reads a patient whose version the request names.
func (h *Handler) matchingPatient(ctx context.Context, tx *ent.Client, id int64) (*ent.Patient, error) {
	row, err := ogent.FindPatient(ctx, tx, id, store.ForUpdate)
	if err != nil {
		return nil, err
	}
	show := func(ctx context.Context, id int64) (*ogent.PatientResponse, error) { return h.patient(ctx, tx, id) }
	return row, ifMatch(ctx, show, id)
}

// patient shows a patient with the answers to the practice's questions.
func (h *Handler) patient(ctx context.Context, c *ent.Client, id int64) (*ogent.PatientResponse, error) {
	response, err := h.In(c).ShowPatient(ctx, id)
	if err != nil {
		return nil, err
	}
	response.Patient.CustomFields, err = oneOf(patientAnswers(ctx, c, []int64{id}))
	return response, err
}

// checkPatient adds the rules that need the clock or the database to the
// problems found so far, and refuses with all of them. It gives the answers
// that are to be saved.
func checkPatient(ctx context.Context, tx *ent.Client, in *ogent.PatientInput, old *ent.Patient, problems fault.Params) (answersToSave, error) {
	if _, err := ogent.PatientReferences(tx, in, old).Check(ctx, tx, problems); err != nil {
		return nil, err
	}
	today := civil.Of(clock.Now(ctx).In(caller.Must(ctx).Zone))
	if born, ok := in.DateOfBirth.Get(); ok && today.Before(civil.Of(born)) {
		problems.Add("date_of_birth", "must not be in the future")
	}
	answers, err := readAnswers(ctx, tx, in.CustomFields, problems)
	if err != nil {
		return nil, err
	}
	if len(problems) > 0 {
		return nil, fault.ValidationFailed(problems)
	}
	return answers, nil
}

// defaultSite puts a new patient at the user's site, else at the practice's
// first; a caller limited to a site sees no other.
func defaultSite(ctx context.Context, tx *ent.Client, create *ent.PatientCreate) error {
	if c := caller.Must(ctx); c.UserSiteID != nil && c.SiteID == nil {
		create.SetSiteID(*c.UserSiteID)
		return nil
	}
	first, err := tx.Site.Query().Order(site.ByCreatedAt(), site.ByID()).FirstID(ctx)
	if ent.IsNotFound(err) {
		return fault.ValidationFailed(fault.Params{"site_id": {"is missing and the practice has no site"}})
	}
	if err != nil {
		return err
	}
	create.SetSiteID(first)
	return nil
}
