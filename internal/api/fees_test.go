package api_test

import (
	"reflect"
	"testing"
	"time"

	"chairside/internal/test/harness"
	"chairside/ogent"
)

func TestFeeListRequiresAPlanOrATreatment(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "treatments:read")
		for _, query := range []string{"", "?page=2", "?sort_by=id", "?updated_after=2026-01-01"} {
			e.Get(t, "/v1/fees"+query, token).Error(t, 400, "invalid_parameter", "payment_plan_id", "treatment_id")
		}
		e.Get(t, "/v1/fees?payment_plan_id=x", token).Error(t, 400, "invalid_parameter", "payment_plan_id")
		c := e.Client(t, token)
		fees := func(plan, treatment ogent.OptInt64) []ogent.Fee {
			return everyPage(t, func(page, size ogent.OptInt) ([]ogent.Fee, int) {
				l := harness.Call(t, c.ListFees, ogent.ListFeesParams{Page: page, PerPage: size, PaymentPlanID: plan, TreatmentID: treatment})
				return l.Fees, l.Meta.Total
			})
		}
		active := harness.Call(t, e.Client(t, e.Token(t, "")).ListPaymentPlans, ogent.ListPaymentPlansParams{Active: ogent.NewOptBool(true)}).PaymentPlans[0]
		fee := fees(ogent.NewOptInt64(active.ID), ogent.OptInt64{})[3]
		plan, treatment := ogent.NewOptInt64(fee.PaymentPlanID), ogent.NewOptInt64(fee.TreatmentID)
		ofPlan, ofTreatment, both := fees(plan, ogent.OptInt64{}), fees(ogent.OptInt64{}, treatment), fees(plan, treatment)
		if len(ofPlan) < 2 || len(ofTreatment) < 2 {
			t.Errorf("%d fees of a plan, %d of a treatment", len(ofPlan), len(ofTreatment))
		}
		for _, f := range ofPlan {
			if f.PaymentPlanID != fee.PaymentPlanID {
				t.Errorf("payment_plan_id finds %+v", f)
			}
		}
		for _, f := range ofTreatment {
			if f.TreatmentID != fee.TreatmentID {
				t.Errorf("treatment_id finds %+v", f)
			}
		}
		if len(both) != 1 || wire(t, &both[0]) != wire(t, &fee) {
			t.Errorf("both find %+v, want %+v", both, fee)
		}
	})
}

// fee returns the path of a fee.
func fee(t *testing.T, e *harness.Env, token string) string {
	t.Helper()
	plan := first(t, e, token, "payment_plans", "active=true")
	return "/v1/fees" + harness.ID(e.Get(t, "/v1/fees?payment_plan_id="+text(plan), token).Status(t, 200).At(t, "fees.0.id"))
}

func TestUpdateFeeChangesOnlySentFields(t *testing.T) {
	cases := []struct{ sent, changed row }{
		{row{}, row{}},
		{row{"multiple_pricing": true}, row{"multiple_pricing": true}},
		{row{"price_one": "12.5", "price_two": 13, "price_three": "999999999.99", "price_four": 0, "price_five": "0.05"},
			row{"price_one": "12.50", "price_two": "13.00", "price_three": "999999999.99", "price_four": "0.00", "price_five": "0.05"}},
		{row{"duration_one": 0, "duration_two": "45", "duration_three": 1440, "duration_four": 15, "duration_five": 16},
			row{"duration_one": jsonNumber(0), "duration_two": jsonNumber(45), "duration_three": jsonNumber(1440), "duration_four": jsonNumber(15), "duration_five": jsonNumber(16)}},
		{row{"id": "x", "payment_plan_id": 999999, "treatment_id": 1, "created_at": "x", "unheard_of": true}, row{}},
	}
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		path := fee(t, e, token)
		for i, c := range cases {
			e.Clock.Advance(time.Minute)
			want := e.Get(t, path, token).At(t, "fee").(row)
			for name, v := range c.changed {
				want[name] = v
			}
			if len(c.changed) > 0 {
				want["updated_at"] = shown(e.Clock.Now())
			}
			method := []string{"PUT", "PATCH"}[i%2]
			res := e.Do(t, harness.Request{Method: method, Path: path, Token: token, Body: edit("fee", c.sent)}).Status(t, 200)
			if got := res.At(t, "fee"); !reflect.DeepEqual(got, want) {
				t.Errorf("%v: got %v, want %v", c.sent, got, want)
			}
			if read := e.Get(t, path, token); string(read.Raw) != string(res.Raw) {
				t.Errorf("%v: wrote %s, read %s", c.sent, res.Raw, read.Raw)
			}
		}
	})
}

func TestUpdateFeeRefusesInvalidFields(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		path := fee(t, e, token)
		old := e.Get(t, path, token)
		for _, price := range []any{"", "12.345", 12.345, "1e3", "x", -0.01, "-1", true, []int{}, "£5", 1000000000} {
			e.Patch(t, path, token, edit("fee", row{"price_one": price, "price_five": price, "price_two": "5"})).Error(t, 422, "validation_failed", "price_one", "price_five")
		}
		for _, duration := range []any{-1, 1.5, "long", true, row{}, int64(99999999999)} {
			e.Patch(t, path, token, edit("fee", row{"duration_one": duration, "duration_five": duration, "multiple_pricing": "x"})).
				Error(t, 422, "validation_failed", "duration_one", "duration_five", "multiple_pricing")
		}
		e.Patch(t, path, token, edit("fee", row{"price_one": null, "duration_one": null, "multiple_pricing": null, "price_two": "5"})).
			Error(t, 422, "validation_failed", "price_one", "duration_one", "multiple_pricing")
		e.Patch(t, path, token, `{"price_one":"5"}`).Error(t, 422, "validation_failed", "fee")
		if now := e.Get(t, path, token); string(now.Raw) != string(old.Raw) {
			t.Errorf("the fee changed to %s", now.Raw)
		}
		e.Post(t, "/v1/fees", token, edit("fee", row{})).Error(t, 405, "method_not_allowed")
		e.Delete(t, path, token).Error(t, 405, "method_not_allowed")
	})
}
