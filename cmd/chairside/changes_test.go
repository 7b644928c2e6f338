package main

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"chairside/internal/test/localpg"
)

// hammered is how long TestCopiesEqualTheDatabase writes: go test -run Copies -timeout 2h -hammer 1h.
var hammered = flag.Duration("hammer", 3*time.Second, "how long a test writes beside readers of the change feed")

// TestCopiesEqualTheDatabase: three processes write, on one database, through the API and by SQL
// that commits late or is rolled back. Readers of each process, and on PostgreSQL of a process on a
// streaming replica, take a snapshot and apply the changes. Each ends with what the database has.
func TestCopiesEqualTheDatabase(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		path := t.TempDir() + "/copies.db"
		h := &copies{t: t, database: "sqlite:" + path, db: openTest(t, "sqlite", path+"?_pragma=busy_timeout(10000)&_txlock=immediate")}
		h.start(3)
		h.run()
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		primary := newPrimary(t, "copies")
		h := &copies{t: t, database: primary.URL("copies"), db: openTest(t, "postgres", primary.URL("copies"))}
		h.start(3)
		standby := newStandby(t, primary)
		h.follow(serveOn(t, standby.URL("copies")))
		h.run()
	})
}

func openTest(t *testing.T, driver, source string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func stopServer(t *testing.T, server *localpg.Server) {
	if err := server.Stop(); err != nil {
		t.Error(err)
	}
}

// serveOn starts a server on a migrated database, with extra environment variables, and returns its address.
func serveOn(t *testing.T, database string, environment ...string) (base string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "chairside", "serve", "--addr=127.0.0.1:0", "--database-url", database, "--rate-limit", "0")
	command.Dir = t.TempDir()
	command.Env = append(command.Environ(), environment...)
	log, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	lines := bufio.NewScanner(log)
	for base == "" && lines.Scan() {
		text.WriteString(lines.Text() + "\n")
		var line struct{ Address string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Address != "" {
			base = "http://" + line.Address
		}
	}
	if base == "" {
		t.Fatalf("the server did not start:\n%s", text.String())
	}
	go func() { _, _ = io.Copy(io.Discard, log) }() // until the process ends
	return base
}

// copies is the processes on one database, their writers and their readers.
type copies struct {
	t        *testing.T
	database string
	db       *sql.DB
	token    string
	servers  []string // that write
	readers  []*reader
	writes   atomic.Int64
}

// reader keeps a copy of the records of a server.
type reader struct {
	server  string
	records map[string]json.RawMessage // by resource and id
	version int64                      // of the last change
	changes int
	marked  bool // it has seen the last record
}

const (
	copied = "patients,appointments,notes,treatment_categories"
	marker = "The last record"
)

// start starts the processes that write, each with a reader.
func (h *copies) start(n int) {
	for range n {
		address, _, _, _ := demoProcess(h.t, h.t.TempDir(), "--database-url", h.database, "--rate-limit", "0")
		h.servers = append(h.servers, address)
		h.follow(address)
	}
	h.token = newToken(h.t, h.database, "patient appointment treatments")
}

func (h *copies) follow(server string) { h.readers = append(h.readers, &reader{server: server}) }

func (h *copies) run() {
	ctx, cancel := context.WithTimeout(h.t.Context(), *hammered+3*time.Minute)
	defer cancel()
	until := time.Now().Add(*hammered)
	var writers, readers sync.WaitGroup
	for _, r := range h.readers {
		readers.Go(func() { h.read(ctx, r) })
	}
	for client := range 6 {
		writers.Go(func() {
			for time.Now().Before(until) {
				h.write(ctx, h.servers[client%len(h.servers)])
			}
		})
	}
	writers.Go(func() {
		for time.Now().Before(until) {
			h.transaction(ctx)
		}
	})
	writers.Wait()
	if _, err := h.db.ExecContext(ctx, "INSERT INTO treatment_categories (practice_id, name, created_at, updated_at) SELECT id, '"+marker+"', created_at, updated_at FROM practices WHERE slug = 'demo'"); err != nil {
		h.t.Fatal(err)
	}
	readers.Wait()
	want := &reader{server: h.servers[0]}
	h.snapshot(ctx, want)
	changes := 0
	for i, r := range h.readers {
		h.t.Logf("reader %d: %d changes of %d writes, %d records", i, r.changes, h.writes.Load(), len(r.records))
		changes += r.changes
		for key, record := range want.records {
			if !bytes.Equal(r.records[key], record) {
				h.t.Errorf("reader %d, %s:\n have %s\n want %s", i, key, r.records[key], record)
			}
		}
		if len(r.records) != len(want.records) {
			h.t.Errorf("reader %d has %d records, the database %d", i, len(r.records), len(want.records))
		}
	}
	if changes == 0 {
		h.t.Error("no reader saw a change")
	}
}

// send sends a request and returns the body of a response with that status, or nil.
func (h *copies) send(ctx context.Context, method, address, body string, want int) []byte {
	r, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
	if err != nil {
		h.t.Error(err)
		return nil
	}
	r.Header.Set("Authorization", "Bearer "+h.token)
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		h.t.Error(err)
		return nil
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if errors.Is(err, io.ErrUnexpectedEOF) { // a snapshot broke off: on a replica a vacuum may end it
		return nil
	}
	if err != nil {
		h.t.Error(err)
		return nil
	}
	switch response.StatusCode {
	case want:
		return text
	case http.StatusServiceUnavailable, http.StatusNotFound: // the machine is slow; another writer has deleted it
	default:
		h.t.Errorf("%s %s: %d %s", method, address, response.StatusCode, text)
	}
	return nil
}

// get reads from the server of a reader. The server's address, which is in links, is left out.
func (h *copies) get(ctx context.Context, r *reader, path string) []byte {
	return bytes.ReplaceAll(h.send(ctx, http.MethodGet, r.server+path, "", http.StatusOK), []byte(r.server), nil)
}

// write creates or changes records through the API.
func (h *copies) write(ctx context.Context, base string) {
	var made struct {
		Note, Appointment struct{ ID int64 }
	}
	note := func(path, method, text string, want int) bool {
		answer := h.send(ctx, method, base+path, fmt.Sprintf(`{"note": {%s}}`, text), want)
		return answer != nil && json.Unmarshal(answer, &made) == nil
	}
	h.writes.Add(1)
	switch n := rand.IntN(10); {
	case n < 3:
		at := time.Date(2032, 1, 1, 9, 0, 0, 0, time.UTC).Add(time.Duration(rand.IntN(100_000)) * time.Minute)
		answer := h.send(ctx, http.MethodPost, base+"/v1/appointments", fmt.Sprintf(
			`{"appointment": {"start_time": %q, "finish_time": %q, "practitioner_id": 1, "reason": "Exam", "force_changes": true}}`,
			at.Format(time.RFC3339), at.Add(15*time.Minute).Format(time.RFC3339)), http.StatusCreated)
		if answer != nil && json.Unmarshal(answer, &made) == nil && rand.IntN(2) == 0 {
			h.writes.Add(1)
			h.send(ctx, http.MethodDelete, fmt.Sprint(base, "/v1/appointments/", made.Appointment.ID), "", http.StatusNoContent)
		}
	case n < 5:
		h.send(ctx, http.MethodPatch, fmt.Sprint(base, "/v1/patients/", 1+rand.IntN(20)), fmt.Sprintf(`{"patient": {"middle_name": "v%d"}}`, rand.IntN(1000)), http.StatusOK)
	default:
		if !note("/v1/notes", http.MethodPost, fmt.Sprintf(`"patient_id": %d, "body": "first"`, 1+rand.IntN(20)), http.StatusCreated) {
			return
		}
		path := fmt.Sprint("/v1/notes/", made.Note.ID)
		for i := range rand.IntN(4) {
			h.writes.Add(1)
			note(path, http.MethodPatch, fmt.Sprintf(`"body": "text %d"`, i), http.StatusOK)
		}
		if rand.IntN(3) == 0 {
			h.writes.Add(1)
			h.send(ctx, http.MethodDelete, base+path, "", http.StatusNoContent)
		}
	}
}

// transaction writes by SQL, commits late, or is rolled back.
func (h *copies) transaction(ctx context.Context) {
	tx, err := h.db.BeginTx(ctx, nil)
	if err != nil {
		return // another one writes
	}
	defer tx.Rollback() // after a commit it does nothing
	for _, statement := range []string{
		fmt.Sprintf("INSERT INTO treatment_categories (practice_id, name, created_at, updated_at) SELECT id, 'v%d', created_at, updated_at FROM practices WHERE slug = 'demo'", rand.IntN(1000)),
		fmt.Sprintf("UPDATE treatment_categories SET name = 'w%d' WHERE id = (SELECT max(id) FROM treatment_categories WHERE name LIKE 'v%%')", rand.IntN(1000)),
		"DELETE FROM treatment_categories WHERE id = (SELECT min(id) FROM treatment_categories WHERE name LIKE 'w%')",
	} {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return // the machine is slow
		}
		time.Sleep(time.Duration(rand.IntN(60)) * time.Millisecond)
	}
	if rand.IntN(3) > 0 && tx.Commit() == nil {
		h.writes.Add(3)
	}
	time.Sleep(50 * time.Millisecond)
}

// snapshot makes a new copy and returns the cursor to go on from, or "" if it has to be taken again.
func (h *copies) snapshot(ctx context.Context, r *reader) (cursor string) {
	text := h.get(ctx, r, "/v1/snapshot?resources="+copied)
	r.records, r.version, r.marked = map[string]json.RawMessage{}, 0, false
	ended := false
	for line := range bytes.Lines(text) {
		var x struct {
			Cursor, Resource string
			Record           json.RawMessage
			End              bool
		}
		if err := json.Unmarshal(line, &x); err != nil {
			h.t.Errorf("%s: %v", line, err)
		}
		switch {
		case x.Record != nil:
			r.records[key(h.t, x.Resource, x.Record)] = x.Record
			r.marked = r.marked || bytes.Contains(x.Record, []byte(marker))
		case x.Cursor != "":
			cursor = x.Cursor
		}
		ended = ended || x.End
	}
	if !ended {
		return ""
	}
	return cursor
}

// key returns the key of a record.
func key(t *testing.T, resource string, record json.RawMessage) string {
	var x struct{ ID json.RawMessage }
	if err := json.Unmarshal(record, &x); err != nil {
		t.Errorf("%s: %v", record, err)
	}
	return resource + " " + string(x.ID)
}

// read keeps the copy until it has the last record. Now and then it begins anew.
func (h *copies) read(ctx context.Context, r *reader) {
	cursor := ""
	for !r.marked {
		if ctx.Err() != nil {
			h.t.Errorf("%s: the last record has not arrived", r.server)
			return
		}
		if cursor == "" || rand.IntN(500) == 0 {
			if cursor = h.snapshot(ctx, r); cursor == "" {
				continue
			}
		}
		text := h.get(ctx, r, "/v1/changes?include=record&limit=200&wait=1&resources="+copied+"&cursor="+url.QueryEscape(cursor))
		if len(text) == 0 {
			continue
		}
		var p struct {
			Changes []struct {
				Resource string
				ID       json.RawMessage
				Version  int64
				Record   json.RawMessage
			}
			Meta struct{ Cursor string }
		}
		if err := json.Unmarshal(text, &p); err != nil {
			h.t.Errorf("%s: %v", text, err)
			return
		}
		for _, c := range p.Changes {
			if c.Version <= r.version {
				h.t.Errorf("%s: version %d follows %d", r.server, c.Version, r.version)
			}
			r.version = c.Version
			r.changes++
			if name := c.Resource + " " + string(c.ID); string(c.Record) == "null" {
				delete(r.records, name)
			} else {
				r.records[name] = c.Record
				r.marked = r.marked || bytes.Contains(c.Record, []byte(marker))
			}
		}
		cursor = p.Meta.Cursor
	}
}
