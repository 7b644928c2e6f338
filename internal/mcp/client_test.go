package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"chairside/ent"
	"chairside/ent/user"
	"chairside/internal/mcp"
	"chairside/internal/oauth"
	"chairside/internal/principal"
	"chairside/internal/seed"
	"chairside/internal/test/harness"
)

// TestTypeScriptClientSignsInAndReads uses the protocol's TypeScript SDK (testdata/client). It
// finds the authorization server by the 401, gets a token by OAuth with PKCE, checks the tools'
// schemas with a validator of its own, and reads.
func TestTypeScriptClientSignsInAndReads(t *testing.T) {
	dir := installClient(t)
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		for _, scope := range []string{"patient:read", ""} { // without one, the application's
			signInAndRead(t, e, dir, scope)
		}
	})
}

func signInAndRead(t *testing.T, e *harness.Env, dir, scope string) {
	t.Helper()
	node := exec.CommandContext(t.Context(), "node", "client.mjs")
	node.Dir = dir
	node.Env = append(os.Environ(), "URL="+e.URL+mcp.Path, "CLIENT_ID="+register(t, e), "REDIRECT_URI="+redirect, "SCOPE="+scope)
	var complaints strings.Builder
	node.Stderr = &complaints
	to, err := node.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	from, err := node.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := node.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(from)
	if lines.Scan() {
		_, _ = io.WriteString(to, consent(t, e, lines.Text())+"\n")
	}
	to.Close()
	var found struct {
		Server, Missing, Guide string
		Tools                  []string
		Patient                int
	}
	if lines.Scan() {
		_ = json.Unmarshal(lines.Bytes(), &found)
	}
	if err := node.Wait(); err != nil || found.Server != "chairside" || found.Missing != "not_found" || found.Guide != "# " || found.Patient == 0 ||
		!slices.Contains(found.Tools, "listPatients") || slices.Contains(found.Tools, "listInvoices") {
		t.Errorf("%v %+v\n%s", err, found, complaints.String())
	}
}

const redirect = "http://127.0.0.1:9999/callback"

// register registers the assistant as a public application and returns its client ID.
func register(t testing.TB, e *harness.Env) (id string) {
	t.Helper()
	u, err := e.DB.Ent.User.Query().Where(user.Email(seed.DemoAdmin)).Only(principal.AsSystem(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	ctx := principal.With(t.Context(), &principal.Principal{PracticeID: u.PracticeID, UserID: u.ID})
	e.Tx(t, ctx, func(tx *ent.Client) error {
		app, _, err := oauth.Register(ctx, tx, oauth.Draft{Name: "Assistant", RedirectURIs: []string{redirect}, Scopes: []string{"patient:read", "user:read"}, Public: true})
		if err == nil {
			id = app.ID.String()
		}
		return err
	})
	return id
}

// consent authorises the application as the administrator and returns the redirect.
func consent(t testing.TB, e *harness.Env, address string) string {
	t.Helper()
	path, ok := strings.CutPrefix(address, e.URL)
	if !ok {
		t.Fatalf("the application sends the user to %s", address)
	}
	admin := e.Browser(t).SignIn(seed.DemoAdmin)
	form := admin.Get(path).Status(t, http.StatusOK).Form(t, oauth.AuthorizePath)
	return admin.Submit(form, url.Values{"decision": {"allow"}}).Redirect(t).String()
}

// installClient installs the client and returns its directory. Without Node it skips the test,
// or fails it if CI=true.
func installClient(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"package.json", "package-lock.json", "client.mjs"} {
		source, err := os.ReadFile(filepath.Join("testdata", "client", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), source, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	npm := exec.CommandContext(context.WithoutCancel(t.Context()), "npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")
	npm.Dir = dir
	if output, err := npm.CombinedOutput(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%v\n%s", err, output)
		}
		t.Skip("no Node, or no way to install its modules: ", err)
	}
	return dir
}
