package api_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/internal/civil"
	"chairside/internal/test/harness"
	"chairside/schema"
)

// TestClaimStatuses: the nine statuses of spec.md; complete means completed.
func TestClaimStatuses(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w := newWorld(t, e)
		claims := w.all(t, "nhs_claims", "nhs_claims", nil)
		for _, status := range []string{"new", "queued", "submitted", "completed", "error", "invalid", "received", "queried", "withdrawn", "complete"} {
			var want []string
			for _, c := range claims {
				if c["claim_status"] == status || status == "complete" && c["claim_status"] == "completed" {
					want = append(want, text(c["id"]))
				}
			}
			if got := ids(w.all(t, "nhs_claims", "nhs_claims", map[string][]string{"claim_status": {status}})); !slices.Equal(got, want) {
				t.Errorf("%s: got %v, want %v", status, head(got), head(want))
			}
			if len(want) == 0 {
				t.Logf("no claim has status %s", status)
			}
		}
		for _, status := range []string{"Completed", "done", ""} {
			e.Get(t, "/v1/nhs_claims?claim_status="+status, w.token).Error(t, 400, "invalid_parameter", "claim_status")
		}
	})
}

// TestClaimsCreatedAfterIsExclusive: as spec.md says.
func TestClaimsCreatedAfterIsExclusive(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w := newWorld(t, e)
		claim := w.all(t, "nhs_claims", "nhs_claims", nil)[0]
		id, at := text(claim["id"]), instant(text(claim["created_at"]))
		for _, c := range []struct {
			param string
			value string
			found bool
		}{
			{"created_after", shown(at), false}, {"created_after", shown(at.Add(-1e6)), true},
			{"updated_after", shown(instant(text(claim["updated_at"]))), true}, {"updated_after", shown(instant(text(claim["updated_at"])).Add(1e6)), false},
		} {
			if got := slices.Contains(ids(w.all(t, "nhs_claims", "nhs_claims", map[string][]string{c.param: {c.value}})), id); got != c.found {
				t.Errorf("%s=%s: found %v", c.param, c.value, got)
			}
		}
	})
}

// TestClaimsOfEveryNation: it sets the columns that are null in the seeded claims.
func TestClaimsOfEveryNation(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w := newWorld(t, e)
		id := uuid.MustParse(text(w.all(t, "nhs_claims", "nhs_claims", nil)[0]["id"]))
		ctx := e.As(t, "demo")
		e.Tx(t, ctx, func(tx *ent.Client) error {
			return tx.NHSClaim.UpdateOneID(id).SetNiCalculatedDentistFee(1205).SetNiCalculatedPatientFee(0).SetScotAmountAuthorised(-5).SetScotAmountExpected(99_999_999_999).
				SetStatusComments("Rejected: §12\nsee letter").SetContinuationPartNumber(2).SetOrtho(true).SetClaimStatus(schema.ClaimQueried).SetApprovalDate(civil.MustParse("2026-02-28")).Exec(ctx)
		})
		got := e.Get(t, "/v1/nhs_claims/"+id.String(), w.token).Status(t, 200).At(t, "nhs_claim").(row)
		want := row{
			"ni_calculated_dentist_fee": "12.05", "ni_calculated_patient_fee": "0.00", "scot_amount_authorised": "-0.05", "scot_amount_expected": "999999999.99",
			"status_comments": "Rejected: §12\nsee letter", "continuation_part_number": jsonNumber(2), "ortho": true, "claim_status": "queried", "approval_date": "2026-02-28",
		}
		for name, v := range want {
			if !reflect.DeepEqual(got[name], v) {
				t.Errorf("%s is %#v, want %#v", name, got[name], v)
			}
		}
	})
}

func TestScottishInvoicesHaveAnNHSAmount(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		id := first(t, e, token, "invoices", "")
		ctx := e.As(t, "demo")
		e.Tx(t, ctx, func(tx *ent.Client) error { return tx.Invoice.UpdateOneID(number(id)).SetNhsAmount(2050).Exec(ctx) })
		if got := e.Get(t, "/v1/invoices"+harness.ID(id), token).Status(t, 200).At(t, "invoice.nhs_amount"); got != "20.50" {
			t.Errorf("nhs_amount is %v", got)
		}
	})
}
