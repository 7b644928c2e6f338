package arch

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

// maxPackages is the maximum number of packages directly below internal.
const maxPackages = 38

// TestMapIsComplete checks that generate.go names every directory directly below internal and
// cmd, and no path that does not exist.
func TestMapIsComplete(t *testing.T) {
	t.Parallel()
	root := os.DirFS("../..")
	source, err := fs.ReadFile(root, "generate.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, parent := range []string{"internal", "cmd"} {
		entries, err := fs.ReadDir(root, parent)
		if err != nil {
			t.Fatal(err)
		}
		if parent == "internal" && len(entries) > maxPackages {
			t.Errorf("internal has %d packages: the limit is %d", len(entries), maxPackages)
		}
		for _, e := range entries {
			if name := parent + "/" + e.Name(); !regexp.MustCompile(name + `\b`).Match(source) {
				t.Errorf("generate.go does not name %s", name)
			}
		}
	}
	checkPaths(t, root, "generate.go", string(source))
}

// TestPagesNameRealPaths checks that the paths in CONTRIBUTING.md and departures.md exist.
func TestPagesNameRealPaths(t *testing.T) {
	t.Parallel()
	root := os.DirFS("../..")
	for _, page := range []string{".github/CONTRIBUTING.md", "internal/arch/departures.md"} {
		source, err := fs.ReadFile(root, page)
		if err != nil {
			t.Fatal(err)
		}
		checkPaths(t, root, page, string(source))
	}
}

// TestPagesNameRealTests checks that the tests named in departures.md and SECURITY.md exist.
func TestPagesNameRealTests(t *testing.T) {
	t.Parallel()
	root := os.DirFS("../..")
	var sources strings.Builder
	err := fs.WalkDir(root, "internal", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := fs.ReadFile(root, path)
		sources.Write(source)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range []string{"internal/arch/departures.md", ".github/SECURITY.md"} {
		text, err := fs.ReadFile(root, page)
		if err != nil {
			t.Fatal(err)
		}
		names := regexp.MustCompile(`\bTest\w+`).FindAllString(string(text), -1)
		for _, name := range names {
			if !strings.Contains(sources.String(), "func "+name+"(") {
				t.Errorf("%s names %s, which does not exist", page, name)
			}
		}
		if len(names) < 10 {
			t.Errorf("%s: only %d tests found: is the pattern right?", page, len(names))
		}
	}
}

// ourPath matches a path of this repository in text.
var ourPath = regexp.MustCompile(`(?:^|[\s` + "`" + `(])((?:internal|schema|cmd|\.ci|\.github)/[\w./*-]*\w)`)

// checkPaths fails for each path in the page that does not exist.
func checkPaths(t *testing.T, root fs.FS, page, text string) {
	t.Helper()
	found := ourPath.FindAllStringSubmatch(text, -1)
	if len(found) < 5 {
		t.Errorf("%s: found only %d paths: does the pattern still match?", page, len(found))
	}
	for _, m := range found {
		path := m[1]
		if strings.Contains(path, "NAME") || strings.Contains(path, "vaccine") { // placeholders of recipes
			continue
		}
		if matches, err := fs.Glob(root, path); err != nil || len(matches) == 0 {
			t.Errorf("%s names %s, which does not exist", page, path)
		}
	}
}
