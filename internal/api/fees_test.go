package api_test

import (
	"reflect"
	"testing"
	"time"

	"chairside/internal/test/harness"
)

func TestFeeListRequiresAPlanOrATreatment(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "treatments:read")
		for _, query := range []string{"", "?page=2", "?sort_by=id", "?updated_after=2026-01-01"} {
			e.Get(t, "/v1/fees"+query, token).Error(t, 400, "invalid_parameter", "payment_plan_id", "treatment_id")
		}
		e.Get(t, "/v1/fees?payment_plan_id=x", token).Error(t, 400, "invalid_parameter", "payment_plan_id")
		w := newWorld(t, e)
		fee := w.all(t, "fees", "fees", map[string][]string{"payment_plan_id": {w.plan}})[3]
		for query, want := range map[string]func(r row) bool{
			"payment_plan_id": func(r row) bool { return r["payment_plan_id"] == fee["payment_plan_id"] },
			"treatment_id":    func(r row) bool { return r["treatment_id"] == fee["treatment_id"] },
		} {
			found := w.all(t, "fees", "fees", map[string][]string{query: {text(fee[query])}})
			if len(found) < 2 {
				t.Errorf("%s: got %d fees", query, len(found))
			}
			for _, r := range found {
				if !want(r) {
					t.Errorf("%s: got %v", query, r)
				}
			}
		}
		both := w.all(t, "fees", "fees", map[string][]string{"payment_plan_id": {text(fee["payment_plan_id"])}, "treatment_id": {text(fee["treatment_id"])}})
		if len(both) != 1 || !reflect.DeepEqual(both[0], fee) {
			t.Errorf("both: got %v, want %v", both, fee)
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
