package contract

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"chairside/ent"
	"chairside/ent/auditevent"
	"chairside/internal/principal"
	"chairside/internal/test/harness"
	"chairside/ogent"
)

// rowChange is a change of one row.
type rowChange struct {
	key, action string   // "patients 7", "update"
	columns     []string // that differ, sorted
}

// difference returns the changes between two dumps, without bookkeeping.
func difference(t testing.TB, before, after map[string]string) (all []rowChange) {
	t.Helper()
	for key, text := range after {
		if strings.HasPrefix(key, "audit_events ") || strings.HasPrefix(key, "access_tokens ") || before[key] == text {
			continue
		}
		if before[key] == "" {
			all = append(all, rowChange{key: key, action: "create"})
			continue
		}
		c := rowChange{key: key, action: "update"}
		was := strings.Split(before[key], between)
		for i, column := range strings.Split(text, between) {
			if column != was[i] {
				name, _, _ := strings.Cut(column, "=")
				c.columns = append(c.columns, name)
			}
		}
		slices.Sort(c.columns)
		all = append(all, c)
	}
	for key := range before {
		if after[key] == "" {
			all = append(all, rowChange{key: key, action: "delete"})
		}
	}
	return all
}

// changes reads the writes in the main practice's audit log, oldest first.
func changes(t testing.TB, e *harness.Env) []*ent.AuditEvent {
	t.Helper()
	rows, err := e.DB.Ent.AuditEvent.Query().Where(auditevent.ActionIn("create", "update", "delete")).Order(auditevent.ByID()).All(e.As(t, "demo"))
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// recordKey returns the key of an audit entry in a dump.
func recordKey(c *ent.AuditEvent, keys []rowChange) string {
	for _, k := range keys {
		table, id, _ := strings.Cut(k.key, " ")
		name := strings.ReplaceAll(strings.TrimSuffix(table, "s"), "_", "")
		if strings.EqualFold(name, *c.Resource) && id == *c.RecordID {
			return k.key
		}
	}
	return *c.Resource + " " + *c.RecordID
}

func ofFeedTable(c rowChange) bool { return strings.HasPrefix(c.key, "feed_changes ") }

func TestEveryChangeIsAuditedOnce(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		tokenID := column(t, e, "SELECT id FROM access_tokens WHERE practice_id = $1 ORDER BY created_at DESC", w.practice)[0]
		userID := column(t, e, "SELECT user_id FROM access_tokens WHERE id = $1", tokenID)[0]
		for n, op := range operations() {
			if !op.writes() || op.table() == "appointment_holds" { // short-lived, so not audited
				continue
			}
			e.Clock.Advance(time.Minute)
			q := w.request(op, n%7)
			q.Token = token
			before, recorded := dump(t, e, w.practice), len(changes(t, e))
			send(t, e, op, q).Status(t, op.Success)
			happened := difference(t, before, dump(t, e, w.practice))
			if len(happened) == 0 {
				t.Errorf("%s: nothing happened", op)
			}
			inFeed := slices.ContainsFunc(happened, ofFeedTable)
			if _, ok := ogent.Resources[op.table()]; ok && !inFeed {
				t.Errorf("%s: not in the change feed", op)
			}
			happened = slices.DeleteFunc(happened, ofFeedTable) // written by triggers, of rows that are audited
			rows := changes(t, e)[recorded:]
			for _, h := range happened {
				if slices.Equal(h.columns, []string{"updated_at"}) {
					continue // the patient's answers have changed and are audited
				}
				if strings.HasPrefix(h.key, "note_versions ") {
					continue // part of the change of the note
				}
				matches := slices.DeleteFunc(slices.Clone(rows), func(c *ent.AuditEvent) bool { return recordKey(c, happened) != h.key })
				if len(matches) != 1 {
					t.Errorf("%s: %s of %s is recorded %d times", op, h.action, h.key, len(matches))
					continue
				}
				c := matches[0]
				if c.Action != h.action || !c.At.Equal(e.Clock.Now()) || c.PracticeID.String() != w.practice ||
					c.UserID == nil || itoa(*c.UserID) != userID || c.TokenID == nil || c.TokenID.String() != tokenID {
					t.Errorf("%s: %s of %s is recorded as %v", op, h.action, h.key, c)
				}
				if h.action == "update" && !slices.Equal(c.Fields, h.columns) {
					t.Errorf("%s: columns %v of %s have changed, recorded are %v", op, h.columns, h.key, c.Fields)
				}
				if !slices.IsSorted(c.Fields) || (h.action == "delete") != (len(c.Fields) == 0) {
					t.Errorf("%s: %s of %s has the fields %v", op, h.action, h.key, c.Fields)
				}
			}
			if extra := len(rows) - len(happened); extra > 0 {
				t.Errorf("%s: %d rows recorded for %d changes: %v", op, len(rows), len(happened), rows)
			}
		}
	})
}

// TestUnchangedHashIsNotAudited: a sealed number's hash follows from its digits alone.
func TestUnchangedHashIsNotAudited(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		q := w.request(find(t, "createPatient"), 0)
		delete(q.Body.(map[string]any)["patient"].(map[string]any), "nhs_number")
		path := "/v1/patients/" + e.Post(t, q.Path, token, q.Body).Status(t, http.StatusCreated).Text(t, "patient.id")
		for _, step := range []struct {
			number any
			want   []string
		}{
			{"unknown", []string{"nhs_number"}}, // no digits, so no hash
			{nil, []string{"nhs_number"}},
			{"943 476 5919", []string{"nhs_number", "nhs_number_hash", "search_text"}},
			{"9434765919", []string{"nhs_number"}},
			{"943 476 5919", []string{"nhs_number"}},
			{"401 023 2137", []string{"nhs_number", "nhs_number_hash", "search_text"}},
			{"unknown", []string{"nhs_number", "nhs_number_hash", "search_text"}},
			{"401 023 2137", []string{"nhs_number", "nhs_number_hash", "search_text"}},
			{nil, []string{"nhs_number", "nhs_number_hash", "search_text"}},
		} {
			e.Clock.Advance(time.Minute)
			before := dump(t, e, w.practice)
			e.Patch(t, path, token, map[string]any{"patient": map[string]any{"nhs_number": step.number}}).Status(t, http.StatusOK)
			happened := slices.DeleteFunc(difference(t, before, dump(t, e, w.practice)), ofFeedTable)
			rows := changes(t, e)
			got, want := rows[len(rows)-1].Fields, append(step.want, "updated_at")
			if len(happened) != 1 || !slices.Equal(happened[0].columns, want) || !slices.Equal(got, want) {
				t.Errorf("nhs_number %v: %v has changed, recorded are %v, want %v", step.number, happened, got, want)
			}
		}
	})
}

// TestRepeatedWritesChangeNothing sends every write twice. The second changes nothing,
// not even updated_at, and leaves no audit entry.
func TestRepeatedWritesChangeNothing(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		for n, op := range operations() {
			if !op.writes() || op.Method == http.MethodPost {
				continue
			}
			q := w.request(op, n%7)
			q.Token = token
			send(t, e, op, q).Status(t, op.Success)
			e.Clock.Advance(time.Minute)
			before := dump(t, e, w.practice)
			send(t, e, op, q)
			compare(t, before, dump(t, e, w.practice))
		}
	})
}

func TestRefusedWritesLeaveNoTrace(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token, reader := loadWorld(t, e, "demo"), e.Token(t, ""), e.Token(t, "patient:read appointment:read treatments:read")
		booked := w.request(find(t, "createAppointment"), 0)
		e.Post(t, booked.Path, token, booked.Body).Status(t, http.StatusCreated)
		before := dump(t, e, w.practice)
		for _, op := range operations() {
			if !op.writes() {
				continue
			}
			for name, corrupt := range map[string]func(q *harness.Request){
				"token":    func(q *harness.Request) { q.Token = "" },
				"scope":    func(q *harness.Request) { q.Token = reader },
				"If-Match": func(q *harness.Request) { q.Header = map[string]string{"If-Match": `"other"`} },
				"path":     func(q *harness.Request) { q.Path += "0000000" },
				"body":     func(q *harness.Request) { q.Body = "{" },
				"conflict": func(q *harness.Request) {
					if members, ok := q.Body.(map[string]any)["appointment"].(map[string]any); ok {
						members["force_changes"] = false
					}
				},
				"last member": func(q *harness.Request) {
					last := op.Body.Fields[len(op.Body.Fields)-1].Name
					q.Body.(map[string]any)[op.Body.Key].(map[string]any)[last] = "nonsense"
				},
			} {
				withBody := name == "body" || name == "last member" || name == "conflict"
				if withBody && op.Body == nil || name == "conflict" && op.Body.Key != "appointment" || name == "If-Match" && !op.one() {
					continue
				}
				q := w.request(op, 0)
				q.Token = token
				corrupt(&q)
				do := send
				if name == "path" { // another path, so another operation's document
					do = func(t testing.TB, e *harness.Env, _ operation, q harness.Request) *harness.Response {
						return e.Do(t, q)
					}
				}
				if r := do(t, e, op, q); r.Code < 400 {
					t.Errorf("%s with a wrong %s: status %d", op, name, r.Code)
				}
			}
		}
		compare(t, before, dump(t, e, w.practice))
	})
}

// TestChangeAndAuditEntryShareATransaction: neither exists without the other.
func TestChangeAndAuditEntryShareATransaction(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		before := dump(t, e, w.practice)
		ctx, enough := e.As(t, "demo"), errors.New("enough")
		err := e.DB.Tx(ctx, func(tx *ent.Client) error {
			if err := tx.AcquisitionSource.Create().SetName("Poster").Exec(ctx); err != nil {
				return err
			}
			if n, err := tx.AuditEvent.Query().Count(ctx); err != nil || n == 0 {
				t.Errorf("%d changes inside the transaction, %v", n, err)
			}
			return enough
		})
		if !errors.Is(err, enough) {
			t.Fatal(err)
		}
		compare(t, before, dump(t, e, w.practice))

		// Without the audit table nothing can be written.
		execute(t, e, "ALTER TABLE audit_events RENAME TO audit_events_away")
		for _, op := range operations() {
			if !op.writes() || op.table() == "appointment_holds" { // short-lived, so not audited
				continue
			}
			q := w.request(op, 0)
			q.Token = token
			r := e.Do(t, q)
			check(t, op, q, r)
			r.Error(t, http.StatusInternalServerError, "internal")
		}
		execute(t, e, "ALTER TABLE audit_events_away RENAME TO audit_events")
		compare(t, before, dump(t, e, w.practice))
	})
}

// TestWritesOutsideATransactionAreRefused, for the program's own code.
func TestWritesOutsideATransactionAreRefused(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w := loadWorld(t, e, "demo")
		before := dump(t, e, w.practice)
		if err := e.DB.Ent.AcquisitionSource.Create().SetName("Poster").Exec(e.As(t, "demo")); err == nil {
			t.Error("a write without a transaction is not refused")
		}
		compare(t, before, dump(t, e, w.practice))
	})
}

// TestAuditEntriesHoldNoValues searches for a write's values in its entry.
func TestAuditEntriesHoldNoValues(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		op := find(t, "createPatient")
		q := w.request(op, 0)
		q.Token = token
		members := q.Body.(map[string]any)["patient"].(map[string]any)
		for _, f := range op.Body.Fields {
			if f.Kind == "text" {
				members[f.Name] = "Qanary " + f.Name
			}
		}
		send(t, e, op, q).Status(t, http.StatusCreated)
		for key, row := range dump(t, e, w.practice) {
			if strings.HasPrefix(key, "audit_events ") && strings.Contains(row, "Qanary") {
				t.Errorf("%s: %s", key, row)
			}
		}
	})
}

// TestSystemWorkIsAudited, such as the command line's: without a user or a token, for
// the row's practice.
func TestSystemWorkIsAudited(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		ctx := principal.AsSystem(t.Context())
		practice, err := e.DB.Ent.Practice.Query().First(ctx)
		if err != nil {
			t.Fatal(err)
		}
		e.Tx(t, ctx, func(tx *ent.Client) error {
			row, err := tx.AppointmentReason.Create().SetPracticeID(practice.ID).SetReason("Whitening").SetPosition(1).Save(ctx)
			if err != nil {
				return err
			}
			return tx.AppointmentReason.UpdateOne(row).SetExam(true).Exec(ctx)
		})
		rows, err := e.DB.Ent.AuditEvent.Query().Where(auditevent.Resource(ent.TypeAppointmentReason)).Order(auditevent.ByID()).All(ctx)
		if err != nil {
			t.Fatal(err)
		}
		var actions []string
		for _, c := range rows {
			actions = append(actions, c.Action)
			if c.PracticeID != practice.ID || c.UserID != nil || c.TokenID != nil {
				t.Errorf("recorded as %v", c)
			}
		}
		if !slices.Equal(actions, []string{"create", "update"}) {
			t.Errorf("recorded are %v", actions)
		}
	})
}
