package guides_test

import (
	"cmp"
	"html"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"chairside/internal/guides"
	"chairside/internal/test/harness"
	"chairside/internal/test/localpg/pgtest"
)

func TestMain(m *testing.M) {
	status := pgtest.With{M: m}.Run()
	os.RemoveAll(built)
	os.Exit(status)
}

// TestGuidesAreServedWithoutToken follows the links of all guides.
func TestGuidesAreServedWithoutToken(t *testing.T) {
	t.Parallel()
	e := harness.Start(t, harness.SQLite(t))
	pages := map[string]string{}
	get := func(path string) string {
		if _, ok := pages[path]; !ok {
			r := e.Do(t, harness.Request{Method: http.MethodGet, Path: path, Header: map[string]string{"Accept": "text/html, */*"}}) // as a browser
			if r.Code != 200 && r.Code != 303 {                                                                                      // pages that ask visitors to sign in
				t.Errorf("%s: status %d", path, r.Code)
			}
			pages[path] = string(r.Raw)
		}
		return pages[path]
	}
	link := regexp.MustCompile(`href="(/[^"#]*)?(?:#([^"]*))?"`)
	index := get("/docs/guides/")
	for i, g := range guides.All() {
		if !strings.Contains(index, `<a href="/docs/guides/`+g.Name+`">`+html.EscapeString(g.Title)+`</a>`) {
			t.Errorf("the index lacks %s", g.Name)
		}
		here := "/docs/guides/" + g.Name
		page := get(here)
		if !strings.Contains(page, "<h1>"+html.EscapeString(g.Title)+"</h1>") {
			t.Errorf("%s: no title", g.Name)
		}
		if i+1 < len(guides.All()) && !strings.Contains(page, `href="/docs/guides/`+guides.All()[i+1].Name+`">Next`) {
			t.Errorf("%s does not lead to the next guide", g.Name)
		}
		for _, m := range link.FindAllStringSubmatch(page, -1) {
			if to := cmp.Or(m[1], here); m[2] != "" && !strings.Contains(get(to), `id="`+m[2]+`"`) {
				t.Errorf("%s: %s has no section %s", g.Name, to, m[2])
			} else if m[2] == "" {
				get(to)
			}
		}
	}
	e.Get(t, "/docs/guides/nothing", "").Status(t, 404)
	e.Do(t, harness.Request{Method: "GET", Path: "/docs/guides/", Header: map[string]string{"User-Agent": ""}}).Status(t, 403)
	if !strings.Contains(get("/docs"), `href="/docs/guides/"`) {
		t.Error("the menu of the reference has no link to the guides")
	}
	if !strings.Contains(get("/docs/search?q=cursor+expire"), `<a href="/docs/guides/lists#cursors">`) {
		t.Error("the search does not find a section of a guide")
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

// TestGuidesNameTheServerThatShowsThem: samples have its public URL. A guide that starts a server has that of the new one.
func TestGuidesNameTheServerThatShowsThem(t *testing.T) {
	t.Parallel()
	const base = "https://practice.test"
	for _, g := range guides.All() {
		shown := g.At(base)
		for name, text := range map[string]string{"page": shown.HTML, "text": shown.Source} {
			if strings.Contains(text, guides.Address) != g.StartsServer() {
				t.Errorf("%s: the %s has %s: %t", g.Name, name, guides.Address, !g.StartsServer())
			}
		}
		if strings.Contains(g.Source, guides.Address) && !g.StartsServer() && !(strings.Contains(shown.HTML, base) && strings.Contains(shown.Source, base)) {
			t.Errorf("%s does not name %s", g.Name, base)
		}
	}
}

// hosts are those that samples may name, beside the server's, and what they are.
var hosts = map[string]string{
	"localhost:3000":  "a receiver of webhooks that is being written",
	"127.0.0.1:4318":  "a collector of traces",
	"127.0.0.1:8976":  "a program that waits for an authorization code",
	"example.com":     "a receiver of webhooks",
	"app.example.com": "an application",
	"old.example.com": "another system",
}

// TestSamplesNameKnownHosts: samples name this server as guides.Address or $BASE, and other hosts as hosts lists them.
func TestSamplesNameKnownHosts(t *testing.T) {
	t.Parallel()
	address, used := regexp.MustCompile(`https?://([\w.:-]*\w)`), map[string]bool{}
	for _, g := range guides.All() {
		for _, b := range g.Blocks {
			for _, m := range address.FindAllStringSubmatch(b.Text, -1) {
				if used[m[1]] = true; m[0] != guides.Address && hosts[m[1]] == "" {
					t.Errorf("%s.md, line %d: %s is no address of this server, nor in hosts", g.Name, b.Line, m[0])
				}
			}
		}
	}
	for host := range hosts {
		if !used[host] {
			t.Errorf("no sample names %s", host)
		}
	}
}

// TestCellsNameTheirColumns: on a narrow screen a table has no header. All cells but the first of a
// row repeat their column's title, except in tables of two columns, which explain the first.
func TestCellsNameTheirColumns(t *testing.T) {
	t.Parallel()
	title, cell, label := regexp.MustCompile(`<th>(.*?)</th>`), regexp.MustCompile(`<td></td>|<td.*?>`), regexp.MustCompile(`data-label="(.*?)"`)
	code := strings.NewReplacer("<code>", "", "</code>", "")
	compared := 0
	for _, g := range guides.All() {
		for _, table := range strings.Split(g.HTML, "<table>")[1:] {
			rows := strings.Split(table[:strings.Index(table, "</table>")], "<tr>")
			titles := title.FindAllStringSubmatch(rows[1], -1)
			for _, row := range rows[2:] {
				for i, start := range cell.FindAllString(row, -1) {
					want, empty := "", start == "<td></td>"
					if i > 0 && len(titles) > 2 && !empty {
						want = code.Replace(titles[i][1])
					}
					got := label.FindStringSubmatch(start + `data-label=""`)[1]
					if got != want {
						t.Errorf("%s: column %d of %q has the label %q, want %q", g.Name, i+1, row, got, want)
					}
					compared++
				}
			}
		}
	}
	if compared == 0 {
		t.Error("the guides have no tables")
	}
}
