package web_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"chairside/ent"
	"chairside/ent/user"
	"chairside/internal/principal"
	"chairside/internal/provision"
	"chairside/internal/report"
	"chairside/internal/seed"
	"chairside/internal/signin/password"
	"chairside/internal/test/harness"
	"chairside/schema"
)

func TestReportsDependOnRole(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		for _, role := range []schema.Role{schema.RoleReceptionist, schema.RoleDentist, schema.RoleManager, schema.RoleAdministrator} {
			b := e.Browser(t)
			if role == schema.RoleAdministrator {
				b.SignIn(seed.DemoAdmin)
			} else {
				b.SignIn(userWithRole(t, e, role).Email)
			}
			list := b.Get("/reports").Status(t, http.StatusOK)
			checkHeaders(t, list, policy)
			checkPage(t, list)
			listed := map[string]bool{}
			for _, link := range list.Links() {
				if listed[link] {
					t.Errorf("%s appears twice in the list", link)
				}
				listed[link] = true
			}
			if !listed["/reports"] {
				t.Errorf("a %s has no reports in the navigation", role)
			}
			for _, r := range report.All {
				path, mayRead := "/reports/"+r.Name, r.OpenTo(role.PermissionLevel())
				if listed[path] != mayRead {
					t.Errorf("%s is listed for a %s: %v", path, role, listed[path])
				}
				if mayRead {
					b.Get(path).Status(t, http.StatusOK)
					continue
				}
				for _, ending := range []string{"", ".csv", ".json"} {
					p := b.Get(path+ending).Status(t, http.StatusForbidden).Has(t, "You don’t have access to this report")
					checkHeaders(t, p, policy)
					checkPage(t, p)
				}
			}
		}
	})
}

func TestReportsRequireSession(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t)
		for _, path := range []string{"/reports", "/reports/income", "/reports/day-sheet.csv", "/reports/nothing", "/reports/income?from=2026-04-01&site="} {
			p := b.Get(path)
			checkHeaders(t, p, policy)
			if got, want := p.Redirect(t).String(), "/sign-in?next="+url.QueryEscape(path); got != want {
				t.Errorf("%s redirects to %s, want %s", path, got, want)
			}
		}
		b.SignIn(seed.DemoAdmin)
		for _, path := range []string{"/reports/nothing", "/reports/income.html", "/reports/income.csv.csv", "/reports/.csv", "/reports/income/chart", "/reports/"} {
			b.Get(path).Status(t, http.StatusNotFound)
		}
		p := b.Post("/reports/income", url.Values{}).Status(t, http.StatusMethodNotAllowed)
		if got := p.Header.Get("Allow"); got != "GET, HEAD" {
			t.Errorf("Allow: %q", got)
		}
	})
}

// TestReportPages checks every report with data: charts have names and pass the policy,
// and tables can be scrolled by keyboard.
func TestReportPages(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t).SignIn(seed.DemoAdmin)
		for _, r := range report.All {
			path := "/reports/" + r.Name
			p := b.Get(path).Status(t, http.StatusOK).Has(t, r.Title, r.Definitions[0].Meaning, "Demo")
			checkHeaders(t, p, policy)
			checkPage(t, p)
			charts, regions, tables := 0, 0, 0
			for _, n := range p.All(func(*html.Node) bool { return true }) {
				switch {
				case n.DataAtom == atom.Svg:
					charts++
					if harness.Attr(n, "role") != "img" || harness.Attr(n, "aria-label") == "" {
						t.Errorf("%s: a chart has no name", path)
					}
				case n.DataAtom == atom.Table:
					tables++
				case harness.Attr(n, "role") == "region":
					regions++
					if harness.Attr(n, "tabindex") != "0" || harness.Attr(n, "aria-label") == "" {
						t.Errorf("%s: a table cannot be scrolled by keyboard", path)
					}
				}
			}
			if charts == 0 || tables == 0 || regions != tables {
				t.Errorf("%s: %d charts, %d tables in %d regions", path, charts, tables, regions)
			}
			if head := b.Send(http.MethodHead, path, nil, nil).Status(t, http.StatusOK); len(head.Raw) > 0 {
				t.Errorf("HEAD %s has a body", path)
			}
		}
	})
}

// TestReportsOfEmptyPractice: the pages of a new practice say what is missing, for its
// local day.
func TestReportsOfEmptyPractice(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		const email = "first@new.example.com"
		ctx := principal.AsSystem(t.Context())
		chosen, err := password.Unchecked(ctx, seed.Password)
		if err != nil {
			t.Fatal(err)
		}
		e.Tx(t, ctx, func(tx *ent.Client) error {
			_, err := provision.Practice(ctx, tx, provision.NewPractice{
				Name: "Brand New", TimeZone: "Pacific/Auckland", Country: "NZ",
				First: provision.Person{FirstName: "First", LastName: "User", Email: email, Password: chosen},
			})
			return err
		})
		b := e.Browser(t).SignIn(email)
		for _, r := range report.All {
			p := b.Get("/reports/"+r.Name).Status(t, http.StatusOK).Has(t, "Brand New").Lacks(t, "Demo")
			checkPage(t, p)
			empty := p.All(func(n *html.Node) bool { return harness.Attr(n, "class") == "empty" })
			// With opening hours the diary is free, not empty.
			if open := slices.Contains([]string{"diary", "day-sheet", "capacity"}, r.Name); open != (len(empty) == 0) {
				t.Errorf("%s: %d parts say that they are empty", r.Name, len(empty))
			}
		}
		for _, want := range []string{"2026-07-01", "2026-07-02"} { // evening in Auckland
			if got := b.SignIn(email).Get("/reports/day-sheet").Value(t, "to"); got != want {
				t.Errorf("today is %s, want %s", got, want)
			}
			e.Clock.Advance(3 * time.Hour)
		}
	})
}

// TestReportQueriesDoNotGrowWithRows: a report makes as many queries for many rows as for
// few.
func TestReportQueriesDoNotGrowWithRows(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t).SignIn(seed.DemoAdmin)
		var queries atomic.Int64
		e.DB.Ent.Intercept(ent.InterceptFunc(func(next ent.Querier) ent.Querier {
			queries.Add(1)
			return next
		}))
		for _, r := range report.All {
			few, many := "?from=2026-06-24&to=2026-06-25", "?from=2025-07-01&to=2026-07-01"
			if r.AsAt {
				few = "?to=2025-07-20"
			}
			look := func(asked string) (cost int64, rows int) {
				before := queries.Load()
				b.Get("/reports/"+r.Name+asked).Status(t, http.StatusOK)
				e.Settle()
				cost = queries.Load() - before
				return cost, strings.Count(string(b.Get("/reports/"+r.Name+".csv"+asked).Status(t, http.StatusOK).Raw), "\n")
			}
			costFew, rowsFew := look(few)
			costMany, rowsMany := look(many)
			if costFew == 0 || costMany > costFew+1 || costMany > 16 { // without rows, no names are read
				t.Errorf("%s: %d queries for few rows, %d for many", r.Name, costFew, costMany)
			}
			byTarget := r.Name == "contract-performance" // one row per target, for any period
			if rowsFew >= rowsMany && !byTarget {
				t.Errorf("%s: %d rows are meant to be fewer than %d", r.Name, rowsFew, rowsMany)
			}
		}
	})
}

// TestReportsAreInAccessLog: reports that list patients are logged like API requests, without names.
// Reports that only add records up show no patient's data, and read none.
func TestReportsAreInAccessLog(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b, ctx := e.Browser(t).SignIn(seed.DemoAdmin), e.As(t, seed.DemoSlug)
		admin, err := e.DB.Ent.User.Query().Where(user.Email(seed.DemoAdmin)).Only(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range report.All {
			for _, ending := range []string{"", ".csv", ".json"} {
				p := b.Get("/reports/"+r.Name+ending).Status(t, http.StatusOK)
				found := reads(t, e, p.Header.Get("X-Request-Id"))
				named := slices.Contains([]string{"aged-debt", "claims", "recalls", "day-sheet"}, r.Name)
				if !named {
					if len(found) > 0 {
						t.Errorf("%s%s adds records up, but is in the access log: %v", r.Name, ending, found[0])
					}
					continue
				}
				if ending != "" && len(found) != 1 {
					t.Errorf("%s%s: %d lines in the access log", r.Name, ending, len(found))
				}
				seen := map[any]bool{} // a page is sent while it is read, and each part logs what it adds
				for _, l := range found {
					records, _ := l["records"].(map[string]any)
					patients, _ := records["patients"].([]any)
					if l["user_id"] != float64(admin.ID) || l["practice_id"] != admin.PracticeID.String() || l["operation"] != "/reports/{name}" || l["session_id"] == nil || l["token_id"] != nil {
						t.Errorf("%s%s: %v", r.Name, ending, l)
					}
					for _, id := range patients {
						seen[id] = true
					}
				}
				if len(seen) == 0 {
					t.Errorf("%s%s: no patients in the access log", r.Name, ending)
				}
			}
		}
		people, err := e.DB.Ent.Patient.Query().All(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range people {
			if strings.Contains(e.Log.String(), p.LastName) {
				t.Errorf("%s is in the log", p.LastName)
			}
		}
	})
}

// TestRecordsAreInAccessLog: what a page of the record browser reads has the page's request id and the
// visitor's session.
func TestRecordsAreInAccessLog(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t).SignIn(seed.DemoAdmin)
		for _, path := range []string{"/settings/records/patients", "/settings/records/patients/1"} {
			found := reads(t, e, b.Get(path).Status(t, http.StatusOK).Header.Get("X-Request-Id"))
			if len(found) == 0 {
				t.Errorf("%s: no line in the access log", path)
			}
			for _, l := range found {
				if l["session_id"] == nil || l["token_id"] != nil {
					t.Errorf("%s: %v", path, l)
				}
			}
		}
	})
}

// reads returns a request's lines in the access log.
func reads(t *testing.T, e *harness.Env, requestID string) (found []map[string]any) {
	t.Helper()
	e.Settle()
	for line := range strings.Lines(e.Log.String()) {
		if !strings.Contains(line, requestID) || !strings.Contains(line, "patient data read") {
			continue
		}
		var l map[string]any
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		found = append(found, l)
	}
	return found
}
