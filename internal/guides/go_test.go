package guides_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"chairside/internal/guides"
)

// TestGoIsTested: the code of the guide to Go is part of files that tests run, and its output is
// that of the example.
func TestGoIsTested(t *testing.T) {
	t.Parallel()
	lines := func(text string) string { // without indentation
		var all []string
		for line := range strings.Lines(text) {
			all = append(all, strings.TrimSpace(line))
		}
		return "\n" + strings.TrimSpace(strings.Join(all, "\n")) + "\n"
	}
	var tested []string
	for _, path := range []string{"../../schema/ask/example_no_shows_test.go", "../report/no_shows.go"} {
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		tested = append(tested, lines(string(source)))
	}
	output := strings.ReplaceAll(tested[0][strings.Index(tested[0], "// Output:"):], "// ", "")
	i := slices.IndexFunc(guides.All(), func(g guides.Guide) bool { return g.Name == "go" })
	blocks, answers := 0, 0
	for _, b := range guides.All()[i].Blocks {
		blocks++
		if !slices.ContainsFunc(tested, func(source string) bool { return strings.Contains(source, lines(b.Text)) }) {
			t.Errorf("go.md, line %d: no test runs this code", b.Line)
		}
		if b.Answer == "" {
			continue
		}
		answers++
		if !strings.Contains(output, lines(b.Answer)) {
			t.Errorf("go.md, line %d: the example prints %s", b.Line, output)
		}
	}
	if blocks < 3 || answers != 1 {
		t.Errorf("%d blocks and %d answers", blocks, answers)
	}
}
