package web_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"chairside/ent"
	"chairside/internal/seed"
	"chairside/internal/test/harness"
)

// run runs a command that a page shows, and returns its JSON response.
func run(t *testing.T, command string) map[string]any {
	t.Helper()
	out := shell(t, command+" --silent --show-error")
	var answer map[string]any
	if err := json.Unmarshal([]byte(out), &answer); err != nil {
		t.Fatalf("%s: %v: %s", command, err, out)
	}
	return answer
}

// shell runs a shell script and returns its output.
func shell(t *testing.T, script string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "sh", "-euc", script).Output()
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	return string(out)
}

// allow authorises an application through the link of a page, and returns the code.
func allow(t *testing.T, b *harness.Browser, base, link string) string {
	t.Helper()
	path, ok := strings.CutPrefix(link, base)
	if !ok {
		t.Fatalf("the link %s leads elsewhere", link)
	}
	page := b.Get(path).Status(t, http.StatusOK)
	return b.Submit(page.Form(t, "/oauth/authorize"), url.Values{"decision": {"allow"}}).Redirect(t).Query().Get("code")
}

// TestConnectApplication follows the steps that the pages show: register, authorise,
// exchange, first request.
func TestConnectApplication(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t).SignIn(seed.DemoAdmin)
		b.Get("/settings/applications").Has(t, "No applications yet")
		made := b.Submit(b.Get("/settings/applications/new").Form(t, "/settings/applications"), url.Values{
			"name": {"Recall & Robot"}, "redirect_uris": {callback + "?a=b&c=d\r\n\r\n  http://localhost:3000/it's  \r\n"}, "scopes": {"user:read", "appointment"},
		}).Status(t, http.StatusOK)
		checkPage(t, made)
		checkHeaders(t, made, policy)
		id, secret := made.Value(t, "client-id"), made.Value(t, "client-secret")
		if !strings.HasPrefix(secret, "cs_secret_") || made.Value(t, "token-endpoint") != e.URL+"/oauth/token" {
			t.Errorf("secret %s, token endpoint %s", secret, made.Value(t, "token-endpoint"))
		}
		e.Get(t, strings.TrimPrefix(made.Value(t, "discovery"), e.URL), "").Status(t, http.StatusOK)

		code := allow(t, b, e.URL, made.Value(t, "link"))
		granted := run(t, strings.Replace(made.Value(t, "exchange"), "code=CODE", "code="+code, 1))
		if granted["scope"] != "appointment user:read" {
			t.Fatalf("the exchange returned %v", granted)
		}
		first := run(t, strings.Replace(made.Value(t, "request"), "ACCESS-TOKEN", granted["access_token"].(string), 1))
		if first["appointments"] == nil {
			t.Errorf("the first request returned %v", first)
		}

		// Later the page shows everything except the secret.
		page := b.Get("/settings/applications/"+id).Status(t, http.StatusOK).Lacks(t, secret, secret[10:])
		checkPage(t, page)
		code = allow(t, b, e.URL, page.Value(t, "link"))
		again := strings.NewReplacer("code=CODE", "code="+code, "CLIENT-SECRET", secret).Replace(page.Value(t, "exchange"))
		if run(t, again)["access_token"] == nil {
			t.Error("the command of the application's page does not work")
		}
		b.Get("/settings/applications").Has(t, "Recall & Robot", "within the last hour", "Confidential client")
		if strings.Contains(e.Log.String(), secret) || strings.Contains(e.Log.String(), code) {
			t.Error("a secret is in the log")
		}
	})
}

func TestConnectPublicApplication(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t).SignIn(seed.DemoAdmin)
		made := b.Submit(b.Get("/settings/applications/new").Form(t, "/settings/applications"), url.Values{
			"name": {"Waiting room board"}, "redirect_uris": {"com.example.board:/callback"}, "scopes": {"practice:read"}, "kind": {"public"},
		}).Status(t, http.StatusOK).Lacks(t, "cs_secret_")
		checkPage(t, made)
		const verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
		link := strings.Replace(made.Value(t, "link"), "YOUR-CODE-CHALLENGE", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", 1)
		code := allow(t, b, e.URL, link)
		granted := run(t, strings.NewReplacer("=CODE", "="+code, "YOUR-CODE-VERIFIER", verifier).Replace(made.Value(t, "exchange")))
		if first := run(t, strings.Replace(made.Value(t, "request"), "ACCESS-TOKEN", granted["access_token"].(string), 1)); first["practice"] == nil {
			t.Errorf("the first request returned %v", first)
		}
		page := b.Get("/settings/applications/" + made.Value(t, "client-id"))
		if page.HasForm("/settings/applications/" + made.Value(t, "client-id") + "/secret") {
			t.Error("a public application can get a secret")
		}
		b.Post("/settings/applications/"+made.Value(t, "client-id")+"/secret", url.Values{}).Status(t, http.StatusNotFound)
	})
}

func TestApplicationErrors(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t).SignIn(seed.DemoAdmin)
		id, _ := application(t, b, "Recall Robot", "patient:read")
		for _, path := range []string{"/settings/applications", "/settings/applications/" + id} {
			page := b.Get("/settings/applications/new")
			if path != "/settings/applications" {
				page = b.Get(path)
			}
			form := page.Form(t, path)
			for _, test := range []struct {
				field, value, message string
			}{
				{"name", " ", "Enter a name"},
				{"name", strings.Repeat("x", 101), "The name is too long (maximum is 100 characters)."},
				{"redirect_uris", "\r\n \r\n", "Enter at least one redirect URI."},
				{"redirect_uris", "http://example.com/", "must use https"},
				{"redirect_uris", callback + "\r\n/callback", "must be absolute"},
				{"redirect_uris", callback + "#x", "must not have a fragment"},
				{"redirect_uris", "javascript:alert(1)", "must use https"},
				{"scopes", "", "Choose at least one"},
				{"scopes", "everything", "must be existing scopes"},
			} {
				given := url.Values{"name": {"Robot <2>"}, "redirect_uris": {callback + "\r\nhttps://x.example/"}, "scopes": {"user:read"}}
				given.Set(test.field, test.value)
				p := b.Submit(form, given)
				checkFieldErrors(t, p, map[string]string{test.field: test.message})
				checkPage(t, p)
				back := p.Form(t, path).Values
				if test.field != "scopes" && back.Get("scopes") != "user:read" || test.field != "name" && back.Get("name") != "Robot <2>" {
					t.Errorf("with a wrong %s comes back %v", test.field, back)
				}
			}
			checkFieldErrors(t, b.Submit(form, url.Values{"name": nil, "redirect_uris": nil, "scopes": nil}), map[string]string{"name": "Enter", "redirect_uris": "Enter", "scopes": "Choose"})
		}
		form := b.Get("/settings/applications/new").Form(t, "/settings/applications")
		checkFieldErrors(t, b.Submit(form, url.Values{"name": {"x"}, "redirect_uris": {callback}, "scopes": {"user"}, "kind": {"other"}}), map[string]string{"kind": "Choose where"})
		b.Get("/settings/applications").Has(t, "Recall Robot").Lacks(t, "<2>")
	})
}

func TestApplicationChanges(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t).SignIn(seed.DemoAdmin)
		id, secret := application(t, b, "Recall Robot", "user:read")
		path := "/settings/applications/" + id
		page := b.Get(path)
		link := page.Value(t, "link")
		form := page.Form(t, path)
		if form.Values.Get("redirect_uris") != callback || form.Values.Get("scopes") != "user:read" || form.Values.Get("name") != "Recall Robot" {
			t.Errorf("the form holds %v", form.Values)
		}
		exchange := func(secret string) *harness.Response {
			code := allow(t, b, e.URL, link)
			return e.Post(t, "/oauth/token", "", map[string]string{
				"grant_type": "authorization_code", "code": code, "redirect_uri": callback, "client_id": id, "client_secret": secret,
			})
		}
		token := exchange(secret).Status(t, http.StatusOK).Text(t, "access_token")

		rotated := b.Submit(page.Form(t, path+"/secret"), nil).Status(t, http.StatusOK).Has(t, "New secret for Recall Robot")
		checkPage(t, rotated)
		fresh := rotated.Value(t, "client-secret")
		if fresh == secret {
			t.Error("the secret is the old one")
		}
		exchange(secret).Status(t, http.StatusUnauthorized)
		exchange(fresh).Status(t, http.StatusOK)
		e.Get(t, "/v1/user", token).Status(t, http.StatusOK)

		saved := b.Submit(form, url.Values{"name": {"Renamed"}, "redirect_uris": {"https://other.example.com/"}, "scopes": {"user:read", "patient:read"}})
		b.Follow(saved).Status(t, http.StatusOK).Has(t, "Changes saved.", "Renamed")
		b.Get(strings.TrimPrefix(link, e.URL)).Status(t, http.StatusBadRequest) // the redirect URI is no longer registered
		e.Get(t, "/v1/user", token).Status(t, http.StatusOK)

		gone := b.Submit(page.Form(t, path+"/delete"), nil)
		b.Follow(gone).Status(t, http.StatusOK).Has(t, "Application deleted.", "No applications yet")
		e.Get(t, "/v1/user", token).Error(t, http.StatusUnauthorized, "invalid_token")
		b.Get(path).Status(t, http.StatusNotFound)
		b.Submit(page.Form(t, path+"/delete"), nil).Status(t, http.StatusNotFound)
		b.Submit(form, nil).Status(t, http.StatusNotFound)
	})
}

func TestConsent(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t).SignIn(seed.DemoAdmin)
		id, secret := application(t, b, "Recall <Robot>", "patient:read", "user")
		request := "/oauth/authorize?" + url.Values{
			"client_id": {id}, "redirect_uri": {callback}, "response_type": {"code"}, "scope": {"user patient:read"}, "state": {"a&b=\"c\"<d>"},
		}.Encode()

		// A user of another practice, who must sign in first.
		stranger := e.Browser(t)
		form := stranger.Follow(stranger.Get(request)).Form(t, "/sign-in")
		page := stranger.Follow(stranger.Submit(form, url.Values{"email": {seed.SecondAdmin}, "password": {seed.Password}})).Status(t, http.StatusOK)
		checkPage(t, page)
		checkHeaders(t, page, strings.Replace(policy, "form-action 'self'", "form-action 'self' https:", 1))
		page.Has(t, "Authorise Recall <Robot>", "registered by Demo", "in Second", "Read patients", "Read, create, update and delete users", seed.SecondAdmin, "app.example.com")
		decide := page.Form(t, "/oauth/authorize")

		denied := stranger.Submit(decide, url.Values{"decision": {"deny"}})
		if to := denied.Redirect(t); to.Query().Get("error") != "access_denied" || to.Query().Get("state") != "a&b=\"c\"<d>" || to.Query().Get("iss") != e.URL {
			t.Errorf("denying redirects to %s", to)
		}
		checkHeaders(t, denied, policy)
		stranger.Submit(decide, nil).Status(t, http.StatusUnprocessableEntity).Has(t, "Authorise Recall")
		stranger.Submit(decide, url.Values{"decision": {"perhaps"}}).Status(t, http.StatusUnprocessableEntity)

		// If another user has signed in since, the page is shown again.
		stranger.SignIn(seed.DemoAdmin)
		shown := stranger.Submit(decide, url.Values{"decision": {"allow"}}).Status(t, http.StatusOK).Has(t, seed.DemoAdmin).Lacks(t, seed.SecondAdmin)
		if codes, err := e.DB.Ent.AuthorizationCode.Query().Count(e.As(t, seed.DemoSlug)); err != nil || codes > 0 {
			t.Errorf("%d codes, %v", codes, err)
		}
		out := stranger.Submit(shown.Form(t, "/sign-out"), nil)
		if got := out.Redirect(t).Query().Get("next"); !strings.HasPrefix(got, "/oauth/authorize?") {
			t.Errorf("signing out redirects to next=%s", got)
		}
		if got := stranger.Submit(decide, url.Values{"decision": {"allow"}}).Redirect(t); got.Path != "/sign-in" || !strings.HasPrefix(got.Query().Get("next"), "/oauth/authorize?") {
			t.Errorf("without a session: redirect to %s", got)
		}

		// Authorised: listed with its permissions until revoked.
		b.Get("/settings/authorizations").Has(t, "No authorised applications")
		code := b.Submit(b.Get(request).Form(t, "/oauth/authorize"), url.Values{"decision": {"allow"}}).Redirect(t).Query().Get("code")
		token := e.Post(t, "/oauth/token", "", map[string]string{
			"grant_type": "authorization_code", "code": code, "redirect_uri": callback, "client_id": id, "client_secret": secret,
		}).Status(t, http.StatusOK).Text(t, "access_token")
		e.Get(t, "/v1/user", token).Status(t, http.StatusOK)
		list := b.Get("/settings/authorizations").Has(t, "Recall <Robot>", "Registered by Demo", "Read patients; read, create, update and delete users.", "within the last hour")
		checkPage(t, list)
		b.Get("/settings/tokens").Has(t, "No tokens yet")
		path := "/settings/authorizations/" + id + "/revoke"
		b.Follow(b.Submit(list.Form(t, path), nil)).Has(t, "Access revoked", "No authorised applications")
		e.Get(t, "/v1/user", token).Error(t, http.StatusUnauthorized, "invalid_token")
		b.Submit(list.Form(t, path), nil).Status(t, http.StatusSeeOther) // revoking twice is not an error
	})
}

func TestConsentRefuses(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t).SignIn(seed.DemoAdmin)
		id, _ := application(t, b, "Recall Robot", "patient:read")
		for query, message := range map[string]string{
			"": "client_id is missing.",
			"client_id=" + id + "&redirect_uri=https://evil.example/": "The redirect URI is not registered",
			"client_id=" + unusedID[1:] + "&redirect_uri=" + callback: "The application is unknown.",
			"client_id=" + id + "&redirect_uri=%zz":                   "could not be read",
		} {
			p := b.Get("/oauth/authorize?"+query).Status(t, http.StatusBadRequest).Has(t, message)
			checkHeaders(t, p, policy)
			checkPage(t, p)
		}
		p := b.Get("/oauth/authorize?client_id=" + id + "&redirect_uri=" + callback)
		if to := p.Redirect(t); to.Host != "app.example.com" || to.Query().Get("error") != "invalid_request" {
			t.Errorf("redirects to %s", to)
		}
	})
}

// TestListQueriesDoNotGrowWithRows: a page makes as many queries for many rows as for few.
func TestListQueriesDoNotGrowWithRows(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t).SignIn(seed.DemoAdmin)
		add := func() {
			id, secret := application(t, b, "Robot", "user:read")
			makeToken(t, b, "Script", nil)
			e.Browser(t).SignIn(seed.DemoAdmin)
			code := allow(t, b, e.URL, b.Get("/settings/applications/"+id).Value(t, "link"))
			e.Post(t, "/oauth/token", "", map[string]string{
				"grant_type": "authorization_code", "code": code, "redirect_uri": callback, "client_id": id, "client_secret": secret,
			}).Status(t, http.StatusOK)
		}
		add()
		var queries atomic.Int64
		e.DB.Ent.Intercept(ent.InterceptFunc(func(next ent.Querier) ent.Querier {
			queries.Add(1)
			return next
		}))
		paths := []string{"/settings/tokens", "/settings/applications", "/settings/authorizations", "/settings/sessions"}
		count := func() map[string]int64 {
			costs := map[string]int64{}
			for _, path := range paths {
				before := queries.Load()
				b.Get(path).Status(t, http.StatusOK)
				e.Settle()
				costs[path] = queries.Load() - before
			}
			return costs
		}
		few := count()
		for range 5 {
			add()
		}
		for path, cost := range count() {
			if cost != few[path] || cost == 0 || cost > 7 {
				t.Errorf("%s: %d queries for a row, %d for six", path, few[path], cost)
			}
		}
	})
}

// TestDocumentedCommands runs the commands of /docs#authorization.
func TestDocumentedCommands(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t).SignIn(seed.DemoAdmin)
		id, secret := application(t, b, "Recall Robot", "appointment", "patient:read")
		var blocks []string
		for _, n := range b.Get("/docs").Status(t, http.StatusOK).All(func(n *html.Node) bool { return n.DataAtom == atom.Pre }) {
			blocks = append(blocks, textOf(n))
		}
		if len(blocks) != 7 {
			t.Fatalf("the page has %d blocks", len(blocks))
		}
		known := "BASE=" + e.URL + " CLIENT_ID=" + id + " CLIENT_SECRET=" + secret + " REDIRECT_URI=" + callback + "\n"
		for _, name := range []string{"BASE=", "CLIENT_ID=", "CLIENT_SECRET=", "REDIRECT_URI="} {
			if !strings.Contains(blocks[0], name) {
				t.Errorf("%s is not explained", name)
			}
		}
		out := shell(t, known+blocks[1]+"\necho \"VERIFIER=$VERIFIER\"")
		link, verifier, _ := strings.Cut(strings.TrimSpace(out), "\n")
		code := allow(t, b, e.URL, link)
		var granted, want map[string]any
		if err := json.Unmarshal([]byte(shell(t, known+verifier+"\nCODE="+code+"\n"+blocks[3]+" --silent")), &granted); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(blocks[4]), &want); err != nil {
			t.Fatal(err)
		}
		for name, value := range want {
			if name != "access_token" && granted[name] != value {
				t.Errorf("%s is %v, documented as %v", name, granted[name], value)
			}
		}
		token, ok := granted["access_token"].(string)
		if !ok {
			t.Fatalf("the exchange returned %v", granted)
		}
		use := known + strings.Replace(blocks[5], "TOKEN=cs_oat_…", "TOKEN="+token, 1)
		if got := shell(t, use+" --silent"); !strings.HasPrefix(got, `{"appointments":[`) {
			t.Errorf("the first request returned %.200s", got)
		}
		shell(t, known+"TOKEN="+token+"\n"+blocks[6]+" --silent --fail")
		e.Get(t, "/v1/appointments", token).Error(t, http.StatusUnauthorized, "invalid_token")
	})
}
