package web_test

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"chairside/internal/report"
	"chairside/internal/seed"
	"chairside/internal/test/harness"
	"chairside/schema"
)

// linksIn returns the links of the list with a label.
func linksIn(p *harness.Page, label string) (links []string) {
	for _, list := range p.All(func(n *html.Node) bool { return harness.Attr(n, "aria-label") == label }) {
		for n := range list.Descendants() {
			if n.DataAtom == atom.A {
				links = append(links, harness.Attr(n, "href"))
			}
		}
	}
	return links
}

func queryOf(t *testing.T, link string) url.Values {
	t.Helper()
	u, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query()
}

// textIn returns the text of an element, without that of its parts for screen readers.
func textIn(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode && harness.Attr(d.Parent, "class") != "unseen" {
			b.WriteString(d.Data)
		}
	}
	return strings.TrimSpace(b.String())
}

// records reads a file in CSV.
func records(t *testing.T, p *harness.Page) [][]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(string(p.Status(t, http.StatusOK).Raw))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

var minutesIn = regexp.MustCompile(`^(?:([\d,]+) h)? ?(?:(\d+) min)?$`)

// amount reads a number as people write it: in hundredths, or in minutes.
func amount(t *testing.T, text string) int {
	t.Helper()
	digits := strings.NewReplacer("£", "", ",", "").Replace(text)
	if m := minutesIn.FindStringSubmatch(text); m != nil && text != "" {
		hours, _ := strconv.Atoi(strings.ReplaceAll(m[1], ",", ""))
		minutes, _ := strconv.Atoi(m[2])
		return 60*hours + minutes
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	n, err := strconv.Atoi(whole + (fraction + "00")[:2])
	if err != nil {
		t.Fatalf("%q is no number", text)
	}
	return n
}

// TestReportFiguresLeadToTheirRows follows numbers of each report to their rows, which add up to
// exactly the number, on the page and in the file.
func TestReportFiguresLeadToTheirRows(t *testing.T) {
	const most = 24 // links of a report; package report checks all
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t).SignIn(seed.DemoAdmin)
		for _, r := range report.All {
			path := "/reports/" + r.Name
			p := b.Get(path)
			links := p.All(func(n *html.Node) bool {
				return n.DataAtom == atom.A && strings.Contains(harness.Attr(n, "href"), "rows=")
			})
			if len(links) < 2 {
				t.Errorf("%s: only %d numbers lead to rows", path, len(links))
			}
			for i := 0; i < len(links); i += 1 + len(links)/most {
				link, text := harness.Attr(links[i], "href"), textIn(links[i])
				list := b.Get(link).Status(t, http.StatusOK)
				if i == 0 {
					checkPage(t, list)
				}
				feet := list.All(func(n *html.Node) bool { return n.DataAtom == atom.Td && n.Parent.Parent.DataAtom == atom.Tfoot })
				if len(feet) == 0 || textIn(feet[len(feet)-1]) != text {
					t.Errorf("%s leads to %s, whose sum differs", text, link)
					continue
				}
				if !slices.ContainsFunc(linksTo(list, path+"?"), func(l string) bool { return !strings.Contains(l, "rows=") }) {
					t.Errorf("%s: no way back", link)
				}
				rows := records(t, b.Get(linksTo(list, path+".csv?")[0]))
				sum := 0
				for _, row := range rows[1:] {
					value := row[len(row)-1]
					if strings.HasSuffix(rows[0][len(row)-1], "minutes") {
						n, err := strconv.Atoi(value)
						if err != nil {
							t.Fatal(err)
						}
						sum += n
					} else {
						sum += amount(t, value)
					}
				}
				if want := amount(t, text); sum != want {
					t.Errorf("the rows of %s add up to %d, not %d", link, sum, want)
				}
			}
		}
	})
}

// TestReportTablesAreFiles: every table of a report has a file of its own, whose header names
// the units.
func TestReportTablesAreFiles(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t).SignIn(seed.DemoAdmin)
		for _, r := range report.All {
			path := "/reports/" + r.Name
			p := b.Get(path)
			files := linksTo(p, path+".csv?")
			tables := p.All(func(n *html.Node) bool { return n.DataAtom == atom.Table })
			if r.Name == "day-sheet" { // the sites are one table
				tables = tables[:1]
			}
			if len(files) != len(tables) {
				t.Errorf("%s: %d files of %d tables", path, len(files), len(tables))
			}
			seen := map[string]bool{}
			for i, file := range files {
				rows := records(t, b.Get(file))
				head := strings.Join(rows[0], ",")
				if seen[head] && r.Name != "contract-performance" {
					t.Errorf("%s: two files begin with %s", path, head)
				}
				seen[head] = true
				body := 0
				for n := range tables[i].Descendants() {
					if n.DataAtom == atom.Tr && n.Parent.DataAtom == atom.Tbody && harness.Attr(n, "class") == "" {
						body++
					}
				}
				if r.Name != "day-sheet" && body != len(rows)-1 {
					t.Errorf("%s: %d rows, the page shows %d", file, len(rows)-1, body)
				}
			}
			b.Get(path+".csv?table=nothing").Status(t, http.StatusNotFound)
		}
		head := records(t, b.Get("/reports/income.csv?table=practitioners"))[0]
		if got := strings.Join(head, ","); got != "practitioner_id,practitioner,invoiced_gbp,paid_gbp,outstanding_gbp,share_percent" {
			t.Errorf("the header is %s", got)
		}
	})
}

// TestReportTablesSort by links, which files, periods and the form keep.
func TestReportTablesSort(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t).SignIn(seed.DemoAdmin)
		sorted := func(p *harness.Page) (found []string) {
			for _, n := range p.All(func(n *html.Node) bool { return harness.Attr(n, "aria-sort") != "" }) {
				found = append(found, textIn(n)+" "+harness.Attr(n, "aria-sort"))
			}
			return found
		}
		p := b.Get("/reports/aged-debt")
		if got := sorted(p); got != nil {
			t.Errorf("sorted by %v", got)
		}
		for _, c := range []struct{ column, sort, then, state string }{
			{"Patient", "patient", "-patient", "Patient ascending|Patient ascending"},
			{"Total owed", "-total", "total", "Total owed descending"},
		} {
			link := ""
			for _, n := range p.All(func(n *html.Node) bool {
				return n.DataAtom == atom.A && n.Parent.DataAtom == atom.Th && textIn(n) == c.column
			}) {
				link = harness.Attr(n, "href")
			}
			if got := queryOf(t, link).Get("sort"); got != c.sort {
				t.Fatalf("%s sorts by %s", c.column, got)
			}
			address, _, _ := strings.Cut(link, "#")
			p := b.Get(address).Status(t, http.StatusOK)
			checkPage(t, p)
			if got := strings.Join(sorted(p), "|"); got != c.state {
				t.Errorf("by %s: %s", c.sort, got)
			}
			if !strings.Contains(strings.Join(p.Links(), " "), "sort="+c.then+"&") {
				t.Errorf("by %s: the order cannot be turned", c.sort)
			}
			for _, kept := range append(linksIn(p, "Periods"), linksTo(p, "/reports/aged-debt.")...) {
				if got := queryOf(t, kept).Get("sort"); got != c.sort {
					t.Errorf("%s forgets the order", kept)
				}
			}
			if got := p.Form(t, "/reports/aged-debt").Values.Get("sort"); got != c.sort {
				t.Errorf("the form forgets the order: %q", got)
			}
			rows := records(t, b.Get(linksTo(p, "/reports/aged-debt.csv?")[0]))[1:]
			at := 0
			if c.sort == "-total" {
				at = 6
			}
			inOrder := slices.IsSortedFunc(rows, func(x, y []string) int {
				if at == 0 {
					return strings.Compare(strings.ToLower(x[0]), strings.ToLower(y[0]))
				}
				return amount(t, y[at]) - amount(t, x[at])
			})
			if !inOrder || len(rows) < 2 {
				t.Errorf("by %s: the file is in another order: %v", c.sort, rows)
			}
		}
	})
}

// TestReportComparison adds the totals of the period before, which are those of its own report.
func TestReportComparison(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t).SignIn(seed.DemoAdmin)
		feet := func(p *harness.Page) (lines []string) {
			for _, n := range p.All(func(n *html.Node) bool { return n.DataAtom == atom.Tr && n.Parent.DataAtom == atom.Tfoot }) {
				lines = append(lines, textIn(n))
			}
			return lines
		}
		june, may := b.Get("/reports/income?from=2026-06-01&to=2026-06-30"), b.Get("/reports/income?from=2026-05-01&to=2026-05-31")
		link := ""
		for _, n := range june.All(func(n *html.Node) bool { return harness.Attr(n, "class") == "compare" }) {
			link = harness.Attr(n, "href")
		}
		p := b.Get(link).Status(t, http.StatusOK).Has(t, "Compared with the period before: 1 May 2026 to 31 May 2026", "Stop comparing")
		checkPage(t, p)
		now, before := feet(june), feet(may)
		for i, line := range feet(p) {
			switch want := []string{now[i/3], strings.Replace(before[i/3], "All", "Period before", 1), "Change"}[i%3]; {
			case i%3 == 2 && !strings.HasPrefix(line, want), i%3 != 2 && line != want:
				t.Errorf("line %d is %s, want %s", i, line, want)
			}
		}
		if got := p.Form(t, "/reports/income").Values.Get("compare"); got != "yes" {
			t.Errorf("the form forgets the comparison: %q", got)
		}
		file := string(b.Get(linksTo(p, "/reports/income.json?")[0]).Status(t, http.StatusOK).Raw)
		if !strings.Contains(file, `"from": "2026-05-01"`) || !strings.Contains(file, `"first_appointment_on": null`) {
			t.Errorf("the file lacks the period before: %.400s", file)
		}
		if n := len(linksTo(b.Get("/reports/recalls"), "/reports/recalls?compare")); n != 0 {
			t.Error("a period without a beginning can be compared")
		}
	})
}

// TestReportDefinitions: each figure has a definition in a list.
func TestReportDefinitions(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t).SignIn(seed.DemoAdmin)
		for _, r := range report.All {
			terms := b.Get("/reports/" + r.Name).All(func(n *html.Node) bool {
				return n.DataAtom == atom.Dt && harness.Attr(n.Parent.Parent, "class") == "definitions"
			})
			page := b.Get("/reports/"+r.Name+"/definitions").Status(t, http.StatusOK).Has(t, r.Title)
			checkPage(t, page)
			for _, d := range r.Definitions {
				page.Has(t, d.Term, d.Source)
			}
			if len(terms) != len(r.Definitions) {
				t.Errorf("%s: %s", r.Name, fmt.Sprint(len(terms), " of ", len(r.Definitions), " definitions"))
			}
		}
		for _, path := range []string{"income.csv/definitions", "turnover/definitions"} {
			b.Get("/reports/"+path).Status(t, http.StatusNotFound)
		}
		dentist := e.Browser(t).SignIn(userWithRole(t, e, schema.RoleDentist).Email)
		dentist.Get("/reports/diary/definitions").Status(t, http.StatusOK)
		dentist.Get("/reports/income/definitions").Status(t, http.StatusForbidden)
	})
}
