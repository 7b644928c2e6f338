package report_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chairside/internal/report"
	"chairside/internal/report/render"
)

// TestReportsAreGrouped: every report has a group and a question. The reports of a group
// are adjacent, so that each heading is shown once.
func TestReportsAreGrouped(t *testing.T) {
	t.Parallel()
	seen := map[report.Group]bool{}
	var last report.Group
	for _, r := range report.All {
		if r.Group == "" || r.Question == "" {
			t.Errorf("%s has no group or question", r.Name)
		}
		if r.Group != last && seen[r.Group] {
			t.Errorf("%s is not beside the other reports of %s", r.Name, r.Group)
		}
		seen[r.Group], last = true, r.Group
	}
}

// TestGuideListsReports: the guide's table has a row for each report, and no other. With
// -update, it writes the table.
func TestGuideListsReports(t *testing.T) {
	t.Parallel()
	const path = "../guides/reports.md"
	guide, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const heading = "| Group | Report | Answers |\n|---|---|---|\n"
	before, rest, _ := strings.Cut(string(guide), heading)
	listed, after, ok := strings.Cut(rest, "\n\n")
	if !ok {
		t.Fatalf("%s has no table of reports", path)
	}
	var want []string
	group := report.Group("")
	for _, r := range report.All {
		cell := " "
		if r.Group != group {
			group, cell = r.Group, " "+string(r.Group)+" "
		}
		want = append(want, "|"+cell+"| "+r.Title+" | "+r.Question+" |")
	}
	table := strings.Join(want, "\n")
	if *update {
		if err := os.WriteFile(path, []byte(before+heading+table+"\n\n"+after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if listed != table {
		t.Errorf("the guide lists\n%s\nwant\n%s\nRun go test ./internal/report -run 'Golden|Guide' -update", listed, table)
	}
}

// TestReportsAreComplete: each report has a group, a question, definitions, a period, a chart, a
// table and records, and no golden file belongs to a report that is gone. The pages and files of
// each report are tested in packages web and render.
func TestReportsAreComplete(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	charts := map[string]bool{"day-sheet": true, "recalls": true} // lists of people and appointments
	for _, r := range report.All {
		if names[r.Name] || r.Group == "" || r.Question == "" || len(r.Definitions) == 0 || len(r.Reads) == 0 || r.Period == nil || r.Run == nil || len(r.Records.Measures) == 0 {
			t.Errorf("%s is not complete, or there twice", r.Name)
		}
		names[r.Name] = true
		f := report.Filter{}
		f.From, f.To = r.Period(today)
		layout := r.Layout(f, report.English)
		drawn := charts[r.Name]
		for _, s := range layout.Sections {
			drawn = drawn || s.Chart != nil
		}
		if !drawn || len(layout.Summary) == 0 || len(layout.Sections) == 0 {
			t.Errorf("%s has no chart, figure or table", r.Name)
		}
	}
	golden, err := filepath.Glob("testdata/golden/*")
	if err != nil || !*update && len(golden) != len(names)*(len(render.Formats())-1) {
		t.Errorf("%d golden files of %d reports: %v", len(golden), len(names), err)
	}
	for _, path := range golden {
		if name, _, _ := strings.Cut(filepath.Base(path), "."); !names[name] {
			t.Errorf("%s belongs to no report", path)
		}
	}
}

// TestReportIsOneFile: outside its own files, no code of the program names a report, so that a
// new report is one file. The diary page links to the day sheet.
func TestReportIsOneFile(t *testing.T) {
	t.Parallel()
	own := map[string]string{}                                 // file of each report
	sources, texts := map[string]string{}, map[string]string{} // files, and the texts in their code
	for _, dir := range []string{"..", "../../cmd", "../../schema"} {
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			source, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			sources[path] = string(source)
			file, err := parser.ParseFile(token.NewFileSet(), path, source, parser.SkipObjectResolution)
			ast.Inspect(file, func(n ast.Node) bool {
				if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
					texts[path] += l.Value
				}
				return true
			})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range report.All {
		for path, source := range sources {
			if !strings.Contains(source, "register(Report{\n\tName: \""+r.Name+"\"") {
				continue
			}
			if own[r.Name] != "" || strings.Count(source, "register(Report{") != 1 {
				t.Errorf("%s is in %s and %s", r.Name, own[r.Name], path)
			}
			own[r.Name] = path
		}
		if own[r.Name] == "" {
			t.Errorf("no file registers %s", r.Name)
		}
		if !strings.Contains(r.Name, "-") || r.Name == "day-sheet" {
			continue // also a word, such as claims
		}
		for path, text := range texts {
			if path != own[r.Name] && strings.Contains(text, r.Name) {
				t.Errorf("%s names the report %s", path, r.Name)
			}
		}
	}
}
