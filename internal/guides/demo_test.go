package guides_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"chairside/ent"
	"chairside/ent/user"
	"chairside/internal/civil"
	"chairside/internal/clock"
	"chairside/internal/principal"
	"chairside/internal/seed"
	"chairside/internal/server"
	"chairside/internal/store"
	"chairside/internal/store/migrate"
	"chairside/internal/test/harness"
	"chairside/internal/test/localpg/pgtest"
	"chairside/internal/test/testkeys"
	"chairside/internal/token"
)

// kind is a kind of database.
type kind string

const (
	sqlite   kind = "sqlite"
	postgres kind = "postgres"
)

// onBothDatabases runs a test on SQLite and on PostgreSQL.
func onBothDatabases(t *testing.T, test func(t *testing.T, databases kind)) {
	t.Helper()
	t.Parallel()
	for _, databases := range []kind{sqlite, postgres} {
		t.Run(string(databases), func(t *testing.T) {
			t.Parallel()
			if databases == postgres && pgtest.Missing() != nil {
				pgtest.New(t) // skips
			}
			test(t, databases)
		})
	}
}

// empty returns the URL of a new database without tables.
func empty(t *testing.T, databases kind) string {
	t.Helper()
	if databases == postgres {
		return pgtest.New(t)
	}
	return "sqlite:" + filepath.Join(t.TempDir(), "empty.db")
}

// filled returns the URL of a new copy of the demo, whose history ends today.
func filled(t *testing.T, databases kind) string {
	t.Helper()
	if databases == postgres {
		name, err := postgresDemo()
		if err != nil {
			t.Fatal(err)
		}
		return pgtest.Clone(t, name)
	}
	content, err := sqliteDemo()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "demo.db")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return "sqlite:" + path
}

var sqliteDemo = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "chairside-guides-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "demo.db")
	if err := fill("sqlite:" + path); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

var postgresDemo = sync.OnceValues(func() (string, error) {
	name, url, err := pgtest.Create("template0")
	if err != nil {
		return "", err
	}
	return name, fill(url)
})

// fill migrates a database and seeds it as "chairside serve --demo" does.
func fill(url string) error {
	ctx := context.Background()
	db, err := store.Open(ctx, url)
	if err != nil {
		return err
	}
	defer db.Close()
	db.Keys = testkeys.Keys()
	if _, err := migrate.Up(ctx, db); err != nil {
		return err
	}
	return seed.Run(ctx, db, seed.Options{Patients: seed.DefaultPatients, Years: seed.DefaultYears, RandomSeed: 1, AsOf: civil.Of(time.Now())})
}

// demoServer is a server like that of "chairside serve --demo".
type demoServer struct {
	URL, token, database string // the token is of the main practice's administrator
	db                   *store.DB
}

// demo starts a demo server with a database of its own.
func demo(t *testing.T, databases kind, change ...func(*server.Options)) *demoServer {
	t.Helper()
	ctx := t.Context()
	d := &demoServer{database: filled(t, databases)}
	var err error
	if d.db, err = store.OpenServing(ctx, d.database, ""); err != nil {
		t.Fatal(err)
	}
	d.db.Keys = testkeys.Keys()
	system := clock.With(principal.AsSystem(ctx), time.Now())
	admin, err := d.db.Ent.User.Query().Where(user.Email(seed.DemoAdmin)).Only(system)
	if err != nil {
		t.Fatal(err)
	}
	err = d.db.Tx(system, func(tx *ent.Client) (err error) {
		d.token, _, err = token.Create(system, tx, admin, token.Grant{Name: "guide", Scopes: admin.Role.PermissionLevel().MayHold()})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d.URL = "http://" + listener.Addr().String()
	o := server.Options{DB: d.db, BaseURL: d.URL, Demo: true, RateLimit: 36000, Logger: slog.New(slog.DiscardHandler)}
	for _, c := range append(change, harness.Patient) {
		c(&o)
	}
	s, err := server.New(o)
	if err != nil {
		t.Fatal(err)
	}
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	stopped := make(chan error)
	go func() { stopped <- s.Run(serving, listener) }()
	t.Cleanup(func() {
		stop()
		if err := <-stopped; err != nil {
			t.Error(err)
		}
		if err := d.db.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// call sends a request that succeeds, and returns the body of its response.
func (d *demoServer) call(t *testing.T, method, path, body string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, d.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = http.Header{"User-Agent": {"guide/1.0"}, "Authorization": {"Bearer " + d.token}, "Content-Type": {"application/json"}}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode >= 300 {
		t.Fatalf("%s %s: %d %v %s", method, path, response.StatusCode, err, content)
	}
	return string(content)
}
