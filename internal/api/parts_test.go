package api_test

import (
	"testing"

	"chairside/internal/test/harness"
)

// TestRecordsWithoutParts: a record whose list is empty is returned too: one statement reads
// both.
func TestRecordsWithoutParts(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		for _, c := range []struct{ path, record, list, table, owner string }{
			{"/v1/invoices", "invoice", "invoice_items", "invoice_items", "invoice_id"},
			{"/v1/payments", "payment", "explanations", "payment_explanations", "payment_id"},
		} {
			var id any
			before := 0
			for _, found := range e.Get(t, c.path+"?per_page=50", token).Status(t, 200).List(t, c.record+"s") {
				id = found.(map[string]any)["id"]
				before = len(e.Get(t, c.path+harness.ID(id), token).Status(t, 200).List(t, c.record+"."+c.list))
				if before > 0 {
					break
				}
			}
			if before == 0 {
				t.Fatalf("no %s has %s", c.record, c.list)
			}
			if _, err := e.DB.SQL.ExecContext(t.Context(), "DELETE FROM "+c.table+" WHERE "+c.owner+" = "+harness.ID(id)[1:]); err != nil {
				t.Fatal(err)
			}
			r := e.Get(t, c.path+harness.ID(id), token).Status(t, 200)
			if got := r.At(t, c.record+".id"); got != id {
				t.Errorf("got %s %v, want %v", c.record, got, id)
			}
			if rest := r.List(t, c.record+"."+c.list); len(rest) != 0 {
				t.Errorf("%s %v still has %v", c.record, id, rest)
			}
		}
	})
}
