package contract

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	gen "entgo.io/ent"
	"entgo.io/ent/dialect"

	"chairside/ent"
	"chairside/internal/codec"
	"chairside/internal/entx"
	"chairside/internal/store"
	"chairside/internal/test/harness"
)

// meter counts the generated client's mutations (one per written row) and the round trips
// to the database. It ignores token lookups, which happen once per second.
type meter struct {
	db                 *store.DB
	mutations, lookups atomic.Int64
}

// watch attaches a meter to a new server.
func watch(e *harness.Env) *meter {
	m := &meter{db: e.DB}
	e.DB.Ent.Intercept(entx.Observer(func(ctx context.Context, _ ent.Value, _ error) {
		if gen.QueryFromContext(ctx).Type == ent.TypeAccessToken {
			m.lookups.Add(1)
		}
	}))
	e.DB.Ent.Use(func(next gen.Mutator) gen.Mutator {
		return gen.MutateFunc(func(ctx context.Context, mutation gen.Mutation) (gen.Value, error) {
			m.mutations.Add(1)
			return next.Mutate(ctx, mutation)
		})
	})
	return m
}

// cost is the database cost of one request.
type cost struct{ mutations, trips int64 }

func (m *meter) read() cost {
	return cost{m.mutations.Load(), m.db.RoundTrips() - m.lookups.Load()}
}

func (m *meter) cost(request func()) cost {
	before := m.read()
	request()
	after := m.read()
	return cost{after.mutations - before.mutations, after.trips - before.trips}
}

// costs is the budget of each operation. The default is one round trip for a record, and
// two for a list: the page and the total. A counter is read with the page, custom fields
// and answers after it.
var costs = map[string]cost{
	"getRateLimit": {0, 0},

	"listAppointments":       {0, 1}, // total from a counter
	"getPatient":             {0, 2}, // with custom fields and answers
	"listPatients":           {0, 2}, // total from a counter
	"listPayments":           {0, 3}, // with the sum; total from a counter
	"getTreatmentPlanItem":   {0, 2}, // with custom fields and answers
	"listTreatmentPlanItems": {0, 2}, // total from a counter
	"listInvoices":           {0, 1},
	"listInvoiceItems":       {0, 1},
	"listTreatmentPlans":     {0, 2}, // with the totals of items; total from a counter
	"getTreatmentPlan":       {0, 2}, // with the total of items

	"listTreatmentAppointments":   {0, 1},
	"listPatientStats":            {0, 6}, // three of appointments, invoices, payments; total from a counter
	"getStatsOfPatient":           {0, 6},
	"getPatientStats":             {0, 6},
	"listRotaPractitionerDiaries": {0, 2}, // practitioners, sessions; opening hours for those without
	"listNHSClaims":               {0, 1},
	"listNotes":                   {0, 1},
	"listRecalls":                 {0, 1},
	"listWaitingLists":            {0, 1},

	// A written row is a mutation, and its audit entry another. A transaction begins and
	// ends with a round trip. Checking all references takes one, and reading the row back.
	"createAppointment": {2, 6},
	"putAppointment":    {2, 7},
	"updateAppointment": {2, 7},
	"deleteAppointment": {2, 9},  // the audit log keeps its values; no recall, treatment appointment or waiting list entry has it
	"createNote":        {2, 7},  // its id is reserved before its text is sealed
	"deleteNote":        {3, 10}, // its text is kept, sealed; the audit log keeps the rest
	"createPatient":     {6, 14}, // the patient, whose id is reserved, the account, an answer
	"putPatient":        {2, 8},
	"updatePatient":     {2, 8},
	"deletePatient":     {2, 6},
	"putFee":            {2, 7},
	"updateFee":         {2, 7},
}

// atOnce are the round trips that PostgreSQL saves: one statement writes a row and its
// audit entry and reads the row back. For a new appointment it also checks references
// and overlaps, and is the whole transaction.
var atOnce = map[string]int64{
	"createAppointment": 5,
	"putAppointment":    3,
	"updateAppointment": 3,
	"createNote":        2,
	"createPatient":     2,
	"putPatient":        3,
	"updatePatient":     3,
	"putFee":            3,
	"updateFee":         3,
}

// writeLimits are the most that other writes may cost, by method: links and rules that the
// row needs are checked in one statement.
var writeLimits = map[string]cost{
	http.MethodPost:   {2, 6},
	http.MethodPut:    {2, 7},
	http.MethodPatch:  {2, 7},
	http.MethodDelete: {2, 6},
}

// withinBudget reports whether an operation costs what it may, and its budget.
func withinBudget(op operation, d string, c cost) (budget cost, ok bool) {
	if budget, ok = costs[op.ID]; ok {
		if d == dialect.Postgres {
			budget.trips -= atOnce[op.ID]
		}
		return budget, c == budget
	}
	if budget, ok = writeLimits[op.Method]; ok {
		return budget, c.mutations <= budget.mutations && c.trips <= budget.trips
	}
	budget = cost{0, 1}
	if op.lists() {
		budget = cost{0, 2}
	}
	return budget, c == budget
}

func TestCosts(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token, m := loadWorld(t, e, "demo"), e.Token(t, ""), watch(e)
		e.Get(t, "/rate_limit", token) // also writes the token's last use
		w.ids["appointments"] = column(t, e, "SELECT id FROM appointments WHERE practice_id = $1 AND patient_id IS NOT NULL AND id NOT IN ("+
			"SELECT appointment_id FROM recalls WHERE appointment_id IS NOT NULL UNION SELECT appointment_id FROM waiting_lists WHERE appointment_id IS NOT NULL "+
			"UNION SELECT appointment_id FROM treatment_appointments WHERE appointment_id IS NOT NULL) ORDER BY id", w.practice)
		row := 0
		for _, op := range operations() {
			n := 0
			if op.one() && op.writes() {
				row++
				n = row % 4
			}
			q := w.request(op, n)
			if op.one() && op.Body != nil {
				q.Body = smallChange(op.Body)
			}
			q.Token = token
			if op.lists() {
				q.Path += separator(q.Path) + "per_page=2"
			}
			c := m.cost(func() { send(t, e, op, q).Status(t, op.Success) })
			if want, ok := withinBudget(op, e.DB.Dialect, c); !ok {
				t.Errorf("%s costs %v, its budget is %v", op.ID, c, want)
			}
		}
	})
}

// smallChange is a body that changes one member and no reference.
func smallChange(b *codec.Body) map[string]any {
	for _, f := range b.Fields {
		switch {
		case f.Required, f.Name == "appointment_reason": // one of a few words
		case f.Kind == codec.Text:
			return map[string]any{b.Key: map[string]any{f.Name: "Changed"}}
		case f.Kind == codec.Decimal:
			return map[string]any{b.Key: map[string]any{f.Name: "98765.43"}}
		}
	}
	for _, f := range b.Fields {
		switch {
		case f.Required:
		case f.Kind == codec.Boolean:
			return map[string]any{b.Key: map[string]any{f.Name: false}}
		case f.Kind == codec.Enum:
			return map[string]any{b.Key: map[string]any{f.Name: f.Values[0]}}
		}
	}
	return nil
}

// TestListsCostTheSameForEveryPage: no list queries row by row.
func TestListsCostTheSameForEveryPage(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token, m := loadWorld(t, e, "demo"), e.Token(t, ""), watch(e)
		e.Get(t, "/rate_limit", token)
		for _, op := range operations() {
			if !op.lists() {
				continue
			}
			base := w.request(op, 0).Path
			page := func(size string) cost {
				clearCaches(t, e)
				return m.cost(func() {
					q := harness.Request{Method: http.MethodGet, Path: base + separator(base) + "per_page=" + size, Token: token}
					send(t, e, op, q).Status(t, http.StatusOK)
				})
			}
			few := page("2")
			for _, size := range []string{"7", "20", "50", "100"} {
				// A page with all rows needs no count: one less. A longer page of slots
				// reads more of the diary, in growing parts: some more.
				parts := int64(0)
				if op.ID == "listAvailability" {
					parts = 5
				}
				if many := page(size); (many.trips < few.trips || many.trips > few.trips+parts || many.mutations != 0) && many != (cost{0, few.trips - 1}) {
					t.Errorf("%s costs %v for 2 rows, %v for %s", op, few, many, size)
				}
			}
		}
	})
}

// clearCaches clears the server's caches, so that the cost does not depend on timing.
func clearCaches(t *testing.T, e *harness.Env) {
	t.Helper()
	e.ChangePractice(t, func(*ent.PracticeUpdateOne) {}) // any change clears them
}

// TestSearchCostsOneStatement for the page with its total, one for the page's custom fields and
// answers, and one more for what may be an NHS number.
func TestSearchCostsOneStatement(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token, m := e.Token(t, ""), watch(e)
		e.Get(t, "/rate_limit", token)
		for query, key := range map[string]int64{"a": 0, "example.com": 0, "07700 9": 0, "smith taylor": 0, "943 476 5919": 1} { // the key of hashes
			c := m.cost(func() {
				e.Get(t, "/v1/patients?per_page=2&query="+url.QueryEscape(query), token).Status(t, http.StatusOK)
			})
			if c != (cost{0, 2 + key}) && c != (cost{0, 1 + key}) { // without patients no answers
				t.Errorf("%q costs %v", query, c)
			}
		}
	})
}

// separator joins a parameter to a path.
func separator(path string) string {
	if strings.Contains(path, "?") {
		return "&"
	}
	return "?"
}
