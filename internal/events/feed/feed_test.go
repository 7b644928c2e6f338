package feed_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/patient"
	"chairside/ent/paymentplan"
	"chairside/ent/site"
	"chairside/ent/user"
	"chairside/internal/seed"
	"chairside/internal/store/feedlog"
	"chairside/internal/store/storetest"
	"chairside/internal/test/harness"
	"chairside/ogent"
)

func TestMain(m *testing.M) { harness.Main(m) }

type change struct {
	Resource, Event string
	ID              any
	Version         int64
	ChangedAt       time.Time `json:"changed_at"`
	Record          map[string]any
}

type page struct {
	Changes []change
	Meta    struct {
		Cursor string
		More   bool
	}
}

// events are the changes of a page, shortly: "patients created".
func (p page) events() (all []string) {
	for _, c := range p.Changes {
		all = append(all, c.Resource+" "+c.Event)
	}
	return all
}

// changes gets a page.
func changes(t *testing.T, e *harness.Env, token, cursor, query string) (p page) {
	t.Helper()
	r := e.Get(t, "/v1/changes?"+query+"&cursor="+url.QueryEscape(cursor), token).Status(t, 200)
	if err := json.Unmarshal(r.Raw, &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// end is the cursor of the current end.
func end(t *testing.T, e *harness.Env, token string) string {
	t.Helper()
	var p page
	if err := json.Unmarshal(e.Get(t, "/v1/changes", token).Status(t, 200).Raw, &p); err != nil {
		t.Fatal(err)
	}
	if p.Changes == nil || len(p.Changes) > 0 || p.Meta.Cursor == "" || p.Meta.More {
		t.Fatalf("without a cursor: %+v", p)
	}
	return p.Meta.Cursor
}

// ada is a new patient's body.
func ada(t *testing.T, e *harness.Env) json.RawMessage {
	t.Helper()
	plan, err := e.DB.Ent.PaymentPlan.Query().Where(paymentplan.Active(true)).Order(paymentplan.ByID()).FirstID(e.As(t, "demo"))
	if err != nil {
		t.Fatal(err)
	}
	return json.RawMessage(fmt.Sprintf(adasBody, plan))
}

const adasBody = `{"patient": {"payment_plan_id": %d, "title": "Dr", "first_name": "Ada", "last_name": "Feed", "date_of_birth": "1990-01-02", "gender": false, "ethnicity": "A", "address_line_1": "1 High Street", "postcode": "BA1 1AA"}}`

func TestFeedHasEveryWriter(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		cursor := end(t, e, token)
		id := e.Post(t, "/v1/patients", token, ada(t, e)).Status(t, 201).Text(t, "patient.id")
		path := "/v1/patients/" + id
		e.Patch(t, path, token, json.RawMessage(`{"patient": {"last_name": "Fed"}}`)).Status(t, 200)
		p := changes(t, e, token, cursor, "include=record")
		if got := p.events(); !slices.Equal(got, []string{"patients created", "accounts created", "patients updated"}) && !slices.Equal(got, []string{"accounts created", "patients created", "patients updated"}) {
			t.Errorf("changes: %v", got)
		}
		last := p.Changes[len(p.Changes)-1]
		if last.Record["last_name"] != "Fed" || fmt.Sprint(last.ID) != id || last.ChangedAt.IsZero() {
			t.Errorf("the last change is %+v", last)
		}
		cursor = p.Meta.Cursor

		// By hand: an update, bookkeeping alone, and a deleted row.
		storetest.Exec(t, e.DB, "UPDATE patients SET first_name = 'Eda' WHERE id = "+id)
		storetest.Exec(t, e.DB, "UPDATE users SET last_login = created_at, totp_step = 7, updated_at = created_at")
		storetest.Exec(t, e.DB, "DELETE FROM treatment_categories WHERE id = (SELECT max(id) FROM treatment_categories WHERE id NOT IN (SELECT treatment_category_id FROM treatments WHERE treatment_category_id IS NOT NULL) AND practice_id = (SELECT practice_id FROM patients WHERE id = "+id+"))")
		storetest.Exec(t, e.DB, "UPDATE users SET first_name = 'Una' WHERE email = '"+seed.DemoAdmin+"'")
		p = changes(t, e, token, cursor, "include=record")
		got := slices.DeleteFunc(p.events(), func(s string) bool { return s == "treatment_categories deleted" })
		if !slices.Equal(got, []string{"patients updated", "users updated"}) {
			t.Errorf("changes by hand: %v", p.events())
		}
		if again := changes(t, e, token, p.Meta.Cursor, ""); len(again.Changes) != 0 || again.Meta.Cursor != p.Meta.Cursor {
			t.Errorf("behind the end: %+v", again)
		}
	})
}

func TestFeedPages(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		cursor := end(t, e, token)
		storetest.Exec(t, e.DB, "UPDATE patients SET middle_name = 'x'")
		all := changes(t, e, token, cursor, "limit=1000")
		var read []change
		for {
			p := changes(t, e, token, cursor, "limit=7&resources=patients,fees")
			read, cursor = append(read, p.Changes...), p.Meta.Cursor
			if !p.Meta.More {
				break
			}
		}
		if fmt.Sprint(read) != fmt.Sprint(all.Changes) || len(read) < 50 {
			t.Errorf("%d changes in pages, %d at once", len(read), len(all.Changes))
		}
		for i, c := range read[1:] {
			if c.Version <= read[i].Version {
				t.Errorf("version %d follows %d", c.Version, read[i].Version)
			}
		}
	})
}

func TestFeedShowsOnlyWhatTheTokenMayRead(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		all, patients := e.Token(t, ""), e.Token(t, "patient:read")
		cursor := end(t, e, all)
		storetest.Exec(t, e.DB, "UPDATE patients SET middle_name = 'x'; UPDATE sites SET nickname = 'y'; UPDATE fees SET duration_one = 35")
		for _, c := range changes(t, e, patients, cursor, "limit=1000").Changes {
			if c.Resource != "patients" {
				t.Errorf("a token for patients sees %+v", c)
			}
		}
		e.Get(t, "/v1/changes?resources=patients,fees", patients).Error(t, 403, "insufficient_scope")
		e.Get(t, "/v1/snapshot?resources=fees", patients).Error(t, 403, "insufficient_scope")

		// The other practice's changes are its own.
		second := e.TokenOf(t, seed.SecondAdmin, "", nil)
		var sites []any
		for _, c := range changes(t, e, all, cursor, "limit=1000&resources=sites").Changes {
			sites = append(sites, c.ID)
		}
		for _, c := range changes(t, e, second, cursor, "limit=1000&resources=sites").Changes {
			if slices.Contains(sites, c.ID) {
				t.Errorf("both practices see the site %v", c.ID)
			}
		}
		if len(sites) == 0 {
			t.Error("no sites changed")
		}
	})
}

func TestFeedOfASite(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		ctx := e.As(t, "demo")
		sites, err := e.DB.Ent.Site.Query().Order(site.ByID()).All(ctx)
		if err != nil || len(sites) < 2 {
			t.Fatalf("%d sites, %v", len(sites), err)
		}
		tokens := map[uuid.UUID]string{}
		for _, s := range sites[:2] {
			tokens[s.ID] = e.TokenOf(t, seed.DemoAdmin, "", &s.ID)
		}
		cursor := end(t, e, e.Token(t, ""))
		rooms := map[uuid.UUID]string{}
		e.Tx(t, ctx, func(tx *ent.Client) error {
			for _, s := range sites[:2] {
				r, err := tx.Room.Create().SetName("Feed").SetSiteID(s.ID).Save(ctx)
				if err != nil {
					return err
				}
				rooms[s.ID] = r.ID.String()
			}
			return nil
		})
		saw := func(at uuid.UUID, event string) (ids []any) {
			for _, c := range changes(t, e, tokens[at], cursor, "resources=rooms").Changes {
				if c.Event == event {
					ids = append(ids, c.ID)
				}
			}
			return ids
		}
		for at, room := range rooms {
			if ids := saw(at, "created"); len(ids) != 1 || ids[0] != room {
				t.Errorf("created rooms %v, want %s", ids, room)
			}
		}
		storetest.Exec(t, e.DB, "DELETE FROM rooms WHERE name = 'Feed'")
		for at, room := range rooms {
			if ids := saw(at, "deleted"); len(ids) != 1 || ids[0] != room {
				t.Errorf("deleted rooms %v, want %s", ids, room)
			}
			if ids := saw(at, "created"); len(ids) != 0 {
				t.Errorf("created rooms %v after they are gone", ids)
			}
		}
	})
}

// TestFeedOfRecordsThatMove: a record that leaves a site is deleted there. What belongs to a
// patient has no change of its own when the patient moves, so cursors expire.
func TestFeedOfRecordsThatMove(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		ctx := e.As(t, "demo")
		sites, err := e.DB.Ent.Site.Query().Order(site.ByID()).All(ctx)
		if err != nil || len(sites) < 2 {
			t.Fatalf("%d sites, %v", len(sites), err)
		}
		from, to := sites[0].ID, sites[1].ID
		left, joined := e.TokenOf(t, seed.DemoAdmin, "", &from), e.TokenOf(t, seed.DemoAdmin, "", &to)
		var room *ent.Room
		e.Tx(t, ctx, func(tx *ent.Client) (err error) {
			room, err = tx.Room.Create().SetName("Feed").SetSiteID(from).Save(ctx)
			return err
		})
		p := e.DB.Ent.Patient.Query().Where(patient.SiteID(from)).FirstX(ctx)
		cursor := end(t, e, e.Token(t, ""))
		events := func(token, resource string) string {
			t.Helper()
			var text []string
			for _, c := range changes(t, e, token, cursor, "resources="+resource).Changes {
				text = append(text, fmt.Sprintf("%s %v", c.Event, c.ID))
			}
			return strings.Join(text, ", ")
		}
		storetest.Exec(t, e.DB, fmt.Sprintf("UPDATE rooms SET site_id = '%s' WHERE id = '%s'", to, room.ID))
		if got, want := events(left, "rooms"), "deleted "+room.ID.String(); got != want {
			t.Errorf("the site that it left sees %q, want %q", got, want)
		}
		if got, want := events(joined, "rooms"), "updated "+room.ID.String(); got != want {
			t.Errorf("the site that it came to sees %q, want %q", got, want)
		}

		staff := e.DB.Ent.User.Query().Where(user.SiteID(from)).FirstX(ctx)
		for resource, id := range map[string]int64{"patients": p.ID, "users": staff.ID} {
			storetest.Exec(t, e.DB, fmt.Sprintf("UPDATE %s SET site_id = '%s' WHERE id = %d", resource, to, id))
			if got, want := events(left, resource), fmt.Sprintf("deleted %d", id); got != want {
				t.Errorf("the site that one of the %s left sees %q, want %q", resource, got, want)
			}
			if got, want := events(joined, resource), fmt.Sprintf("updated %d", id); got != want {
				t.Errorf("the site that one of the %s came to sees %q, want %q", resource, got, want)
			}
		}
		for _, token := range []string{left, joined} {
			e.Get(t, "/v1/changes?resources=notes&cursor="+url.QueryEscape(cursor), token).Error(t, 410, "cursor_expired")
			if got := changes(t, e, token, end(t, e, token), "resources=notes").Changes; len(got) > 0 {
				t.Errorf("a new cursor has %v", got)
			}
		}
		changes(t, e, e.Token(t, ""), cursor, "resources=notes") // a token of all sites goes on
	})
}

func TestFeedRefusesCursors(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		cursor := end(t, e, token)
		get := func(cursor string) *harness.Response {
			return e.Get(t, "/v1/changes?cursor="+url.QueryEscape(cursor), token)
		}
		for _, malformed := range []string{"x", "%%%", cursor + "A", cursor[:len(cursor)-1], strings.ToUpper(cursor), "AAAAAAAAAAAAAAAAAAAAAAAAAAAA"} {
			get(malformed).Error(t, 400, "invalid_parameter", "cursor")
		}
		e.Get(t, "/v1/changes?wait=-1", token).Error(t, 400, "invalid_parameter", "wait")
		e.Get(t, "/v1/changes?limit=0", token).Error(t, 400, "invalid_parameter", "limit")
		e.Get(t, "/v1/changes?resources=sessions", token).Error(t, 400, "invalid_parameter", "resources")
		e.Post(t, "/v1/changes", token, json.RawMessage("{}")).Status(t, 405)
		get(cursor).Status(t, 200)

		storetest.Exec(t, e.DB, "UPDATE patients SET middle_name = 'x'")
		if got := changes(t, e, token, cursor, "limit=1000"); len(got.Changes) == 0 {
			t.Error("no changes")
		}
		if err := feedlog.Sweep(t.Context(), e.DB.SQL, time.Hour); err != nil {
			t.Fatal(err)
		}
		get(cursor).Status(t, 200) // nothing is that old
		if err := feedlog.Sweep(t.Context(), e.DB.SQL, -time.Hour); err != nil {
			t.Fatal(err)
		}
		get(cursor).Error(t, 410, "cursor_expired")
		fresh := end(t, e, token)
		get(fresh).Status(t, 200)
		storetest.Exec(t, e.DB, feedlog.RenewEpoch(e.DB.Dialect))
		get(fresh).Error(t, 410, "cursor_expired")
	})
}

// TestCopiesExpireCursors: cursors of a database are worthless for its copy.
func TestCopiesExpireCursors(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		cursor := end(t, e, token)
		var other *harness.Env
		if storetest.Postgres(e.DB) {
			other = harness.Start(t, harness.Postgres(t), harness.Patient)
			token = other.Token(t, "")
		} else {
			copied := t.TempDir() + "/copy.db"
			if err := e.DB.Backup(t.Context(), copied); err != nil {
				t.Fatal(err)
			}
			other = harness.Start(t, "sqlite:"+copied, harness.Patient)
		}
		other.Get(t, "/v1/changes?cursor="+cursor, token).Error(t, 410, "cursor_expired")
		if storetest.Postgres(e.DB) {
			return
		}
		content, err := os.ReadFile(e.DB.File)
		if err != nil {
			t.Fatal(err)
		}
		moved := t.TempDir() + "/moved.db"
		if err := os.WriteFile(moved, content, 0o600); err != nil {
			t.Fatal(err)
		}
		other = harness.Start(t, "sqlite:"+moved, harness.Patient)
		other.Get(t, "/v1/changes?cursor="+cursor, other.Token(t, "")).Error(t, 410, "cursor_expired")
	})
}

func TestFeedWaits(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		cursor := end(t, e, token)
		if p := changes(t, e, token, cursor, "wait=1"); len(p.Changes) != 0 || p.Meta.Cursor == "" {
			t.Errorf("nothing changed, but: %+v", p)
		}
		waited := make(chan page, 20)
		for range cap(waited) {
			go func() { waited <- changes(t, e, token, cursor, "wait=30&resources=patients") }()
		}
		time.Sleep(300 * time.Millisecond)                         // so that callers wait; one that comes later passes too
		storetest.Exec(t, e.DB, "UPDATE sites SET nickname = 'y'") // callers wake up, and wait again
		storetest.Exec(t, e.DB, "UPDATE patients SET middle_name = 'x' WHERE id = (SELECT min(id) FROM patients)")
		for range cap(waited) {
			if p := <-waited; len(p.Changes) != 1 {
				t.Errorf("waited for %+v", p)
			}
		}
	})
}

// snapshot is the lines of a snapshot.
func snapshot(t *testing.T, e *harness.Env, token, query string) (cursor string, records map[string]map[string]json.RawMessage) {
	t.Helper()
	r := e.Get(t, "/v1/snapshot?"+query, token).Status(t, 200)
	records = map[string]map[string]json.RawMessage{}
	lines := bytes.Split(bytes.TrimSpace(r.Raw), []byte("\n"))
	count := 0
	for i, text := range lines {
		var line struct {
			Cursor, Resource string
			Record           json.RawMessage
			End              bool
			Count            int
		}
		if err := json.Unmarshal(text, &line); err != nil {
			t.Fatalf("line %d: %v", i, err)
		}
		switch {
		case i == 0:
			cursor = line.Cursor
		case i == len(lines)-1:
			if !line.End || line.Count != count {
				t.Errorf("last line %s after %d records", text, count)
			}
		default:
			var record struct{ ID json.RawMessage }
			if err := json.Unmarshal(line.Record, &record); err != nil {
				t.Fatal(err)
			}
			if records[line.Resource] == nil {
				records[line.Resource] = map[string]json.RawMessage{}
			}
			records[line.Resource][string(record.ID)] = line.Record
			count++
		}
	}
	if cursor == "" || r.Header.Get("Content-Type") != "application/x-ndjson" {
		t.Errorf("cursor %q, type %q", cursor, r.Header.Get("Content-Type"))
	}
	return cursor, records
}

// TestSnapshotAndFeedEqualTheDatabase: a client that applies changes to a snapshot has what a
// later snapshot has.
func TestSnapshotAndFeedEqualTheDatabase(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		cursor, have := snapshot(t, e, token, "")
		for name := range ogent.Resources {
			if len(have[name]) == 0 && name != "contracts" {
				t.Logf("no records of %s", name)
			}
		}
		e.Post(t, "/v1/patients", token, ada(t, e)).Status(t, 201)
		for _, statement := range []string{
			"UPDATE patients SET middle_name = 'x' WHERE id IN (SELECT id FROM patients ORDER BY id LIMIT 20)",
			"UPDATE payments SET method = 'Cash' WHERE id IN (SELECT id FROM payments ORDER BY id LIMIT 5)",
			"DELETE FROM payment_explanations WHERE id IN (SELECT id FROM payment_explanations ORDER BY id LIMIT 7)",
			"DELETE FROM custom_field_answers WHERE id IN (SELECT id FROM custom_field_answers ORDER BY id LIMIT 9)",
			"UPDATE custom_field_answers SET value = '7' WHERE id IN (SELECT id FROM custom_field_answers ORDER BY id LIMIT 9)",
			"UPDATE fees SET duration_one = 35",
			"DELETE FROM appointments WHERE id IN (SELECT id FROM appointments ORDER BY id LIMIT 9)",
		} {
			storetest.Exec(t, e.DB, statement)
		}
		for more := true; more; {
			var p struct {
				Changes []struct {
					Resource string
					ID       json.RawMessage
					Record   json.RawMessage
				}
				Meta struct {
					Cursor string
					More   bool
				}
			}
			r := e.Get(t, "/v1/changes?limit=30&include=record&cursor="+cursor, token).Status(t, 200)
			if err := json.Unmarshal(r.Raw, &p); err != nil {
				t.Fatal(err)
			}
			for _, c := range p.Changes {
				if string(c.Record) == "null" {
					delete(have[c.Resource], string(c.ID))
				} else {
					have[c.Resource][string(c.ID)] = c.Record
				}
			}
			cursor, more = p.Meta.Cursor, p.Meta.More
		}
		_, want := snapshot(t, e, token, "")
		for resource, records := range want {
			for id, record := range records {
				if string(have[resource][id]) != string(record) {
					t.Errorf("%s %s:\n have %s\n want %s", resource, id, have[resource][id], record)
				}
			}
			if len(have[resource]) != len(records) {
				t.Errorf("%d %s, want %d", len(have[resource]), resource, len(records))
			}
		}
	})
}

func TestSnapshotIsConfined(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		_, records := snapshot(t, e, e.Token(t, "patient:read"), "")
		if len(records["patients"]) < 10 || records["appointments"] != nil {
			t.Errorf("%d patients, %d appointments", len(records["patients"]), len(records["appointments"]))
		}
		_, others := snapshot(t, e, e.TokenOf(t, seed.SecondAdmin, "", nil), "resources=patients")
		for id := range others["patients"] {
			if records["patients"][id] != nil {
				t.Errorf("both practices have patient %s", id)
			}
		}
		e.Settle()
		if log := e.Log.String(); !strings.Contains(log, `"operation":"getSnapshot"`) || !strings.Contains(log, "patient data read") {
			t.Error("the snapshot is not in the access log")
		}
	})
}
