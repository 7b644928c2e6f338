package guides_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"chairside/ent"
	"chairside/ent/user"
	"chairside/internal/civil"
	"chairside/internal/clock"
	"chairside/internal/guides"
	"chairside/internal/principal"
	"chairside/internal/seed"
	"chairside/internal/server"
	"chairside/internal/store"
	"chairside/internal/store/migrate"
	"chairside/internal/test/harness"
	"chairside/internal/test/testkeys"
	"chairside/internal/token"
)

func TestMain(m *testing.M) { harness.Main(m) }

// TestShellBlocks runs the sh blocks of each guide against a demo server of its own.
func TestShellBlocks(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"bash", "curl", "jq"} {
		if _, err := exec.LookPath(tool); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
	}
	if len(guides.All) < 2 {
		t.Fatalf("only %d guides found", len(guides.All))
	}
	for _, g := range guides.All {
		t.Run(g.Name, func(t *testing.T) {
			t.Parallel()
			if len(g.Shell) == 0 {
				t.Fatal("the guide has no sh block")
			}
			base, token := demo(t)
			var script strings.Builder
			script.WriteString("set -euo pipefail\n")
			for i, block := range g.Shell {
				fmt.Fprintf(&script, "echo '== block %d'\n%s", i+1, block)
			}
			bash := exec.CommandContext(t.Context(), "bash", "-c", script.String())
			bash.Dir = t.TempDir()
			bash.Env = append(os.Environ(), "BASE="+base, "TOKEN="+token)
			if out, err := bash.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// demo starts a demo server whose history ends today, and returns its URL and a token of the
// main practice's administrator.
func demo(t *testing.T, change ...func(*server.Options)) (base, value string) {
	t.Helper()
	ctx := t.Context()
	db, err := store.Open(ctx, "sqlite:"+t.TempDir()+"/demo.db")
	if err != nil {
		t.Fatal(err)
	}
	db.Keys = testkeys.Keys()
	db.Keys = testkeys.Keys()
	if _, err := migrate.Up(ctx, db); err != nil {
		t.Fatal(err)
	}
	if err := seed.Run(ctx, db, seed.Options{Patients: 60, Years: 1, RandomSeed: 1, AsOf: civil.Of(time.Now())}); err != nil {
		t.Fatal(err)
	}
	system := clock.With(principal.AsSystem(ctx), time.Now())
	admin, err := db.Ent.User.Query().Where(user.Email(seed.DemoAdmin)).Only(system)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Tx(system, func(tx *ent.Client) (err error) {
		value, _, err = token.Create(system, tx, admin, token.Grant{Name: "guide", Scopes: admin.Role.PermissionLevel().MayHold()})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	base = "http://" + listener.Addr().String()
	o := server.Options{DB: db, BaseURL: base, Demo: true, RateLimit: 36000, Logger: slog.New(slog.DiscardHandler)}
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
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return base, value
}

// TestGuidesAreServedWithoutToken follows the links of all guides.
func TestGuidesAreServedWithoutToken(t *testing.T) {
	t.Parallel()
	e := harness.Start(t, harness.SQLite(t))
	index := string(e.Get(t, "/docs/guides/", "").Status(t, 200).Raw)
	link, id := regexp.MustCompile(`href="(/[^"#]*)(?:#([^"]*))?"`), regexp.MustCompile(`id="([^"]*)"`)
	for _, g := range guides.All {
		if !strings.Contains(index, `<a href="/docs/guides/`+g.Name+`">`+g.Title+`</a>`) {
			t.Errorf("the index lacks %s", g.Name)
		}
		page := string(e.Get(t, "/docs/guides/"+g.Name, "").Status(t, 200).Raw)
		if !strings.Contains(page, "<h1>"+g.Title+"</h1>") {
			t.Errorf("%s: no title", g.Name)
		}
		for _, m := range link.FindAllStringSubmatch(page, -1) {
			to := e.Do(t, harness.Request{Method: http.MethodGet, Path: m[1], Header: map[string]string{"Accept": "text/html, */*"}}) // as a browser
			if to.Code != 200 && to.Code != 303 {                                                                                     // pages that ask visitors to sign in
				t.Errorf("%s: the link to %s: status %d", g.Name, m[1], to.Code)
			}
			if m[2] != "" && !strings.Contains(string(to.Raw), `id="`+m[2]+`"`) {
				t.Errorf("%s: %s has no section %s: it has %v", g.Name, m[1], m[2], id.FindAllString(string(to.Raw), -1))
			}
		}
	}
	e.Get(t, "/docs/guides/nothing", "").Status(t, 404)
	e.Do(t, harness.Request{Method: "GET", Path: "/docs/guides/", Header: map[string]string{"User-Agent": ""}}).Status(t, 403)
	if !strings.Contains(string(e.Get(t, "/docs", "").Raw), `href="/docs/guides/"`) {
		t.Error("/docs has no link to the guides")
	}
}

// TestGuidesNameNoMachinePaths checks that guides do not name directories of a developer's
// machine.
func TestGuidesNameNoMachinePaths(t *testing.T) {
	t.Parallel()
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	paths := regexp.MustCompile(`(?:^|[\s"'=` + "`" + `(])/(?:home|root|tmp|work|Users|mnt)\b`)
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), ".md") {
			continue
		}
		source, err := os.ReadFile(file.Name())
		if err != nil {
			t.Fatal(err)
		}
		if found := paths.Find(source); found != nil {
			t.Errorf("%s names %q", file.Name(), found)
		}
	}
}
