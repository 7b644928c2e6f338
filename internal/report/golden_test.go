package report_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chairside/internal/report"
	"chairside/internal/report/render"
	"chairside/internal/test/harness"
)

var update = flag.Bool("update", false, "rewrite the files in testdata/golden")

// TestGolden compares every report on the small seeded practice, in each format, with a
// reviewed file. Both databases must give the same bytes. To rewrite the files:
//
//	go test -run Golden ./internal/report -update
func TestGolden(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		p := practice{DB: e.DB}.as(t, "demo")
		for i := range report.All {
			r := &report.All[i]
			f := report.Filter{}
			f.From, f.To = r.Period(today)
			answer := p.ask(t, r.Name, f)
			for _, format := range render.Formats() {
				if format == render.XLSX { // the package writes it, and TestWorkbook reads it
					continue
				}
				var b strings.Builder
				if err := render.Write(&b, answer, format, render.Options{Width: 120}); err != nil {
					t.Fatal(err)
				}
				checkGolden(t, r.Name+"."+string(format), b.String())
			}
		}
	})
}

// checkGolden compares a text with a file in testdata/golden, or writes the file with
// -update.
func checkGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	old, now := strings.Split(string(want), "\n"), strings.Split(got, "\n")
	for i := range now {
		if i >= len(old) || old[i] != now[i] {
			t.Errorf("%s line %d differs: %q", name, i+1, now[i])
			return
		}
	}
	t.Errorf("%s is shorter than its golden file", name)
}
