package api_test

import (
	"slices"
	"testing"
	"time"

	"chairside/ent"
	"chairside/internal/civil"
	"chairside/internal/test/harness"
	"chairside/ogent"
	"chairside/schema"
)

// claims are all claims that match what is asked.
func claims(t *testing.T, c *ogent.Client, asked ogent.ListNHSClaimsParams) []ogent.NHSClaim {
	t.Helper()
	return everyPage(t, func(page, size ogent.OptInt) ([]ogent.NHSClaim, int) {
		asked.Page, asked.PerPage = page, size
		l := harness.Call(t, c.ListNHSClaims, asked)
		return l.NhsClaims, l.Meta.Total
	})
}

// TestClaimStatuses are the nine of spec.md; complete means completed.
func TestClaimStatuses(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		c := e.Client(t, token)
		all := claims(t, c, ogent.ListNHSClaimsParams{})
		for _, status := range []string{"new", "queued", "submitted", "completed", "error", "invalid", "received", "queried", "withdrawn", "complete"} {
			var want []ogent.NHSClaim
			for _, c := range all {
				if c.ClaimStatus == status || status == "complete" && c.ClaimStatus == "completed" {
					want = append(want, c)
				}
			}
			if got := claims(t, c, ogent.ListNHSClaimsParams{ClaimStatus: ogent.NewOptString(status)}); !slices.EqualFunc(got, want, func(a, b ogent.NHSClaim) bool { return a.ID == b.ID }) {
				t.Errorf("%s: got %+v, want %+v", status, got, want)
			}
			if len(want) == 0 {
				t.Logf("no claim has status %s", status)
			}
		}
		for _, status := range []string{"Completed", "done"} {
			_, err := c.ListNHSClaims(t.Context(), ogent.ListNHSClaimsParams{ClaimStatus: ogent.NewOptString(status)})
			harness.Refused(t, err, 400, "invalid_parameter", "claim_status")
		}
		e.Get(t, "/v1/nhs_claims?claim_status=", token).Error(t, 400, "invalid_parameter", "claim_status")
	})
}

// TestClaimsCreatedAfterIsExclusive: as spec.md says.
func TestClaimsCreatedAfterIsExclusive(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		c := e.Client(t, e.Token(t, ""))
		claim := claims(t, c, ogent.ListNHSClaimsParams{})[0]
		created := func(at time.Time) ogent.ListNHSClaimsParams {
			return ogent.ListNHSClaimsParams{CreatedAfter: ogent.NewOptDateTime(at)}
		}
		updated := func(at time.Time) ogent.ListNHSClaimsParams {
			return ogent.ListNHSClaimsParams{UpdatedAfter: ogent.NewOptDateTime(at)}
		}
		for _, test := range []struct {
			asked ogent.ListNHSClaimsParams
			found bool
		}{
			{created(claim.CreatedAt), false}, {created(claim.CreatedAt.Add(-time.Millisecond)), true},
			{updated(claim.UpdatedAt), true}, {updated(claim.UpdatedAt.Add(time.Millisecond)), false},
		} {
			found := slices.ContainsFunc(claims(t, c, test.asked), func(c ogent.NHSClaim) bool { return c.ID == claim.ID })
			if found != test.found {
				t.Errorf("%+v: found %v", test.asked, found)
			}
		}
	})
}

// TestClaimsOfEveryNation: it sets the columns that are null in the seeded claims.
func TestClaimsOfEveryNation(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		c := e.Client(t, e.Token(t, ""))
		want := claims(t, c, ogent.ListNHSClaimsParams{})[0]
		ctx := e.As(t, "demo")
		e.Tx(t, ctx, func(tx *ent.Client) error {
			return tx.NHSClaim.UpdateOneID(want.ID).SetNiCalculatedDentistFee(1205).SetNiCalculatedPatientFee(0).SetScotAmountAuthorised(-5).SetScotAmountExpected(99_999_999_999).
				SetStatusComments("Rejected: §12\nsee letter").SetContinuationPartNumber(2).SetOrtho(true).SetClaimStatus(schema.ClaimQueried).SetApprovalDate(civil.MustParse("2026-02-28")).Exec(ctx)
		})
		got := harness.Call(t, c.GetNHSClaim, ogent.GetNHSClaimParams{ID: want.ID}).NhsClaim
		want.NiCalculatedDentistFee, want.NiCalculatedPatientFee = ogent.NewNilString("12.05"), ogent.NewNilString("0.00")
		want.ScotAmountAuthorised, want.ScotAmountExpected = ogent.NewNilString("-0.05"), ogent.NewNilString("999999999.99")
		want.StatusComments, want.ContinuationPartNumber = ogent.NewNilString("Rejected: §12\nsee letter"), ogent.NewNilInt(2)
		want.Ortho, want.ClaimStatus, want.ApprovalDate = true, "queried", ogent.NewNilDate(utc("2026-02-28"))
		want.UpdatedAt = got.UpdatedAt
		if wire(t, &got) != wire(t, &want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
}

func TestScottishInvoicesHaveAnNHSAmount(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		c := e.Client(t, e.Token(t, ""))
		id := harness.Call(t, c.ListInvoices, ogent.ListInvoicesParams{}).Invoices[0].ID
		ctx := e.As(t, "demo")
		e.Tx(t, ctx, func(tx *ent.Client) error { return tx.Invoice.UpdateOneID(id).SetNhsAmount(2050).Exec(ctx) })
		if got := harness.Call(t, c.GetInvoice, ogent.GetInvoiceParams{ID: id}).Invoice.NhsAmount; got != ogent.NewNilString("20.50") {
			t.Errorf("nhs_amount is %+v", got)
		}
	})
}
