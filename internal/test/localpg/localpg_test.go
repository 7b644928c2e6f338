package localpg

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// asChild makes the test program start a server and wait.
const asChild = "LOCALPG_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(asChild) != "" {
		server, err := Start(context.Background())
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(server.dir)
		time.Sleep(time.Minute)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// start starts a server for the test, or skips the test if PostgreSQL is not installed.
func start(t *testing.T) *Server {
	t.Helper()
	server, err := Start(t.Context())
	if errors.Is(err, ErrNotInstalled) && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	return server
}

// query runs a statement with psql and returns its output.
func query(t *testing.T, server *Server, database, text string) string {
	t.Helper()
	output, err := exec.Command(server.program("psql"), "--no-psqlrc", "--tuples-only", "--no-align",
		"--dbname", server.URL(database), "--command", text).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v %s", text, err, output)
	}
	return strings.TrimSpace(string(output))
}

func TestServerCreatesCopiesAndDropsDatabases(t *testing.T) {
	server := start(t)
	ctx := t.Context()
	if err := server.CreateDatabase(ctx, "model"); err != nil {
		t.Fatal(err)
	}
	query(t, server, "model", "CREATE TABLE notes (body text)")
	if err := server.CreateDatabaseFrom(ctx, "copy", "model"); err != nil {
		t.Fatal(err)
	}
	if got := query(t, server, "copy", "SELECT count(*) FROM notes"); got != "0" {
		t.Errorf("the copy has %s notes", got)
	}
	if err := server.DropDatabase(ctx, "copy"); err != nil {
		t.Fatal(err)
	}
	if err := server.DropDatabase(ctx, "copy"); err != nil {
		t.Errorf("dropping a missing database: %v", err)
	}
	if err := server.CreateDatabase(ctx, "model"); err == nil {
		t.Error("a database was created twice")
	}
	if got := query(t, server, "model", "SELECT 'a' < 'B'"); got != "t" {
		t.Log("this server has no linguistic collation; text sorts by code point")
	}
	dir := server.dir
	for range 2 {
		if err := server.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after Stop %s is still there: %v", dir, err)
	}
}

func TestServerDiesWithItsProcess(t *testing.T) {
	start(t) // skips without PostgreSQL
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), asChild+"=1")
	output, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	dir, err := bufio.NewReader(output).ReadString('\n')
	dir = strings.TrimSpace(dir)
	if err != nil || !filepath.IsAbs(dir) {
		t.Fatal(dir, err)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	child.Wait()

	// The server removes its lock file when it has ended.
	lock := filepath.Join(dir, "data", "postmaster.pid")
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(lock); errors.Is(err, os.ErrNotExist) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the server outlived its process")
		}
	}
	start(t)
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the next Start left %s: %v", dir, err)
	}
}

func TestVersionOfAnInstallation(t *testing.T) {
	for path, want := range map[string]int{
		"/usr/lib/postgresql/15/bin": 15, "/usr/lib/postgresql/9.6/bin": 9, "/usr/pgsql-17/bin": 17, "/opt/bin": 0,
	} {
		if got := version(path); got != want {
			t.Errorf("version(%q) = %d, want %d", path, got, want)
		}
	}
}

func TestKeptClusterIsFoundAgain(t *testing.T) {
	start(t) // skips without PostgreSQL
	// The server's account cannot enter t.TempDir.
	dir, err := os.MkdirTemp("", "localpg-kept-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for i, statement := range []string{"CREATE TABLE notes AS SELECT 'kept' AS body", "SELECT 1"} {
		server, err := StartIn(t.Context(), dir, "max_connections=17")
		if err != nil {
			t.Fatal(err)
		}
		query(t, server, "postgres", statement)
		if got := query(t, server, "postgres", "SELECT body || current_setting('max_connections') || current_setting('fsync') FROM notes"); got != "kept17on" {
			t.Errorf("start %d: %s", i+1, got)
		}
		if err := server.Stop(); err != nil {
			t.Fatal(err)
		}
	}
}
