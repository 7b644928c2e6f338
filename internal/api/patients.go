package api

import (
	"context"

	"chairside/ent"
	"chairside/ent/account"
	"chairside/ent/site"
	"chairside/internal/apierror"
	"chairside/internal/audit"
	"chairside/internal/civil"
	"chairside/internal/clock"
	"chairside/internal/principal"
	"chairside/ogent"
)

// ListPatients adds the search, query=, to the generated list.
func (h *Handler) ListPatients(ctx context.Context, p ogent.ListPatientsParams) (*ogent.PatientList, error) {
	search, err := h.search(ctx, p.Query.Or(""))
	if err != nil {
		return nil, err
	}
	p.Query.Set = len(search) > 0 // a blank search is none, so that a counter has the total
	rows, meta, err := h.ReadPatients(ctx, p, search...)
	if err != nil {
		return nil, err
	}
	return &ogent.PatientList{Patients: rows, Meta: meta}, nil
}

// patientRule refuses a date of birth in the future and changes of an erased patient, and saves custom fields with the patient.
func patientRule(ctx context.Context, w *ogent.PatientWrite) error {
	if w.Old != nil && w.Old.ErasedAt != nil {
		w.Problems.Add("id", "was erased: the record cannot be changed")
	}
	today := civil.Of(clock.Now(ctx).In(principal.Must(ctx).Zone))
	if born, ok := w.In.DateOfBirth.Get(); ok && today.Before(civil.Of(born)) {
		w.Problems.Add("date_of_birth", "must not be in the future")
	}
	answers, err := readAnswers(ctx, w.Tx, w.In.CustomFields, w.Problems)
	if err != nil {
		return err
	}
	if err := w.Check(ctx); err != nil {
		return err
	}
	if w.Old == nil {
		return createPatient(ctx, w, answers)
	}
	changed, err := answers.save(ctx, w.Tx, w.Old.ID)
	if changed { // custom fields are part of the patient, so updated_after must find it
		w.Mutation.SetUpdatedAt(clock.Now(ctx))
	}
	return err
}

// createPatient saves a new patient at a site, with an account and custom fields.
func createPatient(ctx context.Context, w *ogent.PatientWrite, answers answersToSave) error {
	if err := defaultSite(ctx, w); err != nil {
		return err
	}
	if err := w.Save(ctx); err != nil {
		return err
	}
	if err := openAccount(ctx, w.Tx, &w.Response.Patient); err != nil {
		return err
	}
	_, err := answers.save(ctx, w.Tx, w.Response.Patient.ID)
	return err
}

// openAccount creates the account of a new patient and adds its id to the response.
func openAccount(ctx context.Context, tx *ent.Client, patient *ogent.Patient) error {
	opened, err := tx.Account.Create().SetPatientID(patient.ID).Save(ctx)
	if err != nil {
		return err
	}
	patient.AccountID.SetTo(opened.ID)
	audit.From(ctx).Note(account.Table, opened.ID)
	return nil
}

// defaultSite sets the site of a new patient without one: the user's, else the practice's
// first. A caller that is limited to a site sees only that one.
func defaultSite(ctx context.Context, w *ogent.PatientWrite) error {
	if w.In.SiteID.Set {
		return nil
	}
	if c := principal.Must(ctx); c.UserSiteID != nil && c.SiteID == nil {
		w.Mutation.SetSiteID(*c.UserSiteID)
		return nil
	}
	first, err := w.Tx.Site.Query().Order(site.ByCreatedAt(), site.ByID()).FirstID(ctx)
	if ent.IsNotFound(err) {
		return apierror.ValidationFailed(apierror.Params{"site_id": {"is missing and the practice has no site"}})
	}
	if err != nil {
		return err
	}
	w.Mutation.SetSiteID(first)
	return nil
}
