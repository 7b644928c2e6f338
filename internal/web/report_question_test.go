package web_test

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/html"

	"chairside/ent"
	"chairside/ent/practitioner"
	"chairside/ent/site"
	"chairside/internal/civil"
	"chairside/internal/clock"
	"chairside/internal/report"
	"chairside/internal/report/render"
	"chairside/internal/seed"
	"chairside/internal/test/harness"
)

func TestReportQueryParameters(t *testing.T) {
	cases := []struct {
		path  string
		shown map[string]string // field → value
		wrong map[string]string // field → message; none for a valid query
	}{
		// Default periods.
		{"income", map[string]string{"from": "2025-08-01", "to": "2026-07-01"}, nil},
		{"income?from=&to=&site=&practitioner=", map[string]string{"from": "2025-08-01", "to": "2026-07-01"}, nil},
		{"recalls", map[string]string{"from": "", "to": "2026-08-01"}, nil},
		{"aged-debt", map[string]string{"to": "2026-07-01"}, nil},
		{"day-sheet", map[string]string{"to": "2026-07-01"}, nil},
		// Given days, with matching defaults.
		{"income?from=2026-04-01&to=2026-04-30", map[string]string{"from": "2026-04-01", "to": "2026-04-30"}, nil},
		{"income?from=2026-04-01&to=2026-04-01", map[string]string{"from": "2026-04-01", "to": "2026-04-01"}, nil},
		{"income?to=2020-02-29", map[string]string{"from": "2019-03-01", "to": "2020-02-29"}, nil},
		{"income?from=2026-06-01", map[string]string{"from": "2026-06-01", "to": "2026-07-01"}, nil},
		{"income?sort=-paid&compare=yes", map[string]string{"from": "2025-08-01"}, nil},
		{"income?unknown=1&from=2026-04-01&from=2026-05-01", map[string]string{"from": "2026-04-01"}, nil},
		{"aged-debt?from=2020-01-01&to=2026-03-31", map[string]string{"to": "2026-03-31"}, nil},
		{"contract-performance?to=2199-12-31", map[string]string{"to": "2199-12-31"}, nil},
		{"income?from=1900-01-01&to=1910-01-01", map[string]string{"from": "1900-01-01"}, nil},
		// Invalid and contradictory values.
		{"income?from=1.4.2026", map[string]string{"from": "1.4.2026"}, map[string]string{"from": "Enter the first day, for example 2026-07-01."}},
		{"income?from=2026-02-30&to=soon", map[string]string{"to": "soon"}, map[string]string{"from": "Enter the first day", "to": "Enter the last day"}},
		{"income?to=%22%3E%3Cscript%3E", map[string]string{"to": `"><script>`}, map[string]string{"to": "Enter the last day"}},
		{"income?to=%00%ff", nil, map[string]string{"to": "Enter the last day"}},
		{"day-sheet?to=2026-7-1", nil, map[string]string{"to": "Enter the day"}},
		{"aged-debt?to=9999-12-31", nil, map[string]string{"to": "Choose the day between 1900 and 2199."}},
		{"income?from=0001-01-01", nil, map[string]string{"from": "Choose the first day between 1900 and 2199."}},
		{"income?from=2026-05-02&to=2026-05-01", nil, map[string]string{"to": "The last day must not be before the first."}},
		{"income?from=2016-05-01&to=2026-05-02", nil, map[string]string{"from": "Choose at most 10 years."}},
		{"income?site=1", nil, map[string]string{"site": "Choose a site from the list"}},
		{"income?site=01980f3e-0000-7000-8000-000000000000", nil, map[string]string{"site": "Choose a site from the list"}},
		{"income?practitioner=one", nil, map[string]string{"practitioner": "Choose a practitioner from the list"}},
		{"income?practitioner=99999999999999999999", nil, map[string]string{"practitioner": "Choose a practitioner from the list"}},
		{"income?practitioner=-1", nil, map[string]string{"practitioner": "Choose a practitioner from the list"}},
		{"income?to=x&site=x&practitioner=x", nil, map[string]string{"to": "Enter", "site": "Choose a site", "practitioner": "Choose a practitioner"}},
	}
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t).SignIn(seed.DemoAdmin)
		for _, c := range cases {
			p := b.Get("/reports/" + c.path)
			if len(c.wrong) > 0 {
				checkFieldErrors(t, p, c.wrong)
				checkHeaders(t, p, policy)
				checkPage(t, p)
				p.Lacks(t, `class="figures"`)
				name, query, _ := strings.Cut(c.path, "?")
				for _, ending := range []string{".csv", ".json"} {
					file := b.Get("/reports/"+name+ending+"?"+query).Status(t, http.StatusUnprocessableEntity)
					if file.Header.Get("Content-Disposition") != "" {
						t.Errorf("%s: an error page is sent as a file", c.path)
					}
				}
			} else {
				p.Status(t, http.StatusOK)
			}
			for field, want := range c.shown {
				if got := p.Value(t, field); got != want {
					t.Errorf("%s: %s is %q, want %q", c.path, field, got, want)
				}
			}
		}
		b.Get("/reports/income?site=%zz").Status(t, http.StatusBadRequest)
		b.Get("/reports/aged-debt?practitioner=1").Status(t, http.StatusUnprocessableEntity).Has(t, "cannot be limited to a practitioner")
		for path, message := range map[string]string{
			"diary?sort=claims": "Sort by a column", "income?rows=claims": "no such figure", "income?rows=paid&in=colour:red": "no such figure",
			"recalls?compare=yes": "Choose a first day",
		} {
			b.Get("/reports/"+path).Status(t, http.StatusUnprocessableEntity).Has(t, message)
		}
		for _, streamed := range []string{"income?sort=claims", "aged-debt?sort=-claims", "income.json?sort=claims", "income?from=1950-01-01&to=1950-01-02&sort=claims"} { // refused before its first step
			b.Get("/reports/"+streamed).Status(t, http.StatusUnprocessableEntity).Has(t, "Sort by a column").Lacks(t, "Download", "<progress")
		}
		if p := b.Get("/reports/aged-debt"); p.ByID("practitioner") != nil || p.ByID("from") != nil {
			t.Error("the form has fields that the report ignores")
		}
	})
}

// TestMistakesDoNotWaitForReports: a form with mistakes is answered while others' reports run.
func TestMistakesDoNotWaitForReports(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t).SignIn(seed.DemoAdmin)
		release := make(chan struct{})
		var reports, running sync.WaitGroup
		for range max(1, runtime.GOMAXPROCS(0)/2) {
			running.Add(1)
			reports.Go(func() {
				err := e.DB.ViewForReport(e.As(t, seed.DemoSlug), func(*ent.Client) error {
					running.Done()
					<-release
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		running.Wait()
		defer reports.Wait()
		defer close(release)
		checkFieldErrors(t, b.Get("/reports/income?to=soon"), map[string]string{"to": "Enter the last day"})
	})
}

// TestReportFilters: site and practitioner narrow a report, stay selected, and are named
// on the page. Those of another practice are invalid.
func TestReportFilters(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		demo, second := e.As(t, seed.DemoSlug), e.As(t, "second")
		one := func(ctx context.Context) (*ent.Site, *ent.Practitioner) {
			s, err := e.DB.Ent.Site.Query().Where(site.Active(true)).Order(site.ByID()).First(ctx)
			if err != nil {
				t.Fatal(err)
			}
			p, err := e.DB.Ent.Practitioner.Query().Where(practitioner.Active(true)).WithUser().Order(practitioner.ByID()).First(ctx)
			if err != nil {
				t.Fatal(err)
			}
			return s, p
		}
		b := e.Browser(t).SignIn(seed.DemoAdmin)
		mine, me := one(demo)
		theirs, they := one(second)
		for _, r := range report.All {
			path := "/reports/" + r.Name
			form := b.Get(path).Form(t, path)
			given := url.Values{"site": {mine.ID.String()}}
			if r.Practitioners {
				given.Set("practitioner", strconv.FormatInt(me.ID, 10))
			}
			p := b.Submit(form, given).Status(t, http.StatusOK).Has(t, " · "+mine.Name)
			again := p.Form(t, path).Values
			if again.Get("site") != mine.ID.String() || r.Practitioners && again.Get("practitioner") != given.Get("practitioner") {
				t.Errorf("%s: chosen is %v", r.Name, again)
			}
			if r.Practitioners {
				p.Has(t, mine.Name+" · "+me.Edges.User.FirstName)
			}
			for _, link := range p.Links() {
				if strings.HasPrefix(link, path+"?") || strings.HasPrefix(link, path+".") {
					if !strings.Contains(link, "site="+mine.ID.String()) {
						t.Errorf("%s forgets the site: %s", r.Name, link)
					}
				}
			}
			for _, ending := range []string{"", ".csv", ".json"} {
				p := b.Get(path + ending + "?site=" + theirs.ID.String())
				checkFieldErrors(t, p, map[string]string{"site": "Choose a site from the list"})
				p.Lacks(t, theirs.Name)
				if r.Practitioners {
					p := b.Get(path + ending + "?practitioner=" + strconv.FormatInt(they.ID, 10))
					checkFieldErrors(t, p, map[string]string{"practitioner": "Choose a practitioner from the list"})
					p.Lacks(t, they.Edges.User.LastName+"</option>")
				}
			}
		}

		// Reports cover the past, so inactive sites are offered.
		e.Tx(t, demo, func(tx *ent.Client) error { return tx.Site.UpdateOne(mine).SetActive(false).Exec(demo) })
		b.Get("/reports/income").Has(t, mine.Name+" (inactive)")
		closed := b.Get("/reports/income?site="+mine.ID.String()).Status(t, http.StatusOK)
		if got := closed.Form(t, "/reports/income").Values.Get("site"); got != mine.ID.String() {
			t.Errorf("the site shown is not the one chosen: %q", got)
		}
	})
}

// TestReportPeriods follows the links to other periods; each page marks its own.
func TestReportPeriods(t *testing.T) {
	want := map[string]string{
		"income": "This month 2026-07-01 2026-07-31|Last month 2026-06-01 2026-06-30|Last 12 months 2025-08-01 2026-07-01|" +
			"This contract year 2026-04-01 2026-07-01|Last contract year 2025-04-01 2026-03-31",
		"recalls":   "Overdue and next month  2026-08-01|Overdue  2026-06-30|Due this month 2026-07-01 2026-07-31|Due next month 2026-08-01 2026-08-31",
		"aged-debt": "Today  2026-07-01|End of last month  2026-06-30|End of last contract year  2026-03-31",
		"banking":   "Today 2026-07-01 2026-07-01|Yesterday 2026-06-30 2026-06-30|Last 7 days 2026-06-25 2026-07-01|This month 2026-07-01 2026-07-31|Last month 2026-06-01 2026-06-30",
		"capacity":  "Next 4 weeks 2026-07-01 2026-07-26|Next 8 weeks 2026-07-01 2026-08-23|Next 12 weeks 2026-07-01 2026-09-20",
		"day-sheet": "Day before  2026-06-30|Today  2026-07-01|Day after  2026-07-02",
	}
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t).SignIn(seed.DemoAdmin)
		for _, r := range report.All {
			path := "/reports/" + r.Name
			var found []string
			for _, link := range linksIn(b.Get(path), "Periods") {
				p := b.Get(link).Status(t, http.StatusOK)
				current := p.All(func(n *html.Node) bool { return harness.Attr(n, "aria-current") == "true" })
				asked, err := url.Parse(link)
				if err != nil {
					t.Fatal(err)
				}
				from, to := asked.Query().Get("from"), asked.Query().Get("to")
				name := ""
				for _, n := range current {
					name = n.FirstChild.Data
				}
				if r.Name == "day-sheet" && len(current) == 0 { // its neighbouring days have changed
					name = map[string]string{"2026-06-30": "Day before", "2026-07-02": "Day after"}[to]
				} else if len(current) != 1 {
					t.Errorf("%s: %d periods are marked", link, len(current))
				}
				found = append(found, name+" "+from+" "+to)
			}
			if len(found) < 3 || want[r.Name] != "" && strings.Join(found, "|") != want[r.Name] {
				t.Errorf("%s offers %v", r.Name, found)
			}
		}
	})
}

// TestReportFiles: the files equal the command's output.
func TestReportFiles(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b, ctx := e.Browser(t).SignIn(seed.DemoAdmin), clock.With(e.As(t, seed.DemoSlug), e.Clock.Now())
		for i := range report.All {
			r := &report.All[i]
			from, to := r.Period(civil.MustParse("2026-05-31"))
			asked := "?to=" + to.String()
			name := r.Name + "-" + from.String() + "-to-" + to.String()
			switch {
			case r.AsAt:
				name = r.Name + "-" + to.String()
			case from.IsZero():
				name = r.Name + "-to-" + to.String()
			case from == to:
				asked += "&from=" + from.String()
				name = r.Name + "-" + to.String()
			default:
				asked += "&from=" + from.String()
			}
			page := b.Get("/reports/"+r.Name+asked).Status(t, http.StatusOK)
			for format, mediaType := range map[render.Format]string{render.CSV: "text/csv; charset=utf-8; header=present", render.JSON: "application/json", render.XLSX: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"} {
				var want bytes.Buffer
				err := e.DB.View(ctx, func(client *ent.Client) error {
					answer, err := r.Ask(ctx, client, report.Filter{From: from, To: to, Keys: e.DB.Keys})
					if err != nil {
						return err
					}
					return render.Write(&want, answer, format, render.Options{})
				})
				if err != nil {
					t.Fatal(err)
				}
				links := linksTo(page, "/reports/"+r.Name+"."+string(format)+"?")
				if len(links) == 0 {
					t.Fatalf("%s: no link to %s", r.Name, format)
				}
				link, name := links[0], name
				if format == render.CSV { // of the first table
					name = r.Name + "-" + strings.ReplaceAll(queryOf(t, link).Get("table"), "_", "-") + strings.TrimPrefix(name, r.Name)
				}
				p := b.Get(link).Status(t, http.StatusOK)
				checkHeaders(t, p, policy)
				if !bytes.Equal(p.Raw, want.Bytes()) {
					t.Errorf("%s is not what the command writes:\n%s\n%s", link, p.Raw, want.Bytes())
				}
				if got, want := p.Header.Get("Content-Disposition"), "attachment; filename="+name+"."+string(format); got != want {
					t.Errorf("Content-Disposition %q, want %q", got, want)
				}
				if got := p.Header.Get("Content-Type"); got != mediaType {
					t.Errorf("%s: Content-Type %q", link, got)
				}
				if head := b.Send(http.MethodHead, link, nil, nil).Status(t, http.StatusOK); len(head.Raw) > 0 {
					t.Errorf("HEAD %s has a body", link)
				}
			}
		}
	})
}
