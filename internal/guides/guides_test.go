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
	for i, g := range guides.All {
		if !strings.Contains(index, `<a href="/docs/guides/`+g.Name+`">`+html.EscapeString(g.Title)+`</a>`) {
			t.Errorf("the index lacks %s", g.Name)
		}
		here := "/docs/guides/" + g.Name
		page := get(here)
		if !strings.Contains(page, "<h1>"+html.EscapeString(g.Title)+"</h1>") {
			t.Errorf("%s: no title", g.Name)
		}
		if i+1 < len(guides.All) && !strings.Contains(page, `href="/docs/guides/`+guides.All[i+1].Name+`">Next`) {
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
