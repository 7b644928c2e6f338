package main

import (
	"bufio"
	"context"
	"database/sql"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"chairside/internal/test/localpg/pgtest"
	"chairside/internal/test/testkeys"
)

func TestMain(m *testing.M) {
	testscript.Main(withKeys{pgtest.With{M: m}}, map[string]func(){"chairside": main})
}

// withKeys runs the tests with keys for the servers on PostgreSQL that they start. Scripts have an
// environment of their own.
type withKeys struct{ pgtest.With }

func (w withKeys) Run() int {
	os.Setenv("CHAIRSIDE_KEYS", testkeys.Text)
	return w.With.Run()
}

// TestScripts runs the scripts in testdata/script, which also document the commands.
// Each starts in its own directory, without a database.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, scripts("testdata/script"))
}

// TestScriptsOnPostgres runs the scripts in testdata/postgres on one new database.
func TestScriptsOnPostgres(t *testing.T) {
	t.Parallel()
	params, url := scripts("testdata/postgres"), pgtest.New(t)
	params.Setup = func(e *testscript.Env) error {
		e.Setenv("CHAIRSIDE_DATABASE_URL", url)
		e.Setenv("CHAIRSIDE_KEYS", testkeys.Text)
		return nil
	}
	testscript.Run(t, params)
}

// scripts returns the parameters of testscript for a directory of scripts, with the
// commands below.
func scripts(dir string) testscript.Params {
	return testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":   exits,
			"capture": capture,
			"sql":     execSQL,
			"damage":  damage,
			"psql":    execPostgres,
		},
	}
}

// exits runs a command and checks its exit status: "exits 2 chairside serve --nonsense".
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS COMMAND…")
	}
	err := ts.Exec(args[1], args[2:]...)
	status := "0"
	if exit, ok := err.(*exec.ExitError); ok {
		status = strings.TrimPrefix(exit.Error(), "exit status ")
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if status != args[0] {
		ts.Fatalf("exit status %s, want %s", status, args[0])
	}
}

// execSQL executes a statement on an embedded database: sql FILE STATEMENT.
func execSQL(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sql FILE STATEMENT")
	}
	db, err := sql.Open("sqlite", ts.MkAbs(args[0]))
	ts.Check(err)
	defer func() { ts.Check(db.Close()) }()
	_, err = db.ExecContext(context.Background(), args[1])
	ts.Check(err)
}

// execPostgres executes statements on the script's PostgreSQL database: psql STATEMENTS.
func execPostgres(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: psql STATEMENTS")
	}
	db, err := sql.Open("postgres", ts.Getenv("CHAIRSIDE_DATABASE_URL"))
	ts.Check(err)
	defer func() { ts.Check(db.Close()) }()
	_, err = db.ExecContext(context.Background(), args[0])
	ts.Check(err)
}

// damage changes a page in the middle of a file, or its beginning: damage middle|beginning FILE.
func damage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: damage middle|beginning FILE")
	}
	content, err := os.ReadFile(ts.MkAbs(args[1]))
	ts.Check(err)
	start := 0
	if args[0] == "middle" {
		start = len(content) / 2
	}
	const most = 5000 // more than a page of a database
	for i := range content[start:min(len(content), start+most)] {
		content[start+i] ^= 0xff
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), content, 0o600))
}

// capture sets a variable to the first group of a pattern that matches the last
// output: "capture ID stdout '\"site_id\":\"([^\"]+)'".
func capture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: capture VARIABLE FILE PATTERN")
	}
	found := regexp.MustCompile(args[2]).FindStringSubmatch(ts.ReadFile(args[1]))
	if found == nil {
		ts.Fatalf("%s does not match %s", args[1], args[2])
	}
	ts.Setenv(args[0], found[1])
}

// demo starts "chairside serve --demo" and returns the address and the token that it
// prints.
func demo(t *testing.T, dir string, flags ...string) (address, token string, stop func() error) {
	t.Helper()
	address, token, command, out := demoProcess(t, dir, flags...)
	return address, token, func() error {
		if err := command.Process.Signal(syscall.SIGTERM); err != nil {
			return err
		}
		_, _ = io.Copy(io.Discard, out)
		return command.Wait()
	}
}

// demoProcess is demo for a test that ends the process itself.
func demoProcess(t *testing.T, dir string, flags ...string) (address, token string, command *exec.Cmd, out io.Reader) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute+*hammered)
	t.Cleanup(cancel)
	command = exec.CommandContext(ctx, "chairside", append([]string{"serve", "--demo", "--addr=127.0.0.1:0", "--drain=0"}, flags...)...)
	command.Dir = dir
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	command.Stderr = log
	if out, err = command.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) != 2 {
			continue
		}
		switch fields[0] {
		case "Address":
			address = fields[1]
		case "Token":
			token = fields[1]
		}
		if token != "" {
			break
		}
	}
	if token == "" {
		_ = command.Wait()
		text, _ := os.ReadFile(log.Name())
		t.Fatalf("the demo did not start:\n%s", text)
	}
	return address, token, command, out
}

// get sends a GET request with a bearer token.
func get(t *testing.T, address, token string) (status int, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

func TestDemoSeedsOnceAndPrintsATokenEachTime(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		startTwice(t, "sqlite:demo.db")
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		startTwice(t, pgtest.New(t))
	})
}

// startTwice starts the demo twice on one database. The second start must not seed it
// again, and must replace the first one's token.
func startTwice(t *testing.T, url string) {
	dir := t.TempDir()
	address, first, stop := demo(t, dir, "--database-url", url)
	status, patients := get(t, address+"/v1/patients?per_page=3", first)
	if status != http.StatusOK || !strings.Contains(patients, `"last_name"`) {
		t.Fatalf("%d %s", status, patients)
	}
	patients = strings.ReplaceAll(patients, address, "") // links hold the port
	if err := stop(); err != nil {
		t.Errorf("exit of the interrupted server: %v", err)
	}

	address, second, stop := demo(t, dir, "--database-url", url)
	if status, _ := get(t, address+"/v1/patients", first); status != http.StatusUnauthorized {
		t.Errorf("the first start's token: status %d, want 401", status)
	}
	status, again := get(t, address+"/v1/patients?per_page=3", second)
	if status != http.StatusOK || strings.ReplaceAll(again, address, "") != patients {
		t.Errorf("status %d, or different patients after the second start", status)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// TestDemoStartsOnABusyDatabase: another process writes for longer than a statement waits.
func TestDemoStartsOnABusyDatabase(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, _, stop := demo(t, dir, "--database-url=sqlite:demo.db")
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	other, err := sql.Open("sqlite", filepath.Join(dir, "demo.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	conn, err := other.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(6*time.Second, func() { _, _ = conn.ExecContext(context.Background(), "ROLLBACK") })
	address, token, stop := demo(t, dir, "--database-url=sqlite:demo.db")
	if status, _ := get(t, address+"/v1/patients", token); status != http.StatusOK {
		t.Errorf("status %d", status)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}
