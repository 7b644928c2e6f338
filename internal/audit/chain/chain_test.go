package chain_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"chairside/ent/patient"
	"chairside/internal/audit"
	"chairside/internal/audit/chain"
	"chairside/internal/seed"
	"chairside/internal/store"
	"chairside/internal/store/storetest"
	"chairside/internal/test/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// fixture is a database with a sealed log, its key and its checkpoints.
type fixture struct {
	*harness.Env
	key         *audit.Key
	dir         string
	checkpoints *chain.Checkpoints
	patients    []int64
}

// newFixture fills the audit log in several blocks and seals it.
func newFixture(t *testing.T, e *harness.Env) *fixture {
	t.Helper()
	f := &fixture{Env: e, dir: t.TempDir()}
	var err error
	if f.key, err = audit.CreateKey(filepath.Join(f.dir, "key")); err != nil {
		t.Fatal(err)
	}
	e.DB.AuditKey = f.key
	if f.checkpoints, err = chain.OpenCheckpoints(f.dir, f.key); err != nil {
		t.Fatal(err)
	}
	f.patients = e.DB.Ent.Patient.Query().Order(patient.ByID()).Limit(6).IDsX(e.As(t, "demo"))
	token := e.Token(t, "")
	for i := range 6 {
		path := fmt.Sprintf("/v1/patients/%d", f.patients[i])
		e.Patch(t, path, token, map[string]any{"patient": map[string]any{"town": fmt.Sprintf("Town %d", i), "dentist_recall_interval": i + 1}}).Status(t, 200)
		e.Get(t, path, token).Status(t, 200)
		e.Get(t, "/v1/patients?per_page=3", token).Status(t, 200)
		e.Get(t, "/v1/patients", "").Status(t, 401)
		f.seal(t)
	}
	e.Browser(t).SignIn(seed.DemoAdmin)
	f.seal(t)
	if err := f.checkpoints.Write(t.Context(), e.DB); err != nil {
		t.Fatal(err)
	}
	f.clean(t)
	return f
}

// seal seals all entries. On PostgreSQL it waits for transactions of other tests.
func (f *fixture) seal(t *testing.T) {
	t.Helper()
	f.Settle()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if _, err := chain.Seal(t.Context(), f.DB); err != nil {
			t.Fatal(err)
		}
		if r := f.verify(t); r.Unsealed == 0 {
			return
		} else if time.Now().After(deadline) {
			t.Fatalf("%d entries are not sealed", r.Unsealed)
		}
	}
}

func (f *fixture) verify(t *testing.T) *chain.Report {
	t.Helper()
	r, err := chain.Verify(t.Context(), f.DB, chain.VerifyOptions{Public: []audit.PublicKey{f.key.Public()}, Checkpoints: f.dir})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// clean fails the test if the log has problems.
func (f *fixture) clean(t *testing.T) {
	t.Helper()
	if r := f.verify(t); len(r.Problems) > 0 || r.Entries == 0 {
		t.Fatalf("%d entries, problems: %v", r.Entries, r.Problems)
	}
}

// tables are the tables of the log.
var tables = []string{"audit_events", "audit_reads", "audit_blocks", "audit_cuts"}

// save copies the tables, and restore brings the copies back.
func save(t *testing.T, db *store.DB) {
	for _, table := range tables {
		storetest.Exec(t, db, "CREATE TABLE saved_"+table+" AS SELECT * FROM "+table)
	}
}

func restore(t *testing.T, db *store.DB) {
	for _, table := range tables {
		storetest.Exec(t, db, "DELETE FROM "+table)
		storetest.Exec(t, db, "INSERT INTO "+table+" SELECT * FROM saved_"+table)
	}
	storetest.Exec(t, db, "DELETE FROM practice_deletions")
}

// tampering is what a superuser does to the log with SQL.
type tampering struct {
	name  string
	sql   []string
	place string // part of a problem
}

// tamperings returns all of them, for a log.
func tamperings(t *testing.T, db *store.DB) (all []tampering) {
	random := rand.New(rand.NewPCG(1, 2))
	ids := column(t, db, "SELECT id FROM audit_events ORDER BY id")
	pick := func() int64 { return ids[random.IntN(len(ids))] }
	add := func(name, place string, sql ...string) { all = append(all, tampering{name, sql, place}) }
	entry := func(id int64) string { return fmt.Sprintf("entry %d:", id) }
	uuid := "'0198c000-0000-7000-8000-00000000dead'"
	at := "at + interval '1 second'"
	if !storetest.Postgres(db) {
		at = "at + 1000000"
	}
	for _, c := range []struct{ column, value string }{
		{"at", at}, {"action", "CASE action WHEN 'read' THEN 'update' ELSE 'read' END"}, {"resource", "coalesce(resource, '') || 'x'"},
		{"record_id", "coalesce(record_id, '') || '1'"}, {"patient_id", "coalesce(patient_id, 0) + 1"}, {"user_id", "coalesce(user_id, 0) + 1"},
		{"token_id", uuid}, {"session_id", uuid}, {"application_id", uuid}, {"request_id", "'another'"}, {"operation", "'another'"},
		{"status", "coalesce(status, 0) + 1"}, {"fields", `'["another"]'`}, {"details", `'{"new":{"town":"Nowhere"}}'`}, {"practice_id", uuid},
	} {
		for range 4 {
			id := pick()
			add(c.column, entry(id), fmt.Sprintf("UPDATE audit_events SET %s = %s WHERE id = %d", c.column, c.value, id))
		}
	}
	for range 10 {
		id := pick()
		add("delete", entry(id), fmt.Sprintf("DELETE FROM audit_events WHERE id = %d", id))
	}
	for range 6 { // two entries change places
		a := random.IntN(len(ids) - 1)
		x, y := ids[a], ids[a+1]
		add("swap", entry(x), fmt.Sprintf("UPDATE audit_events SET id = -1 WHERE id = %d", x), fmt.Sprintf("UPDATE audit_events SET id = %d WHERE id = %d", x, y), fmt.Sprintf("UPDATE audit_events SET id = %d WHERE id = -1", y))
	}
	for range 3 {
		id := pick()
		add("forged", "is in no block", "INSERT INTO audit_events (practice_id, at, action, fields, details, xid, id) SELECT practice_id, at, action, fields, details, "+
			"xid, -7 FROM audit_events WHERE id = "+fmt.Sprint(id))
	}
	blocks := column(t, db, "SELECT id FROM audit_blocks WHERE number > 1 ORDER BY id")
	last := blocks[len(blocks)-1]
	for _, id := range blocks[:4] {
		number := storetest.Int(t, db, fmt.Sprintf("SELECT number FROM audit_blocks WHERE id = %d", id))
		block := fmt.Sprintf("block %d", number)
		add("block deleted", block, fmt.Sprintf("DELETE FROM audit_blocks WHERE id = %d", id))
		add("block hash", block, fmt.Sprintf("UPDATE audit_blocks SET hash = previous WHERE id = %d", id))
		add("block previous", block, fmt.Sprintf("UPDATE audit_blocks SET previous = hash WHERE id = %d", id))
		add("block position", block, fmt.Sprintf("UPDATE audit_blocks SET through = through - 1 WHERE id = %d", id))
		add("block floor", block, fmt.Sprintf("UPDATE audit_blocks SET floor = floor + 1 WHERE id = %d", id))
		add("block time", block, fmt.Sprintf("UPDATE audit_blocks SET at = %s WHERE id = %d", at, id))
		add("block number", "block", fmt.Sprintf("UPDATE audit_blocks SET number = number + 1000 WHERE id = %d", id))
	}
	read := int64(storetest.Int(t, db, "SELECT max(id) FROM audit_events WHERE action = 'read'"))
	add("no patients", entry(read), fmt.Sprintf(`UPDATE audit_events SET details = '{"patients": "x"}' WHERE id = %d`, read))
	if !storetest.Postgres(db) { // which keeps neither
		add("more JSON", entry(read), fmt.Sprintf("UPDATE audit_events SET details = details || ' {}' WHERE id = %d", read))
		add("no time", entry(read), fmt.Sprintf("UPDATE audit_events SET at = 'x' WHERE id = %d", read))
	}
	add("made-up deletion", entry(read), fmt.Sprintf("UPDATE audit_events SET operation = 'another' WHERE id = %d", read),
		"INSERT INTO practice_deletions (id, requested_at, due_at, kept_elsewhere, deleted_at) SELECT id, created_at, created_at, '', created_at FROM practices")
	add("made-up beginning of a deletion", entry(read), fmt.Sprintf("UPDATE audit_events SET operation = 'another' WHERE id = %d", read),
		"INSERT INTO practice_deletions (id, requested_at, due_at, kept_elsewhere, began_at) SELECT id, created_at, created_at, '', created_at FROM practices")
	if storetest.Postgres(db) { // SQLite's key is the id alone, and it has no transactions
		const twice = "INSERT INTO audit_events (id, practice_id, at, action, user_id, fields, details, xid) SELECT id, practice_id, at - interval '200 days', 'update', 5, '[]', '{}', %s FROM audit_events WHERE id = %d"
		for _, xid := range []string{"xid", "NULL"} {
			add("an id twice", entry(read)+" is there twice", fmt.Sprintf(twice, xid, read))
		}
		add("not sealed any more", entry(read)+" is in a block, but counts as not sealed",
			fmt.Sprintf("UPDATE audit_events SET xid = 9000000000 WHERE id = %d", read), fmt.Sprintf("DELETE FROM audit_reads WHERE event_id = %d", read))
	}
	add("block is the last one", "out of order", fmt.Sprintf("UPDATE audit_blocks SET id = 1000000 WHERE id = %d", blocks[0]))
	add("block is the last one of all", "counts as not sealed",
		"UPDATE audit_blocks SET id = 1000000 WHERE id = (SELECT max(id) FROM audit_blocks WHERE practice_id <> (SELECT practice_id FROM audit_blocks ORDER BY id DESC LIMIT 1))",
		"DELETE FROM audit_reads WHERE event_id > (SELECT max(id) - 4 FROM audit_events)")
	add("blocks reversed", "out of order", "UPDATE audit_blocks SET id = -id")
	add("tail", "was cut off", fmt.Sprintf("DELETE FROM audit_blocks WHERE id = %d", last))
	add("everything", "was cut off", "DELETE FROM audit_events", "DELETE FROM audit_reads", "DELETE FROM audit_blocks")
	reads := column(t, db, "SELECT id FROM audit_reads ORDER BY id")
	for range 3 {
		id := reads[random.IntN(len(reads))]
		event := int64(storetest.Int(t, db, fmt.Sprintf("SELECT event_id FROM audit_reads WHERE id = %d", id)))
		add("read deleted", entry(event), fmt.Sprintf("DELETE FROM audit_reads WHERE id = %d", id))
		add("read moved", entry(event), fmt.Sprintf("UPDATE audit_reads SET at = %s WHERE id = %d", at, id))
		add("read changed", entry(event), fmt.Sprintf("UPDATE audit_reads SET patient_id = patient_id + 100000 WHERE id = %d", id))
	}
	return all
}

func column(t *testing.T, db *store.DB, query string) (all []int64) {
	t.Helper()
	rows, err := db.SQL.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			t.Fatal(err)
		}
		all = append(all, n)
	}
	return all
}

// TestVerifyFindsEveryTampering by SQL, and names its place.
func TestVerifyFindsEveryTampering(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		f := newFixture(t, e)
		save(t, e.DB)
		all, found := tamperings(t, e.DB), 0
		for _, c := range all {
			for _, statement := range c.sql {
				storetest.Exec(t, e.DB, statement)
			}
			r := f.verify(t)
			if slices.ContainsFunc(r.Problems, func(p chain.Problem) bool { return strings.Contains(p.String(), c.place) }) {
				found++
			} else {
				t.Errorf("%s: %v: problems %v, want %q", c.name, c.sql, r.Problems, c.place)
			}
			restore(t, e.DB)
			f.clean(t)
		}
		if t.Logf("%d of %d found", found, len(all)); len(all) < 100 {
			t.Errorf("only %d tamperings", len(all))
		}
	})
}

// TestVerifyFindsARewrittenChain: a chain that is recomputed fits itself, but not the checkpoint.
func TestVerifyFindsARewrittenChain(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		f := newFixture(t, e)
		storetest.Exec(t, e.DB, "UPDATE audit_events SET user_id = 99 WHERE id = (SELECT max(id) FROM audit_events WHERE user_id IS NOT NULL)")
		storetest.Exec(t, e.DB, "DELETE FROM audit_blocks")
		if err := chain.SealRestored(t.Context(), e.DB); err != nil {
			t.Fatal(err)
		}
		without, err := chain.Verify(t.Context(), e.DB, chain.VerifyOptions{Public: []audit.PublicKey{f.key.Public()}})
		if err != nil || len(without.Problems) > 0 {
			t.Errorf("without checkpoints: %v, %v", without.Problems, err)
		}
		if r := f.verify(t); len(r.Problems) == 0 {
			t.Error("the checkpoints did not find it")
		}
	})
}

// TestPruneLeavesAVerifiableCut: a pruned log still verifies, and a missing or forged cut is found.
func TestPruneLeavesAVerifiableCut(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		f := newFixture(t, e)
		before := storetest.Int(t, e.DB, "SELECT count(*) FROM audit_events")
		ctx := context.Background()
		if n, err := chain.Prune(ctx, e.DB, f.key, time.Now().Add(time.Hour), nil); n != 0 || err != nil {
			t.Errorf("in the month of the log: %d deleted, %v", n, err)
		}
		n, err := chain.Prune(ctx, e.DB, f.key, time.Now().AddDate(0, 2, 0), nil)
		if err != nil || n == 0 || n >= before {
			t.Fatalf("%d of %d deleted: %v", n, before, err)
		}
		f.seal(t)
		f.clean(t)
		if r := f.verify(t); r.Cuts == 0 {
			t.Error("no cut")
		}
		if n, err = chain.Prune(ctx, e.DB, f.key, time.Now().Add(-time.Hour), nil); n != 0 || err != nil {
			t.Errorf("again: %d deleted, %v", n, err)
		}
		save(t, e.DB)
		storetest.Exec(t, e.DB, "DELETE FROM audit_cuts")
		if r := f.verify(t); len(r.Problems) == 0 {
			t.Error("a cut without its record was not found")
		}
		restore(t, e.DB)
		storetest.Exec(t, e.DB, "UPDATE audit_cuts SET number = number + 1")
		if r := f.verify(t); len(r.Problems) == 0 {
			t.Error("a forged cut was not found")
		}
	})
}

// TestWhoHasSeenThePatient: the API lists the reads of a patient's records, for managers.
func TestWhoHasSeenThePatient(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		f := newFixture(t, e)
		token := e.Token(t, "audit:read")
		query := url.Values{"patient_id": {fmt.Sprint(f.patients[5])}, "action": {"read"}}
		r := e.Get(t, "/v1/audit_events?"+query.Encode(), token).Status(t, 200)
		events := r.JSON["audit_events"].([]any)
		if len(events) != 2 { // by the response of the update, and by the get
			t.Fatalf("%d reads: %s", len(events), r.Raw)
		}
		details := events[1].(map[string]any)["details"].(map[string]any)
		if records := details["records"].(map[string]any)["patients"].([]any); fmt.Sprint(records...) != fmt.Sprint(f.patients[5]) {
			t.Errorf("records %v", records)
		}
		e.Get(t, "/v1/audit_events", e.Token(t, "patient")).Status(t, 403)
		r = e.Get(t, fmt.Sprintf("/v1/audit_events?patient_id=%d&action=update", f.patients[0]), token).Status(t, 200)
		change := r.JSON["audit_events"].([]any)[0].(map[string]any)
		text := fmt.Sprint(change["details"])
		if !strings.Contains(text, "dentist_recall_interval:1") || strings.Contains(text, "Town") || !strings.Contains(text, "new_hash:map[town:") {
			t.Errorf("details %s", text)
		}
	})
}
