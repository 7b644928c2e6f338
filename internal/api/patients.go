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

// ListPatients searches with query= and filters.
func (h *Handler) ListPatients(ctx context.Context, p ogent.ListPatientsParams) (*ogent.PatientList, error) {
	search := found(p.Query.Or(""), principal.Must(ctx))
	p.Query.Set = len(search) > 0 // a blank one is none: the list is not picked, and its total is the kept one
	shown, meta, err := h.ReadPatients(ctx, p, search...)
	if err != nil {
		return nil, err
	}
	return &ogent.PatientList{Patients: shown, Meta: meta}, nil
}

// ruleOfPatient holds that no birth is in the future. Answers are saved with the patient.
func ruleOfPatient(ctx context.Context, w *ogent.PatientWrite) error {
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
		return addPatient(ctx, w, answers)
	}
	changed, err := answers.save(ctx, w.Tx, w.Old.ID)
	if changed { // an answer is part of the patient: updated_after must find it
		w.Change.SetUpdatedAt(clock.Now(ctx))
	}
	return err
}

// addPatient puts a new patient at a site and opens the account, with a balance of 0.00.
func addPatient(ctx context.Context, w *ogent.PatientWrite, answers answersToSave) error {
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

// openAccount opens the account of a patient who is new, and had none when read back.
func openAccount(ctx context.Context, tx *ent.Client, added *ogent.Patient) error {
	opened, err := tx.Account.Create().SetPatientID(added.ID).Save(ctx)
	if err != nil {
		return err
	}
	added.AccountID.SetTo(opened.ID)
	audit.From(ctx).Note(account.Table, opened.ID)
	return nil
}

// defaultSite puts a new patient without a site at the user's site, else at the
// practice's first; a caller limited to a site sees no other.
func defaultSite(ctx context.Context, w *ogent.PatientWrite) error {
	if w.In.SiteID.Set {
		return nil
	}
	if c := principal.Must(ctx); c.UserSiteID != nil && c.SiteID == nil {
		w.Change.SetSiteID(*c.UserSiteID)
		return nil
	}
	first, err := w.Tx.Site.Query().Order(site.ByCreatedAt(), site.ByID()).FirstID(ctx)
	if ent.IsNotFound(err) {
		return apierror.ValidationFailed(apierror.Params{"site_id": {"is missing and the practice has no site"}})
	}
	if err != nil {
		return err
	}
	w.Change.SetSiteID(first)
	return nil
}
