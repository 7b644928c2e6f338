// Package pgtest creates PostgreSQL databases for tests.
//
// It uses the server of CHAIRSIDE_TEST_POSTGRES (the URL of a database whose user may
// create databases), or starts an installed PostgreSQL. Without either, tests are skipped
// with a message; with CI=true the run fails, so that no suite is skipped unnoticed.
package pgtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	_ "github.com/lib/pq" // to create databases on a given server

	"chairside/internal/test/localpg"
)

// Server is the environment variable that names the server.
const Server = "CHAIRSIDE_TEST_POSTGRES"

// PoolerConnections is the environment variable that sets how many connections to each database the
// PgBouncer of Pooled has, instead of localpg's number.
const PoolerConnections = "CHAIRSIDE_TEST_POOLER"

var (
	admin   *sql.DB  // on the server
	address *url.URL // of the server
	missing error    // why there is no server
	counter atomic.Int64
	pooler  *localpg.Pooler // started by Pooled
	pooling sync.Mutex      // guards pooler
)

// copying is the cheapest way to copy a template. By default PostgreSQL writes every page of a copy to its
// log; copying the files needs a quarter of the processor time.
const copying = " STRATEGY file_copy"

// Main runs a package's tests with a server. TestMain calls it.
func Main(m *testing.M) { os.Exit(With{m}.Run()) }

// With runs a package's tests with a server, for a TestMain that uses another runner.
type With struct{ *testing.M }

// Run runs the tests and returns the exit status.
func (w With) Run() int {
	m := w.M
	where := os.Getenv(Server)
	if where == "" {
		server, err := localpg.Start(context.Background())
		switch {
		case err == nil:
			defer server.Stop()
			where = server.URL("postgres")
		case !errors.Is(err, localpg.ErrNotInstalled) || os.Getenv("CI") == "true":
			fmt.Fprintln(os.Stderr, "FAIL: the tests need PostgreSQL:", err)
			return 1
		default:
			fmt.Fprintln(os.Stderr, "SKIPPED: all tests on PostgreSQL:", err)
			missing = err
			return m.Run()
		}
	}
	var err error
	if address, err = url.Parse(where); err == nil {
		if admin, err = sql.Open("postgres", where); err == nil {
			err = admin.Ping()
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "FAIL: "+Server+":", err)
		return 1
	}
	defer admin.Close()
	defer func() {
		if pooler != nil {
			_ = pooler.Stop() // the process ends, and its files are temporary
		}
	}()
	return m.Run()
}

// Pooled returns the URL of a database through a PgBouncer in transaction mode, or skips the test.
// All tests of a package share it.
func Pooled(t testing.TB, direct string) string {
	t.Helper()
	pooling.Lock()
	defer pooling.Unlock()
	if pooler == nil {
		var settings []string
		if n := os.Getenv(PoolerConnections); n != "" {
			settings = append(settings, "default_pool_size = "+n)
		}
		p, err := localpg.StartPooler(context.Background(), address.String(), settings...)
		if errors.Is(err, localpg.ErrNoPooler) && os.Getenv("CI") != "true" {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		pooler = p
	}
	through, err := pooler.URL(direct)
	if err != nil {
		t.Fatal(err)
	}
	return through
}

// New returns the URL of a new, empty database, or skips the test.
func New(t testing.TB) string { return Clone(t, "template0") }

// Clone returns the URL of a copy of a database that has no connections. The copy is
// dropped after the test.
func Clone(t testing.TB, template string) string {
	t.Helper()
	if missing != nil {
		t.Skip("no PostgreSQL: install it or set " + Server)
	}
	name, where, err := Create(template)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := admin.Exec("DROP DATABASE IF EXISTS " + name + " WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	return where
}

// Missing returns why there is no server, or nil.
func Missing() error { return missing }

// Create creates a template database that outlives the test, and returns its name and
// URL.
func Create(template string) (name, where string, err error) {
	name = fmt.Sprintf("chairside_test_%d_%d", os.Getpid(), counter.Add(1))
	if _, err := admin.Exec("CREATE DATABASE " + name + " TEMPLATE " + template + copying); err != nil {
		return "", "", fmt.Errorf("pgtest: %w", err)
	}
	u := *address
	u.Path = "/" + name
	return name, u.String(), nil
}
