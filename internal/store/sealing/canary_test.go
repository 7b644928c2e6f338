package sealing_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/internal/audit"
	"chairside/internal/audit/trail"
	"chairside/internal/dump"
	"chairside/internal/entx/table"
	"chairside/internal/events/feed"
	"chairside/internal/events/webhook"
	"chairside/internal/seal"
	"chairside/internal/store/storetest"
	"chairside/internal/test/harness"
	"chairside/internal/test/localpg"
	"chairside/ogent"
)

// Texts that are only in the sealed columns of this test's patient.
const (
	canaryNumber  = "943 476 5919"
	canaryNI      = "QQ917263C"
	canaryAlert   = "Qanary of the alert"
	canaryNote    = "Qanary of the note"
	canaryEarlier = "Qanary of the earlier note"
	canaryEcho    = "Qanary of the receiver"
	canaryTOTP    = "QANARYJBSWY3DPEHPK3PXP"
)

// plain are the canaries, and the digits of the number, as which searches know it.
var plain = []string{canaryNumber, "9434765919", canaryNI, canaryAlert, canaryNote, canaryEarlier, canaryEcho, canaryTOTP}

// plantCanaries writes the canaries through the API, with stored responses, and delivers them to a
// webhook, whose receiver sends them back. It returns the path of the patient.
func plantCanaries(t *testing.T, e *harness.Env) string {
	t.Helper()
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if body, err := io.ReadAll(q.Body); err == nil && bytes.Contains(body, []byte(canaryNI)) {
			fmt.Fprint(w, canaryEcho+" "+canaryNI)
		}
	}))
	t.Cleanup(receiver.Close)
	token := e.Token(t, "")
	hook := e.Post(t, "/v1/webhooks", token, map[string]any{"webhook": map[string]any{"url": receiver.URL, "events": []string{"patients.*"}}}).Status(t, 201).Text(t, "webhook.id")
	ctx := e.As(t, "demo")
	e.Tx(t, ctx, func(tx *ent.Client) error {
		_, err := webhook.Rotate(ctx, e.DB.Keys, tx, uuid.MustParse(hook))
		return err
	})
	id := e.DB.Ent.Patient.Query().FirstIDX(ctx)
	path := "/v1/patients" + harness.ID(id)
	send := func(method, path, key, member string, fields map[string]any) *harness.Response {
		t.Helper()
		q := harness.Request{Method: method, Path: path, Token: token, Body: map[string]any{member: fields}, Header: map[string]string{"Idempotency-Key": key}}
		r := e.Do(t, q)
		if r.Code >= 300 {
			t.Fatalf("%s %s: %d %s", method, path, r.Code, r.Raw)
		}
		return r
	}
	send("PATCH", path, "one", "patient", map[string]any{"nhs_number": canaryNumber, "ni_number": canaryNI, "medical_alert": true, "medical_alert_text": canaryAlert})
	note := send("POST", "/v1/notes", "two", "note", map[string]any{"patient_id": id, "body": canaryEarlier}).Text(t, "note.id")
	send("PATCH", "/v1/notes/"+note, "three", "note", map[string]any{"body": canaryNote})
	e.Tx(t, ctx, func(tx *ent.Client) error {
		return tx.User.UpdateOneID(tx.User.Query().FirstIDX(ctx)).SetTotpSecret(seal.Plain(canaryTOTP)).Exec(ctx)
	})

	delivering, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	done := make(chan struct{})
	d := webhook.New(webhook.Options{
		DB: e.DB, Feed: feed.New(e.DB), Reads: ogent.Reads{Client: e.DB.Ent, Keys: e.DB.Keys, BaseURL: e.URL},
		Trail: trail.New(e.DB, slog.New(slog.DiscardHandler)), AllowPrivate: true, Logger: slog.New(slog.NewJSONHandler(e.Log, nil)),
	})
	go func() { d.Run(delivering, func(error) {}, func(error) {}); close(done) }()
	for until := time.Now().Add(storetest.Timeout); storetest.Int(t, e.DB, "SELECT count(*) FROM webhook_attempts WHERE response IS NOT NULL") == 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("nothing was delivered")
		}
	}
	stop()
	<-done
	e.Settle()
	return path
}

// opened returns the texts of all sealed columns. Each column must have one.
func opened(t *testing.T, e *harness.Env) (all []string) {
	t.Helper()
	for _, of := range ent.Tables {
		owner := "practice_id"
		if !of.Has(owner) {
			owner = "id"
		}
		for i := range of.Columns {
			c := &of.Columns[i]
			if !c.IsSealed() {
				continue
			}
			rows, err := e.DB.SQL.QueryContext(t.Context(), fmt.Sprintf("SELECT CAST(id AS text), CAST(%s AS text), %s FROM %s WHERE %[2]s IS NOT NULL", table.Quote(owner), table.Quote(c.Name), table.Quote(of.Name)))
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for rows.Next() {
				at, v := seal.Place{Table: of.Name, Column: c.Name}, seal.Value{}
				if err := rows.Scan(&at.Row, &at.Practice, &v); err != nil {
					t.Fatal(err)
				}
				text, err := e.DB.Keys.Open(at, v)
				if err != nil {
					t.Fatalf("%+v: %v", at, err)
				}
				if n++; len(text) > 8 { // a shorter one may be in other columns
					all = append(all, text)
				}
			}
			if err := errors.Join(rows.Err(), rows.Close()); err != nil {
				t.Fatal(err)
			}
			if n == 0 {
				t.Errorf("%s.%s is sealed and has no value here: plant one", of.Name, c.Name)
			}
		}
	}
	return all
}

// databaseFiles returns what a thief of the database has: SQLite's files, or a dump of PostgreSQL's
// tables. The key file is not beside it.
func databaseFiles(t *testing.T, e *harness.Env, url string) (all []byte) {
	t.Helper()
	if e.DB.File != "" {
		for _, name := range []string{e.DB.File, e.DB.File + "-wal"} {
			content, err := os.ReadFile(name)
			if err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			all = append(all, content...)
		}
		return all
	}
	program, err := localpg.Program("pg_dump")
	if err != nil {
		t.Fatal(err)
	}
	address, _, _ := strings.Cut(url, "?")
	if all, err = exec.CommandContext(t.Context(), program, "--data-only", "--disable-triggers", address).Output(); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestReaderWithoutKeysFindsNoCanary: a fresh reader with the database's files, a backup, an export
// or the log, and no key, finds none of the texts of sealed columns. Only an export with Unsealed
// has them.
func TestReaderWithoutKeysFindsNoCanary(t *testing.T) {
	each(t, func(t *testing.T, e *harness.Env, _, url string) {
		var err error
		if e.DB.AuditKey, err = audit.CreateKey(filepath.Join(t.TempDir(), "audit.key")); err != nil {
			t.Fatal(err)
		}
		path := plantCanaries(t, e)
		token := e.Token(t, "")
		if shown := string(e.Get(t, path, token).Status(t, 200).Raw); !strings.Contains(shown, canaryNumber) || !strings.Contains(shown, canaryNI) || !strings.Contains(shown, canaryAlert) {
			t.Errorf("the API shows %s", shown)
		}
		secrets := opened(t, e)
		for _, want := range plain {
			if want != "9434765919" && !slices.ContainsFunc(secrets, func(s string) bool { return strings.Contains(s, want) }) {
				t.Errorf("%q is in no sealed column", want)
			}
		}
		check := func(where string, content []byte) {
			t.Helper()
			if !bytes.Contains(content, []byte("sealed:")) && where != "the log" {
				t.Errorf("%s has no sealed value", where)
			}
			for _, text := range append(slices.Clone(plain), secrets...) {
				if bytes.Contains(content, []byte(text)) {
					t.Errorf("%s has %q", where, text)
				}
			}
		}
		check("the database", databaseFiles(t, e, url))
		check("the log", []byte(e.Log.String()))
		if e.DB.File != "" {
			copied := filepath.Join(t.TempDir(), "copy.db")
			if err := e.DB.Backup(t.Context(), copied); err != nil {
				t.Fatal(err)
			}
			content, err := os.ReadFile(copied)
			if err != nil {
				t.Fatal(err)
			}
			check("the backup", content)
		}
		practice := storetest.Value(t, e.DB.SQL, "SELECT CAST(id AS text) FROM practices WHERE slug = 'demo'")
		for name, o := range map[string]dump.ExportOptions{
			"the export": {}, "the export in CSV": {Format: dump.CSV}, "the export of a practice": {Practice: practice},
		} {
			check(name, exported(t, e, o))
		}
		unsealed := exported(t, e, dump.ExportOptions{Unsealed: true})
		for _, text := range []string{canaryNumber, canaryNI, canaryAlert, canaryNote, canaryEarlier, canaryTOTP} {
			if !bytes.Contains(unsealed, []byte(text)) {
				t.Errorf("the unsealed export lacks %q", text)
			}
		}
		if bytes.Contains(unsealed, []byte(`"sealed:`)) {
			t.Error("the unsealed export has sealed values")
		}
	})
}

// exported returns the content of all files of an export.
func exported(t *testing.T, e *harness.Env, o dump.ExportOptions) (all []byte) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	if err := dump.Export(t.Context(), e.DB, dir, o); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, content...)
	}
	return all
}
