package sealing_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"chairside/ent"
	"chairside/ent/noteversion"
	"chairside/ent/webhook"
	"chairside/internal/dump"
	"chairside/internal/seal"
	"chairside/internal/server"
	"chairside/internal/store"
	"chairside/internal/store/sealing"
	"chairside/internal/store/storetest"
	"chairside/internal/test/harness"
	"chairside/internal/test/testkeys"
)

func TestMain(m *testing.M) { harness.Main(m) }

// each runs test on both databases, with their keys in a file. url is the database.
func each(t *testing.T, test func(t *testing.T, e *harness.Env, keys, url string)) {
	t.Helper()
	t.Parallel()
	for name, database := range map[string]func(testing.TB) string{"sqlite": harness.SQLite, "postgres": harness.Postgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, file := database(t), filepath.Join(t.TempDir(), "test.keys")
			if err := os.WriteFile(file, []byte(testkeys.Text), 0o600); err != nil { // the rows have values already
				t.Fatal(err)
			}
			test(t, harness.Start(t, url, harness.Patient, func(o *server.Options) { o.DB.Keys = load(t, file) }), file, url)
		})
	}
}

func load(t *testing.T, file string) *seal.Keys {
	t.Helper()
	keys, err := seal.File(file, false)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// hooks replaces the demo's webhook by n webhooks whose secrets are secret-0, secret-1 and so on.
func hooks(t *testing.T, e *harness.Env, n int) (all []*ent.Webhook) {
	t.Helper()
	storetest.Exec(t, e.DB, "DELETE FROM webhooks")
	ctx := e.As(t, "demo")
	err := e.DB.Tx(ctx, func(tx *ent.Client) error {
		for i := range n {
			w, err := tx.Webhook.Create().SetURL("https://example.com").SetEvents([]string{"*"}).SetSecret(seal.Plain(fmt.Sprintf("secret-%d", i))).Save(ctx)
			if err != nil {
				return err
			}
			all = append(all, w)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// secrets opens the secrets of all webhooks.
func secrets(ctx context.Context, db *store.DB) (open []string, err error) {
	rows, err := db.Ent.Webhook.Query().Order(webhook.ByID()).All(ctx)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		secret, err := row.OpenSecret(db.Keys)
		if err != nil {
			return open, err
		}
		open = append(open, secret)
	}
	return open, nil
}

// TestDatabaseHoldsNoPlainSecret: neither Ent nor SQL can store one.
func TestDatabaseHoldsNoPlainSecret(t *testing.T) {
	each(t, func(t *testing.T, e *harness.Env, _, _ string) {
		w := hooks(t, e, 1)[0]
		var stored string
		if err := e.DB.SQL.QueryRowContext(t.Context(), "SELECT secret FROM webhooks WHERE id = $1", w.ID).Scan(&stored); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(stored, "sealed:") || strings.Contains(stored, "secret-0") {
			t.Errorf("stored %q", stored)
		}
		if _, err := e.DB.SQL.ExecContext(t.Context(), "UPDATE webhooks SET secret = 'secret-0'"); err == nil {
			t.Error("the database took a plain text")
		}
		if _, err := e.DB.SQL.ExecContext(t.Context(), "UPDATE users SET totp_secret = 'JBSWY3DP'"); err == nil {
			t.Error("the database took a plain text")
		}
		ctx := e.As(t, "demo")
		err := e.DB.Tx(ctx, func(tx *ent.Client) error {
			return tx.Webhook.Update().Where(webhook.ID(w.ID)).SetSecret(seal.Plain("x")).Exec(ctx)
		})
		if err == nil {
			t.Error("an update of many rows sealed one value for all")
		}
	})
}

func TestMovedValueDoesNotOpen(t *testing.T) {
	each(t, func(t *testing.T, e *harness.Env, _, _ string) {
		all := hooks(t, e, 2)
		storetest.Exec(t, e.DB, "UPDATE webhooks SET secret = (SELECT o.secret FROM webhooks AS o WHERE o.id = $1)", all[0].ID)
		if open, err := secrets(e.As(t, "demo"), e.DB); !errors.Is(err, seal.ErrMoved) || len(open) != 1 {
			t.Errorf("opened %q, %v", open, err)
		}
	})
}

// TestResealWhileServersWrite rotates while another process with its own Keys replaces secrets.
func TestResealWhileServersWrite(t *testing.T) {
	each(t, func(t *testing.T, e *harness.Env, file, url string) {
		const n = 1200 // more than two batches
		all := hooks(t, e, n)
		want, err := secrets(e.As(t, "demo"), e.DB)
		if err != nil {
			t.Fatal(err)
		}
		admin := storetest.Open(t, url)
		admin.Keys = load(t, file)
		added, err := admin.Keys.Add()
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() {
			ctx := e.As(t, "demo")
			for i := 0; i < n; i += 100 {
				secret := fmt.Sprintf("replaced-%d", i)
				for at, w := range want {
					if w == fmt.Sprintf("secret-%d", i) {
						want[at] = secret
					}
				}
				if err := e.DB.Tx(ctx, func(tx *ent.Client) error {
					return tx.Webhook.UpdateOne(all[i]).SetSecret(seal.Plain(secret)).Exec(ctx)
				}); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
		if _, err := sealing.Reseal(t.Context(), admin); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if _, err := sealing.Reseal(t.Context(), admin); err != nil { // what was written meanwhile
			t.Fatal(err)
		}
		uses, err := sealing.Uses(t.Context(), e.DB)
		if err != nil || !slices.Contains(uses, sealing.Use{Table: "webhooks", Column: "secret", Key: added, Values: n}) || !onlyKey(uses, added) {
			t.Errorf("uses %+v, %v", uses, err)
		}
		if got, err := secrets(e.As(t, "demo"), e.DB); err != nil || strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("the secrets have changed: %v", err)
		}
	})
}

// onlyKey reports whether one key sealed all values.
func onlyKey(uses []sealing.Use, key seal.KeyID) bool {
	return !slices.ContainsFunc(uses, func(u sealing.Use) bool { return u.Key != key })
}

// TestRotationOfRecords rotates, interrupted and continued, while clients change patients and notes:
// each has its own text afterwards, also for a reader that has only the new key, and the change feed
// has only the clients' changes.
func TestRotationOfRecords(t *testing.T) {
	each(t, func(t *testing.T, e *harness.Env, file, url string) {
		ctx, token := e.As(t, "demo"), e.Token(t, "")
		patients := e.DB.Ent.Patient.Query().Limit(40).IDsX(ctx)
		note := e.Post(t, "/v1/notes", token, map[string]any{"note": map[string]any{"patient_id": patients[0], "body": "0"}}).Status(t, 201).Text(t, "note.id")
		before := string(e.Get(t, "/v1/patients"+harness.ID(patients[len(patients)-1]), token).Status(t, 200).Raw)
		feed := storetest.Int(t, e.DB, "SELECT count(*) FROM feed_changes")
		admin := storetest.Open(t, url)
		admin.Keys = load(t, file)
		added, err := admin.Keys.Add()
		if err != nil {
			t.Fatal(err)
		}
		written := make(chan int, 1)
		go func() {
			n := 0
			defer func() { written <- n }()
			for i, id := range patients[:len(patients)-1] {
				e.Clock.Advance(time.Millisecond) // a change of the text and the key shows by its time
				e.Patch(t, "/v1/patients"+harness.ID(id), token, map[string]any{"patient": map[string]any{"ni_number": fmt.Sprint("NI ", id)}}).Status(t, 200)
				e.Patch(t, "/v1/notes/"+note, token, map[string]any{"note": map[string]any{"body": fmt.Sprint(i + 1)}}).Status(t, 200)
				n += 2
			}
		}()
		interrupted, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
		_, _ = sealing.Reseal(interrupted, admin) // however far it comes
		stop()
		if _, err := sealing.Reseal(t.Context(), admin); err != nil {
			t.Fatal(err)
		}
		n := <-written
		if _, err := sealing.Reseal(t.Context(), admin); err != nil { // what was written meanwhile
			t.Fatal(err)
		}
		if uses, err := sealing.Uses(t.Context(), e.DB); err != nil || !onlyKey(uses, added) {
			t.Errorf("uses %+v, %v", uses, err)
		}
		for _, id := range admin.Keys.IDs()[1:] {
			if err := admin.Keys.Remove(id); err != nil {
				t.Fatal(err)
			}
		}
		if got := storetest.Int(t, e.DB, "SELECT count(*) FROM feed_changes") - feed; got != n {
			t.Errorf("%d entries of the change feed for %d changes", got, n)
		}
		other := harness.Start(t, url, harness.Patient, func(o *server.Options) { o.DB.Keys = load(t, file) })
		for _, id := range patients[:len(patients)-1] {
			if got := other.Get(t, "/v1/patients"+harness.ID(id), token).Status(t, 200).Text(t, "patient.ni_number"); got != fmt.Sprint("NI ", id) {
				t.Errorf("patient %d has %q", id, got)
			}
		}
		if got := string(other.Get(t, "/v1/patients"+harness.ID(patients[len(patients)-1]), token).Raw); got != strings.ReplaceAll(before, e.URL, other.URL) {
			t.Errorf("a patient that no client changed is\n%s, was\n%s", got, before)
		}
		if got := other.Get(t, "/v1/notes/"+note, token).Text(t, "note.body"); got != fmt.Sprint(n/2) {
			t.Errorf("the note is %q", got)
		}
		versions := other.DB.Ent.NoteVersion.Query().Where(noteversion.NoteID(mustInt(t, note))).Order(noteversion.ByID()).AllX(ctx)
		if len(versions) != n/2 {
			t.Fatalf("%d earlier texts, want %d", len(versions), n/2)
		}
		for i, v := range versions {
			if text, err := v.OpenBody(other.DB.Keys); text != fmt.Sprint(i) || err != nil {
				t.Errorf("earlier text %d is %q, %v", i, text, err)
			}
		}
	})
}

func mustInt(t *testing.T, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestOtherKeysReadNothing: with other keys, and with none, whatever shows sealed columns fails as a
// whole, the log has the reason, and rows without sealed values are served.
func TestOtherKeysReadNothing(t *testing.T) {
	each(t, func(t *testing.T, e *harness.Env, file, url string) {
		ctx, token := e.As(t, "demo"), e.Token(t, "")
		id := e.DB.Ent.Patient.Query().FirstIDX(ctx)
		e.Patch(t, "/v1/patients"+harness.ID(id), token, map[string]any{"patient": map[string]any{"ni_number": "QQ917263C", "last_name": "Quetzal"}}).Status(t, 200)
		if err := seal.Create(file + ".other"); err != nil {
			t.Fatal(err)
		}
		for name, keys := range map[string]*seal.Keys{"other keys": load(t, file+".other"), "no keys": nil} {
			other := harness.Start(t, url, harness.Patient, func(o *server.Options) { o.DB.Keys = keys })
			for _, path := range []string{"/v1/patients?per_page=100", "/v1/patients" + harness.ID(id), "/v1/patients?query=quetzal", "/v1/notes?per_page=100"} {
				if r := other.Get(t, path, token); r.Code != 500 || strings.Contains(string(r.Raw), "Quetzal") || strings.Contains(string(r.Raw), "sealed:") {
					t.Errorf("%s: %s: %d %.200s", name, path, r.Code, r.Raw)
				}
			}
			other.Get(t, "/v1/appointments", token).Status(t, 200)
			other.Settle()
			if log := other.Log.String(); !strings.Contains(log, "the keys do not include the one that sealed a value") && !strings.Contains(log, "there are no keys for sealed values") {
				t.Errorf("%s: the log lacks the reason", name)
			}
			dir := filepath.Join(t.TempDir(), "out")
			if err := dump.Export(t.Context(), other.DB, dir, dump.ExportOptions{Unsealed: true}); !errors.Is(err, seal.ErrLostKey) && !errors.Is(err, seal.ErrNoKeys) {
				t.Errorf("%s: an unsealed export: %v", name, err)
			}
			if _, err := os.Stat(dir); err == nil {
				t.Errorf("%s: an unsealed export left files", name)
			}
		}
	})
}

// TestResealNamesBrokenValues: one value that does not open keeps no other from being sealed again.
func TestResealNamesBrokenValues(t *testing.T) {
	each(t, func(t *testing.T, e *harness.Env, _, _ string) {
		all := hooks(t, e, 3)
		storetest.Exec(t, e.DB, "UPDATE webhooks SET secret = (SELECT o.secret FROM webhooks AS o WHERE o.id = $1) WHERE id = $2", all[0].ID, all[1].ID)
		uses, err := sealing.Uses(t.Context(), e.DB)
		if err != nil {
			t.Fatal(err)
		}
		values := 0
		for _, u := range uses {
			values += int(u.Values)
		}
		if _, err := e.DB.Keys.Add(); err != nil {
			t.Fatal(err)
		}
		n, err := sealing.Reseal(t.Context(), e.DB)
		if n != values-1 || !errors.Is(err, seal.ErrMoved) || !strings.Contains(err.Error(), "secret of webhooks "+all[1].ID.String()) {
			t.Errorf("sealed %d of %d again, %v", n, values, err)
		}
	})
}

func TestLostKeysAreNamed(t *testing.T) {
	each(t, func(t *testing.T, e *harness.Env, file, _ string) {
		hooks(t, e, 1)
		id := e.DB.Keys.IDs()[0].String()
		if err := sealing.Check(t.Context(), e.DB); err != nil {
			t.Errorf("with its keys: %v", err)
		}
		e.DB.Keys = nil
		if err := sealing.Check(t.Context(), e.DB); err == nil || !strings.Contains(err.Error(), id) {
			t.Errorf("without keys: %v", err)
		}
		if err := seal.Create(file + ".other"); err != nil {
			t.Fatal(err)
		}
		e.DB.Keys = load(t, file+".other")
		if err := sealing.Check(t.Context(), e.DB); err == nil || !strings.Contains(err.Error(), id) {
			t.Errorf("with other keys: %v", err)
		}
		if _, err := secrets(e.As(t, "demo"), e.DB); !errors.Is(err, seal.ErrLostKey) {
			t.Errorf("open: %v", err)
		}
	})
}
