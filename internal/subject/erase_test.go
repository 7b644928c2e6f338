package subject_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"chairside/ent"
	"chairside/internal/audit/chain"
	"chairside/internal/civil"
	"chairside/internal/clock"
	"chairside/internal/entx/table"
	"chairside/internal/principal"
	"chairside/internal/seed"
	"chairside/internal/store"
	"chairside/internal/store/storetest"
	"chairside/internal/subject"
	"chairside/internal/test/harness"
	"chairside/schema"
)

// TestEveryTableHasAnEntryOrNot: rows of a table with rows about patients keep the record, or there
// is a reason why not.
func TestEveryTableHasAnEntryOrNot(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, of := range ent.Tables {
		known[of.Name] = true
		columns, keeps := subject.DaysOfEntries[of.Name]
		about := subject.Condition(of) != ""
		if reason := subject.NoEntries[of.Name]; about && keeps == (reason != "") || !about && (keeps || reason != "") {
			t.Errorf("%s: a table with rows about patients is in entries or, with a reason, in noEntries; no other is", of.Name)
		}
		for _, name := range columns {
			if c := of.Column(name); c == nil || c.Stored != table.Date && c.Stored != table.Time {
				t.Errorf("%s.%s is no date or time", of.Name, name)
			}
		}
	}
	for _, m := range []map[string]string{subject.NoEntries, subject.KeptTables} {
		for name := range m {
			if !known[name] {
				t.Errorf("table %s does not exist", name)
			}
		}
	}
}

// TestEveryKeptColumnIsClassified: of rows that stay, each column is blanked, or it holds no text
// about a person and refers to no removed row.
func TestEveryKeptColumnIsClassified(t *testing.T) {
	t.Parallel()
	named := maps.Clone(subject.ErasedValues)
	for _, of := range ent.Tables {
		if subject.KeptTables[of.Name] == "" || of.Name == "audit_events" {
			continue
		}
		for i := range of.Columns {
			c := &of.Columns[i]
			name := of.Name + "." + c.Name
			delete(named, name)
			words := slices.Contains([]table.Kind{table.Text, table.JSON, table.Bytes, table.Date}, c.Stored) && len(c.Values) == 0
			removed := slices.ContainsFunc(ent.Tables, func(to *table.Table) bool { return to.Name == c.References && subject.Removes(to) })
			switch {
			case subject.Blanks(of, c):
				if _, ok := subject.Blank(of, c, time.Time{}); !ok {
					t.Errorf("%s is blanked, but there is no value for it: add one to erasedValues", name)
				}
			case of.Name == "patients":
			case removed && !c.Null:
				t.Errorf("%s refers to a row that is removed", name)
			case words && schema.AuditValueOf(of.Type, c.Name, true) != schema.AuditPlain:
				t.Errorf("%s stays though it is not classified as plain", name)
			}
		}
	}
	for name := range named {
		t.Errorf("erasedValues names %s, which does not exist", name)
	}
	order := subject.RemovalOrder()
	for i, of := range order {
		for _, later := range order[i+1:] {
			for _, c := range later.Columns {
				if c.References == of.Name {
					t.Errorf("%s is removed before %s, which refers to it", of.Name, later.Name)
				}
			}
		}
	}
}

// TestRetention: the day depends on the country, the age at the last entry, and the practice.
func TestRetention(t *testing.T) {
	t.Parallel()
	three := 3
	for _, c := range []struct {
		country, last, born, want string
		own                       *int
	}{
		{"GB", "2020-02-29", "1980-01-01", "2031-02-28", nil},
		{"GB", "2020-05-01", "2018-05-01", "2043-05-01", nil}, // 25th birthday
		{"GB", "2020-05-01", "2003-05-01", "2031-05-01", nil}, // 11 years are longer
		{"GB", "2020-05-01", "1980-01-01", "2023-05-01", &three},
		{"GB", "2020-05-01", "2010-05-01", "2035-05-01", &three},
		{"DE", "2020-05-01", "2018-05-01", "2030-05-01", nil},
		{"FR", "2020-05-01", "2018-05-01", "2046-05-01", nil},
		{"US", "2020-05-01", "1980-01-01", "2050-05-01", nil},
	} {
		if got := subject.Until(c.country, civil.MustParse(c.last), civil.MustParse(c.born), c.own).String(); got != c.want {
			t.Errorf("%s, last entry %s, born %s: %s, want %s", c.country, c.last, c.born, got, c.want)
		}
	}
}

// canary is in every text of the patient that is erased, canaryDigits in telephone numbers.
const canary, canaryDigits = "zyxcanary", "9990001234"

// staysByDesign are the columns with texts that an erasure leaves, with the reason.
var staysByDesign = map[string]string{
	"invoices.reference":     "the number of the invoice, which bookkeeping needs",
	"invoices.payment_terms": "the practice's terms",
	"payments.method":        "how money was received: takings by method",
	"nhs_claims.uda_band":    "what the amount of a claim follows from",
}

// tooStrict are text columns whose checks refuse a canary.
var tooStrict = map[string]string{
	"patients.ethnicity": "'Q9'",
}

// plant puts the canary in every text column of the patient's rows.
func plant(t *testing.T, db *store.DB, practice any, id int64) {
	t.Helper()
	for _, of := range ent.Tables {
		rows := subject.Condition(of)
		if rows == "" || of.Name == "audit_events" {
			continue
		}
		for _, c := range of.Columns {
			value := "'" + canary + "'"
			switch own := tooStrict[of.Name+"."+c.Name]; {
			case own != "":
				value = own
			case c.IsSealed():
				value = "'sealed:00000000:" + canary + "'"
			case strings.HasSuffix(c.Name, "_country"):
				value = "'GB'"
			case strings.HasSuffix(c.Name, "_normalized"):
				value = "'+44" + canaryDigits + "'"
			case strings.Contains(c.Name, "email_address"):
				value = "'" + canary + "@erase.test'"
			case len(c.Values) > 0 || c.Stored != table.Text && c.Stored != table.JSON:
				continue
			case c.Stored == table.JSON:
				value = `'["` + canary + `"]'`
				if c.Name == "metadata" || c.Name == "referrable_attributes" {
					value = `'{"k":"` + canary + `"}'`
				}
			}
			storetest.Exec(t, db, "UPDATE "+of.Name+" SET "+table.Quote(c.Name)+" = "+value+" WHERE "+rows+" AND practice_id = $1", practice, id)
		}
	}
}

// columns returns all columns of all tables of the database, also of those that Ent does not know.
func columns(t *testing.T, db *store.DB) (all [][2]string) {
	t.Helper()
	query := "SELECT m.name, c.name FROM sqlite_master AS m, pragma_table_info(m.name) AS c WHERE m.type = 'table' ORDER BY 1, 2"
	if storetest.Postgres(db) {
		query = "SELECT c.table_name, c.column_name FROM information_schema.columns AS c JOIN information_schema.tables AS t USING (table_schema, table_name) WHERE c.table_schema = 'public' AND t.table_type = 'BASE TABLE' AND to_regclass(quote_ident(c.table_name)) NOT IN (SELECT inhrelid FROM pg_inherits) ORDER BY 1, 2"
	}
	rows, err := db.SQL.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var c [2]string
		if err := rows.Scan(&c[0], &c[1]); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}

// canaries returns the number of rows with a canary, by table.column.
func canaries(t *testing.T, db *store.DB) map[string]int {
	t.Helper()
	found := map[string]int{}
	for _, c := range columns(t, db) {
		text := "lower(CAST(" + table.Quote(c[1]) + " AS text))"
		hex := ""
		if storetest.Postgres(db) { // bytes are shown in hexadecimal
			hex = " OR " + text + " LIKE '%" + fmt.Sprintf("%x", canary) + "%'"
		}
		if n := storetest.Int(t, db, "SELECT count(*) FROM "+table.Quote(c[0])+" WHERE "+text+" LIKE '%"+canary+"%' OR "+text+" LIKE '%"+canaryDigits+"%'"+hex); n > 0 {
			found[c[0]+"."+c[1]] = n
		}
	}
	return found
}

// contents returns the rows of all tables, by table.
func contents(t *testing.T, db *store.DB) map[string]string {
	t.Helper()
	of := map[string][]string{}
	for _, c := range columns(t, db) {
		of[c[0]] = append(of[c[0]], "coalesce(CAST("+table.Quote(c[1])+" AS text), '-')")
	}
	all := map[string]string{}
	for name, texts := range of {
		rows, err := db.SQL.QueryContext(t.Context(), "SELECT "+strings.Join(texts, " || '|' || ")+" FROM "+table.Quote(name)+" ORDER BY 1")
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for rows.Next() {
			var line string
			if err := rows.Scan(&line); err != nil {
				t.Fatal(err)
			}
			b.WriteString(line + "\n")
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		all[name] = b.String()
	}
	return all
}

// unchanged fails for tables that differ, but for those named.
func unchanged(t *testing.T, db *store.DB, before map[string]string, but ...string) {
	t.Helper()
	for name, now := range contents(t, db) {
		if now != before[name] && !slices.Contains(but, name) {
			t.Errorf("%s has changed", name)
		}
	}
}

// money are the totals that an erasure leaves.
func money(t *testing.T, db *store.DB) string {
	t.Helper()
	var all []string
	for _, query := range []string{
		"SELECT count(*) FROM invoices", "SELECT sum(amount) FROM invoices", "SELECT sum(amount_outstanding) FROM invoices", "SELECT sum(total_price) FROM invoice_items",
		"SELECT count(*) FROM payments", "SELECT sum(amount) FROM payments", "SELECT sum(amount_unexplained) FROM payments", "SELECT sum(amount) FROM payment_explanations",
		"SELECT count(*) FROM accounts", "SELECT sum(current_balance) FROM accounts", "SELECT sum(opening_balance) FROM accounts", "SELECT count(DISTINCT dated_on) FROM invoices", "SELECT count(DISTINCT dated_on) FROM payments",
	} {
		all = append(all, fmt.Sprint(storetest.Int(t, db, query)))
	}
	return strings.Join(all, " ")
}

// verified seals the audit log and fails if it has problems. On PostgreSQL it waits for
// transactions of other tests, because entries are sealed in order.
func verified(t *testing.T, e *harness.Env) {
	t.Helper()
	e.Settle()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if _, err := chain.Seal(t.Context(), e.DB); err != nil {
			t.Fatal(err)
		}
		r, err := chain.Verify(t.Context(), e.DB, chain.VerifyOptions{})
		if err != nil || len(r.Problems) > 0 {
			t.Fatalf("problems %v, %v", r.Problems, err)
		}
		if r.Unsealed == 0 && r.Entries > 0 {
			return
		} else if time.Now().After(deadline) {
			t.Fatalf("%d entries, %d not sealed", r.Entries, r.Unsealed)
		}
	}
}

// victim returns a patient of the main practice with invoices, payments, notes and appointments,
// and one of the other practice.
func victim(t *testing.T, db *store.DB) (id, other int64) {
	t.Helper()
	of := func(slug string) string {
		return "practice_id = (SELECT id FROM practices WHERE slug = '" + slug + "')"
	}
	chosen := "SELECT min(patient_id) FROM treatment_plan_items WHERE " + of("demo")
	for _, name := range []string{"invoices", "payments", "notes", "appointments", "recalls", "nhs_claims"} {
		chosen += " AND patient_id IN (SELECT patient_id FROM " + name + ")"
	}
	return int64(storetest.Int(t, db, chosen)), int64(storetest.Int(t, db, "SELECT min(id) FROM patients WHERE "+of("second")))
}

// TestErase: a record is kept while the law or a hold keeps it; then nothing about the patient is
// left, in any column of any table, but for the money.
func TestErase(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		ctx := e.As(t, seed.DemoSlug)
		now := clock.With(ctx, harness.Now)
		later := clock.With(ctx, harness.Now.AddDate(101, 0, 0))
		practice := principal.Must(ctx).PracticeID
		id, other := victim(t, e.DB)
		planTreatment(t, e.DB, id)
		token, path := e.Token(t, ""), "/v1/patients/"+strconv.FormatInt(id, 10)

		// What the API writes about the patient, and copies of it.
		note := e.Post(t, "/v1/notes", token, map[string]any{"note": map[string]any{"patient_id": id, "body": canary}}).Status(t, http.StatusCreated).Text(t, "note.id")
		e.Patch(t, "/v1/notes/"+note, token, map[string]any{"note": map[string]any{"body": canary + " again"}}).Status(t, http.StatusOK)
		deleted := e.Post(t, "/v1/notes", token, map[string]any{"note": map[string]any{"patient_id": id, "body": canary}}).Status(t, http.StatusCreated).Text(t, "note.id")
		if r := e.Do(t, harness.Request{Method: http.MethodDelete, Path: "/v1/notes/" + deleted, Token: token}); r.Code >= 300 {
			t.Fatalf("delete: %d", r.Code)
		}
		e.Clock.Set(clock.Now(later))
		token = e.Token(t, "")
		write := harness.Request{Method: http.MethodPatch, Path: path, Token: token, Body: map[string]any{"patient": map[string]any{"occupation": canary, "marketing": true}}, Header: map[string]string{"Idempotency-Key": "one"}}
		e.Do(t, write).Status(t, http.StatusOK)
		e.Settle()
		storetest.Exec(t, e.DB, "INSERT INTO patient_referrals (practice_id, patient_id, referrable_type, referrable_attributes, status, dated_on, created_at, updated_at) VALUES ($1, $2, 'Practice', '{}', 'draft', $3, $4, $4)", practice, id, civil.Of(harness.Now), harness.Now)
		for i, record := range [][2]string{{"patients", fmt.Sprint(id)}, {"notes", note}, {"notes", deleted}} {
			storetest.Exec(t, e.DB, "INSERT INTO imported_records (practice_id, source, resource, legacy_id, record_id) VALUES ($1, 'old', $2, $3, $4)", practice, record[0], canary+fmt.Sprint(i), record[1])
			storetest.Exec(t, e.DB, "INSERT INTO webhook_deliveries (practice_id, webhook_id, event_id, event, resource, record_id, changed_at, due_at, leased_until, attempt, succeeded, settled_at) VALUES ($1, $2, $3, 'updated', $4, $5, $6, $6, $6, 1, true, $6)",
				practice, schema.NewID(), fmt.Sprint(i), record[0], record[1], harness.Now)
			storetest.Exec(t, e.DB, "INSERT INTO webhook_attempts (practice_id, delivery_id, at, headers, body, records, status, error, response, duration_ms) SELECT $1, max(id), $2, '{}', $3, $4, 200, '', $3, 1 FROM webhook_deliveries",
				practice, harness.Now, "sealed:00000000:"+canary, []byte(canary))
		}
		if storetest.Int(t, e.DB, "SELECT count(*) FROM idempotency_keys") != 1 {
			t.Fatal("no response is stored for the idempotency key")
		}
		previewOverHTTP(t, later, e, id)
		plant(t, e.DB, practice, id)
		planted := canaries(t, e.DB)
		if len(planted) < 60 {
			t.Errorf("the canary is only in %v", planted)
		}
		verified(t, e)
		totals := money(t, e.DB)
		before := contents(t, e.DB)

		// Kept by law, held, of another practice: nothing changes.
		var refusal subject.Refusal
		if _, err := subject.Erase(now, e.DB, id); !errors.As(err, &refusal) || !strings.Contains(err.Error(), "cannot be erased before 20") || !strings.Contains(err.Error(), "keeps the record (") {
			t.Errorf("kept by law: %v", err)
		}
		unchanged(t, e.DB, before, "audit_events", "sqlite_sequence")
		if n := storetest.Int(t, e.DB, "SELECT count(*) FROM audit_events WHERE action = 'refuse' AND resource = 'Patient' AND patient_id = "+fmt.Sprint(id)); n != 1 {
			t.Errorf("%d entries of the refusal", n)
		}
		for _, wrong := range []int64{other, 999_999_999} {
			if _, err := subject.Erase(later, e.DB, wrong); !ent.IsNotFound(err) {
				t.Errorf("patient %d: %v", wrong, err)
			}
		}
		unchanged(t, e.DB, before, "audit_events", "sqlite_sequence")
		hold(t, now, later, e.DB, id, other)

		// A dry run.
		before = contents(t, e.DB)
		would, err := subject.Check(later, e.DB, id)
		if err != nil {
			t.Fatal(err)
		}
		unchanged(t, e.DB, before)

		done, err := subject.Erase(later, e.DB, id)
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(done.Removed, done.Blanked, done.Stays) != fmt.Sprint(would.Removed, would.Blanked, would.Stays) {
			t.Errorf("done %v, the dry run said %v", done, would)
		}
		for name, n := range canaries(t, e.DB) {
			if staysByDesign[name] == "" {
				t.Errorf("%s has the canary in %d rows", name, n)
			}
		}
		if n := storetest.Int(t, e.DB, "SELECT count(*) FROM idempotency_keys"); n != 0 {
			t.Error("the response for the idempotency key is left")
		}
		if got := money(t, e.DB); got != totals {
			t.Errorf("totals %s, before %s", got, totals)
		}
		if n := wrongTotals(t, e.DB); len(n) > 0 {
			t.Errorf("totals that differ from their rows: %v", n)
		}
		verified(t, e)
		storetest.CheckCounters(t, e.DB)
		if n := storetest.Int(t, e.DB, "SELECT count(*) FROM audit_events WHERE action = 'erase' AND resource = 'Patient' AND record_id = '"+fmt.Sprint(id)+"' AND patient_id = "+fmt.Sprint(id)); n != 1 {
			t.Errorf("%d entries of the erasure", n)
		}
		for _, change := range []string{"resource = 'patients' AND event = 'updated' AND record_id = '" + fmt.Sprint(id) + "'", "resource = 'notes' AND event = 'deleted' AND record_id = '" + note + "'"} {
			if storetest.Int(t, e.DB, "SELECT count(*) FROM feed_changes WHERE "+change) == 0 {
				t.Errorf("the change feed lacks %s", change)
			}
		}
		before = contents(t, e.DB)
		if again, err := subject.Erase(later, e.DB, id); err != nil || again.Keeping.ErasedAt == nil || len(again.Removed)+len(again.Blanked)+len(again.Stays) > 0 {
			t.Errorf("again: %+v, %v", again, err)
		}
		if _, err := subject.Check(later, e.DB, id); !errors.As(err, &refusal) || !strings.Contains(err.Error(), "was erased on") {
			t.Errorf("a dry run of it again: %v", err)
		}
		unchanged(t, e.DB, before)
		erasedOverHTTP(t, e, token, id)
		erasedAsFHIR(t, e, id)
	})
}

// hold checks that a hold keeps a record that the law no longer keeps, and is in the audit log.
func hold(t *testing.T, now, later context.Context, db *store.DB, id, other int64) {
	t.Helper()
	var refusal subject.Refusal
	if err := subject.Hold(now, db, other, "claim"); !ent.IsNotFound(err) {
		t.Errorf("hold a patient of another practice: %v", err)
	}
	if err := subject.Release(now, db, id); !errors.As(err, &refusal) {
		t.Errorf("release without a hold: %v", err)
	}
	if err := subject.Hold(now, db, id, "claim 12"); err != nil {
		t.Fatal(err)
	}
	if err := subject.Hold(now, db, id, "claim 13"); !errors.As(err, &refusal) {
		t.Errorf("a second hold: %v", err)
	}
	if _, err := subject.Erase(later, db, id); !errors.As(err, &refusal) || !strings.HasSuffix(err.Error(), "a legal hold keeps the record since 2026-07-01: claim 12") {
		t.Errorf("held: %v", err)
	}
	if err := subject.Release(now, db, id); err != nil {
		t.Fatal(err)
	}
	if n := storetest.Int(t, db, "SELECT count(*) FROM audit_events WHERE action = 'update' AND CAST(fields AS text) LIKE '%legal_hold_reason%' AND CAST(details AS text) NOT LIKE '%claim 12%' AND patient_id = "+fmt.Sprint(id)); n != 2 {
		t.Errorf("%d entries of the hold", n)
	}
}

// previewOverHTTP checks that the managers' page shows what an erasure would do, and does nothing.
func previewOverHTTP(t *testing.T, later context.Context, e *harness.Env, id int64) {
	t.Helper()
	would, err := subject.Check(later, e.DB, id)
	if err != nil {
		t.Fatal(err)
	}
	e.Settle()
	admin := e.Browser(t).SignIn(seed.DemoAdmin)
	e.Settle()
	before := contents(t, e.DB)
	p := admin.Get("/settings/patient-data?patient="+strconv.FormatInt(id, 10)).Status(t, http.StatusOK).Has(t, "What an erasure would do", "Nothing is erased on this page")
	for part, rows := range map[string][]subject.Rows{"removed": would.Removed, "blanked": would.Blanked, "kept": would.Stays} {
		text := p.Text()
		_, text, found := strings.Cut(text, "Records that would be "+part)
		if !found || len(rows) == 0 {
			t.Fatalf("no table of what would be %s", part)
		}
		for _, r := range rows { // in the order of the table
			if _, text, found = strings.Cut(text, fmt.Sprintf("%s%d", r.Table, r.Rows)); !found {
				t.Errorf("%s: no row of %d %s", part, r.Rows, r.Table)
			}
		}
	}
	p.Has(t, "first name", would.Stays[0].Note, subject.NotReached[0])
	e.Settle()
	unchanged(t, e.DB, before, "audit_events", "audit_reads", "sessions", "sqlite_sequence", "logged_requests")
}

// erasedOverHTTP checks what the API and the page show of an erased patient.
func erasedOverHTTP(t *testing.T, e *harness.Env, token string, id int64) {
	t.Helper()
	path := "/v1/patients/" + strconv.FormatInt(id, 10)
	patient := e.Get(t, path, token).Status(t, http.StatusOK).JSON["patient"].(map[string]any)
	if patient["first_name"] != "Erased" || patient["last_name"] != "patient" || patient["active"] != false || patient["erased_at"] == nil || patient["email_address"] != nil || patient["occupation"] != nil {
		t.Errorf("the patient: %v", patient)
	}
	e.Patch(t, path, token, map[string]any{"patient": map[string]any{"active": true}}).Status(t, http.StatusUnprocessableEntity)
	e.Post(t, "/v1/notes", token, map[string]any{"note": map[string]any{"patient_id": id, "body": "back"}}).Status(t, http.StatusUnprocessableEntity)
	query := "?patient_id=" + strconv.FormatInt(id, 10)
	for _, name := range []string{"appointments", "notes", "recalls", "treatment_plans"} {
		if rows := e.Get(t, "/v1/"+name+query+"&per_page=5", token).Status(t, http.StatusOK).JSON[name].([]any); len(rows) != 0 {
			t.Errorf("%s: %v", name, rows)
		}
	}
	for _, name := range []string{"accounts", "invoices", "payments"} {
		rows := e.Get(t, "/v1/"+name+query, token).Status(t, http.StatusOK).JSON[name].([]any)
		if len(rows) == 0 {
			t.Errorf("no %s are left", name)
		}
		if who, has := rows[0].(map[string]any)["patient_name"]; has && who != "Erased patient" {
			t.Errorf("%s: of %v", name, who)
		}
	}
	if rows := e.Get(t, "/v1/patients?query="+canary, token).Status(t, http.StatusOK).JSON["patients"].([]any); len(rows) != 0 {
		t.Errorf("the search finds %v", rows)
	}
	e.Browser(t).SignIn(seed.DemoAdmin).Get("/settings/patient-data?patient="+strconv.FormatInt(id, 10)).Status(t, http.StatusOK).Has(t, "This patient was erased on").Lacks(t, "What an erasure would do")
}
