package server

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"chairside/internal/scope"
	"chairside/ogent"
	"chairside/schema"
)

func TestDocsExplainEveryErrorCode(t *testing.T) {
	t.Parallel()
	b := setup(t)
	page := b.get("/docs", "Authorization:").ok(t, 200)
	source, err := os.ReadFile("../apierror/apierror.go")
	if err != nil {
		t.Fatal(err)
	}
	codes := regexp.MustCompile(`build\([^"]*"([a-z_]+)"`).FindAllStringSubmatch(string(source), -1)
	if len(codes) < 15 {
		t.Fatalf("found only %d codes", len(codes))
	}
	for _, code := range codes {
		if !strings.Contains(page.body, `id="`+code[1]+`"`) {
			t.Errorf("%s is not explained", code[1])
		}
	}
}

// TestDocsAgreeWithPackageScope checks the tables of scopes and roles.
func TestDocsAgreeWithPackageScope(t *testing.T) {
	t.Parallel()
	page := setup(t).get("/docs", "Authorization:").ok(t, 200)
	roles := map[scope.Level][]string{}
	for _, name := range schema.Role("").Values() {
		level := schema.Role(name).PermissionLevel()
		roles[level] = append(roles[level], name)
	}
	for _, family := range scope.Families {
		if row := fmt.Sprintf("<td><code>%s</code></td><td>%s</td>", family, scope.Describe(family)); !strings.Contains(page.body, row) {
			t.Errorf("the page lacks %s", row)
		}
	}
	for level, names := range roles {
		row := fmt.Sprintf("<td>%s</td><td><code>%s</code></td>", strings.Join(names, ", "), level.MayHold())
		if !strings.Contains(page.body, row) {
			t.Errorf("level %d is not documented as %s", level, row)
		}
	}
}

// TestScopesDescribeTheirResources checks that scope.Describe mentions every resource of the API.
func TestScopesDescribeTheirResources(t *testing.T) {
	t.Parallel()
	var document struct {
		Paths map[string]struct {
			Get struct {
				Tags     []string
				Security []map[string][]string
			}
		}
	}
	if err := json.Unmarshal(ogent.Document, &document); err != nil {
		t.Fatal(err)
	}
	checked := 0
	for path, item := range document.Paths {
		for _, needed := range item.Get.Security {
			if len(needed["oauth2"]) == 0 {
				continue
			}
			checked++
			family, _, _ := strings.Cut(needed["oauth2"][0], ":")
			resource := strings.NewReplacer("nhs_", "NHS ", "practices", "the practice", "users", "the people who sign in",
				"treatment_categories", "categories", "treatment_plan_items", "their items", "_", " ").Replace(item.Get.Tags[0])
			if !strings.Contains(scope.Describe(family), resource) {
				t.Errorf("%s needs the scope %s, whose description lacks %q: %s", path, family, resource, scope.Describe(family))
			}
		}
	}
	if checked < 40 {
		t.Errorf("checked only %d operations", checked)
	}
}

func TestDocsLoadNothingFromOtherHosts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	page := b.get("/docs").ok(t, 200)
	if policy := page.Header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'; style-src 'self'; script-src 'self';") {
		t.Errorf("policy is %q", policy)
	}
	links := regexp.MustCompile(`(?:src|href)="([^"#][^"]*)"`).FindAllStringSubmatch(page.body, -1)
	if len(links) < 5 {
		t.Fatalf("found only %d links", len(links))
	}
	for _, link := range links {
		if strings.HasPrefix(link[1], "/settings/") {
			continue // needs a session
		}
		address, _, _ := strings.Cut(link[1], "#")
		if a := b.get(address, "Authorization:", "Accept: text/html, */*"); a.StatusCode != 200 || len(a.body) == 0 {
			t.Errorf("%s: %d, %d bytes", link[1], a.StatusCode, len(a.body))
		}
	}
	if strings.Contains(page.body, "<script>") || strings.Contains(page.body, "style=") {
		t.Error("the page has inline code, which its policy forbids")
	}
	if a := b.get("/docs/").ok(t, 301); a.Header.Get("Location") != "/docs" {
		t.Errorf("/docs/ redirects to %q", a.Header.Get("Location"))
	}
	b.get("/docs/nothing.js").refused(t, 404, "not_found")
	b.get("/docs/operations/nothing").ok(t, 404)
	b.get("/docs/oauth2-redirect.html").refused(t, 404, "not_found")
}

func TestOpenAPIAndAvatarAreServed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.get("/openapi.json", "Authorization:").ok(t, 200)
	if !json.Valid([]byte(a.body)) || a.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%s, %.60s", a.Header.Get("Content-Type"), a.body)
	}
	// The servers' addresses are absolute; everything else is as in the published document.
	const base = "https://api.example.test"
	published := strings.NewReplacer(
		`"url": "/v1"`, `"url": "`+base+`/v1"`, `"url": "/"`, `"url": "`+base+`"`,
		`"authorizationUrl": "/oauth/authorize"`, `"authorizationUrl": "`+base+`/oauth/authorize"`, `"tokenUrl": "/oauth/token"`, `"tokenUrl": "`+base+`/oauth/token"`,
		exampleURL+"/", base+"/",
	).Replace(string(ogent.Document))
	if a.body != published || strings.Count(a.body, `rl": "`+base) != 4+strings.Count(string(ogent.Document), `rl": "`+exampleURL) {
		t.Error("the served document is not the published one with absolute addresses")
	}
	b.get("/openapi.json", "If-None-Match: "+a.Header.Get("ETag")).ok(t, 304)
	avatar := b.get("/static/avatar.svg", "Authorization:").ok(t, 200)
	if !strings.HasPrefix(avatar.body, "<svg") || avatar.Header.Get("Content-Type") != "image/svg+xml" || !strings.Contains(avatar.Header.Get("Cache-Control"), "immutable") {
		t.Errorf("%v %.60s", avatar.Header, avatar.body)
	}
	b.get("/static/").refused(t, 404, "not_found")
}

func TestOpenAPIIsCompressedForClientsThatAcceptIt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	plain := b.get("/openapi.json").ok(t, 200)
	packed := b.get("/openapi.json", "Accept-Encoding: br, gzip").ok(t, 200)
	if packed.Header.Get("Content-Encoding") != "gzip" || plain.Header.Get("Content-Encoding") != "" {
		t.Error("the wrong response is compressed")
	}
	unpacked, err := gzip.NewReader(strings.NewReader(packed.body))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(unpacked)
	if err != nil || string(text) != plain.body || plain.Header.Get("ETag") == packed.Header.Get("ETag") {
		t.Errorf("%v, or the texts differ, or the tags are equal", err)
	}
}

// TestReferenceHasEveryOperationAndSchema opens the page of each.
func TestReferenceHasEveryOperationAndSchema(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var document struct {
		Paths      map[string]map[string]json.RawMessage
		Components struct{ Schemas map[string]json.RawMessage }
	}
	if err := json.Unmarshal(ogent.Document, &document); err != nil {
		t.Fatal(err)
	}
	index := b.get("/docs", "Authorization:").ok(t, 200).body
	check := func(address string, texts ...string) {
		page := b.get(address, "Authorization:").ok(t, 200)
		for _, text := range texts {
			if !strings.Contains(page.body, text) {
				t.Errorf("%s lacks %q", address, text)
			}
		}
		if !strings.Contains(index, `href="`+address+`"`) {
			t.Errorf("the index does not link to %s", address)
		}
		if len(page.body) > 500_000 || regexp.MustCompile(`(?:src|href|action)="(?:https?:)?//`).MatchString(page.body) {
			t.Errorf("%s has %d bytes, or loads from another host", address, len(page.body))
		}
	}
	checked := 0
	for _, item := range document.Paths {
		for method, raw := range item {
			var operation struct{ OperationID string }
			if method == "servers" || json.Unmarshal(raw, &operation) != nil {
				continue
			}
			checked++
			check("/docs/operations/"+operation.OperationID, `id="curl"`, `id="javascript"`, `id="python"`, `id="go"`)
		}
	}
	for name := range document.Components.Schemas {
		check("/docs/schemas/" + name)
	}
	if checked < 90 {
		t.Errorf("checked only %d operations", checked)
	}
}

// TestSamplesSayThatASecondOneConflicts: the operations that book a slot say so beside their samples, others
// do not.
func TestSamplesSayThatASecondOneConflicts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const sentence = `All samples send the same request, so each one after the first gets <a href="#response-409">409</a>: the practitioner is booked at that time (<code>double_booking</code>).`
	for id, want := range map[string]bool{
		"createAppointment": true, "createAppointmentHold": true,
		"updateAppointment": false, "deleteAppointment": false, "createPatient": false, "listAppointments": false, "batch": false,
	} {
		page := b.get("/docs/operations/"+id, "Authorization:").ok(t, 200)
		if got := strings.Contains(page.body, sentence); got != want || !want && strings.Contains(page.body, "All samples send") {
			t.Errorf("%s: the sentence is there: %v, want %v", id, got, want)
		}
	}
}

// TestSamplesSayWhereToTakeAnID checks that the example id in a path comes with the operations that list and
// create such records.
func TestSamplesSayWhereToTakeAnID(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const list, create = `take one from <a href="/docs/operations/listWebhooks">`, `create a record with <a href="/docs/operations/%s"><code>POST %s</code></a>`
	for id, want := range map[string][]string{
		"getWebhook":            {list, fmt.Sprintf(create, "createWebhook", "/webhooks")},
		"deleteAppointmentHold": {"The <code>id</code> is an example: " + fmt.Sprintf(create, "createAppointmentHold", "/appointments/holds")},
	} {
		page := b.get("/docs/operations/"+id, "Authorization:").ok(t, 200)
		for _, words := range want {
			if !strings.Contains(page.body, words) {
				t.Errorf("%s: no %q", id, words)
			}
		}
	}
	if page := b.get("/docs/operations/listWebhooks", "Authorization:").ok(t, 200); strings.Contains(page.body, "is an example:") {
		t.Error("listWebhooks has no id")
	}
}

// TestReferenceSearchIsRanked checks that what the query names comes first.
func TestReferenceSearchIsRanked(t *testing.T) {
	t.Parallel()
	b := setup(t)
	link := regexp.MustCompile(`<dt><a href="([^"]+)">`)
	for query, want := range map[string][]string{
		"appointments":         {"/docs/operations/listAppointments", "/docs/operations/createAppointment"},
		"appointment":          {"/docs/schemas/Appointment", "/docs/operations/listAppointments", "/docs/operations/createAppointment"},
		"create appointment":   {"/docs/operations/createAppointment", "/docs/operations/createAppointmentHold"},
		"createAppointment":    {"/docs/operations/createAppointment"},
		"List NHS claims":      {"/docs/operations/listNHSClaims"},
		"double_booking":       {"/docs#double_booking"},
		"double booking":       {"/docs#double_booking"},
		"/v1/patients":         {"/docs/operations/listPatients", "/docs/operations/createPatient", "/docs/operations/getPatient"},
		"/patients":            {"/docs/operations/listPatients", "/docs/operations/createPatient"},
		"POST /v1/patients":    {"/docs/operations/createPatient"},
		"/v1/patients/{id}":    {"/docs/operations/getPatient", "/docs/operations/putPatient", "/docs/operations/updatePatient", "/docs/operations/deletePatient"},
		"PatientList":          {"/docs/schemas/PatientList"},
		"time zones":           {"/docs/guides/time-zones"},
		"cancellation reasons": {"/docs/operations/listAppointmentCancellationReasons"}, // in its summary
		"force_changes":        {"/docs#double_booking"},                                // in its text
		"cursor snapshot":      {"/docs#cursor_expired"},
		// In a reader's words.
		"pagination":            {"/docs/guides/lists"},
		"find a patient":        {"/docs/operations/getPatient", "/docs/operations/listPatients"},
		"cancel an appointment": {"/docs/operations/updateAppointment"},
		"book an appointment":   {"/docs/operations/createAppointment"},
	} {
		page := b.get("/docs/search?q="+url.QueryEscape(query), "Authorization:").ok(t, 200)
		var got []string
		for _, m := range link.FindAllStringSubmatch(page.body, -1) {
			got = append(got, m[1])
		}
		if len(got) < len(want) || !slices.Equal(got[:len(want)], want) {
			t.Errorf("%s: %q, want %q first", query, got[:min(len(got), 5)], want)
		}
		checked := map[string]bool{}
		for _, address := range got {
			if checked[address] {
				t.Errorf("%s: %s is listed twice", query, address)
			}
			checked[address] = true
		}
	}
	for _, query := range []string{"", " ", "?", "%", "zzzz", "\u200d"} {
		if page := b.get("/docs/search?q="+url.QueryEscape(query), "Authorization:").ok(t, 200); query == "zzzz" && link.MatchString(page.body) {
			t.Errorf("%q finds something", query)
		}
	}
}

// TestReadersFindWhatTheyAskFor: one of the first three results of a question in a reader's words is the page that answers it.
func TestReadersFindWhatTheyAskFor(t *testing.T) {
	t.Parallel()
	b := setup(t)
	link := regexp.MustCompile(`<dt><a href="([^"]+)">`)
	const shown = 3
	for query, want := range map[string]string{
		"book appointment":                   "/docs/operations/createAppointment",
		"how do I book":                      "/docs/guides/booking",
		"cancel":                             "/docs/operations/updateAppointment",
		"cancel with a reason":               "/docs/guides/waiting-lists#cancel-an-appointment-with-a-reason",
		"reschedule an appointment":          "/docs/operations/updateAppointment",
		"free slots":                         "/docs/operations/listAvailability",
		"double booking":                     "/docs#double_booking",
		"slot is taken":                      "/docs/guides/booking#when-the-slot-is-taken",
		"token":                              "/docs/guides/first-request#2-get-a-token",
		"API key":                            "/docs/guides/first-request#2-get-a-token",
		"refresh token":                      "/docs/guides/authorise-users#refresh-tokens",
		"oauth":                              "/docs/guides/authorise-users",
		"login":                              "/docs/guides/sign-in",
		"invoice status":                     "/docs/operations/listInvoices",
		"unpaid invoices":                    "/docs/operations/listInvoices",
		"webhook signature":                  "/docs/guides/webhooks#verify-the-signature",
		"verify webhooks":                    "/docs/guides/webhooks#verify-the-signature",
		"rate limit":                         "/docs/guides/limits",
		"429":                                "/docs#rate_limited",
		"If-Match":                           "/docs/guides/etags#change-only-what-you-have-seen",
		"If-None-Match":                      "/docs/guides/etags#read-only-what-has-changed",
		"per_page":                           "/docs/guides/lists#pages",
		"Idempotency-Key":                    "/docs/guides/retries#send-a-write-again",
		"too many requests":                  "/docs/guides/limits",
		"pagination":                         "/docs/guides/lists",
		"sort":                               "/docs/guides/lists#sorting",
		"filter by date":                     "/docs/guides/lists#filtering",
		"idempotency key":                    "/docs/guides/retries#send-a-write-again",
		"timezone":                           "/docs/guides/time-zones",
		"daylight saving time":               "/docs/guides/time-zones",
		"search for patients by phone":       "/docs/operations/listPatients",
		"add patient":                        "/docs/operations/createPatient",
		"remove a patient":                   "/docs/operations/deletePatient",
		"GDPR":                               "/docs/guides/patient-data#erase",
		"change feed":                        "/docs/operations/listChanges",
		"opening hours":                      "/docs/operations/getPractice",
		"recall letters":                     "/docs/guides/recalls#recall-a-patient",
		"restore a backup":                   "/docs/guides/backups#restore-an-embedded-database",
		"test data":                          "/docs/guides/sandbox",
		"413":                                "/docs#body_too_large",
		"outstanding balance of an account":  "/docs/schemas/Account",
		"list of dentists":                   "/docs/operations/listPractitioners",
		"which appointments were cancelled?": "/docs/operations/listAppointments",
	} {
		page := b.get("/docs/search?q="+url.QueryEscape(query), "Authorization:").ok(t, 200)
		var got []string
		for _, m := range link.FindAllStringSubmatch(page.body, shown+2) {
			got = append(got, m[1])
		}
		if !slices.Contains(got[:min(len(got), shown)], want) {
			t.Errorf("%s: %q, want %s among the first %d", query, got, want, shown)
		}
	}
}

// TestDocumentsNameThisServer: neither the document nor a page has another address for it than the public URL.
func TestDocumentsNameThisServer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for path, want := range map[string]string{
		"/openapi.json":                      `"documentation_url": "https://api.example.test/docs#`,
		"/docs":                              "<pre>BASE=https://api.example.test\n",
		"/docs/operations/getPatient":        "https://api.example.test/static/avatar.svg",
		"/docs/guides/first-request":         "export BASE=https://api.example.test\n",
		"/docs/guides/assistants":            "https://api.example.test&#34;, &#34;--token-file",
		"/docs/guides/clients":               "https://api.example.test/openapi.json",
		"/docs/operations/createAppointment": "curl --fail-with-body -X POST &#39;https://api.example.test/v1/appointments&#39;",
	} {
		page := strings.NewReplacer("&quot;", "&#34;", "&#x27;", "&#39;").Replace(b.get(path, "Authorization:").ok(t, 200).body)
		if !strings.Contains(page, want) {
			t.Errorf("%s lacks %s", path, want)
		}
		for _, other := range []string{exampleURL, "127.0.0.1:8080", "localhost:8080"} {
			if strings.Contains(page, other) {
				t.Errorf("%s names %s", path, other)
			}
		}
	}
	if page := b.get("/docs/guides/sandbox", "Authorization:").ok(t, 200); !strings.Contains(page.body, "export BASE=http://127.0.0.1:8080\n") {
		t.Error("the guide to sandboxes does not name the address of a new one")
	}
}
