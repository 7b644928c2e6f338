package web

import (
	"io/fs"
	"regexp"
	"testing"
)

var definition = regexp.MustCompile(`{{-?\s*(?:define|block)\s+"([^"]+)"`)

// TestTemplatesHaveNamesOfTheirOwn: of two templates with the same name, html/template would use the later file's in all pages.
func TestTemplatesHaveNamesOfTheirOwn(t *testing.T) {
	t.Parallel()
	files, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil {
		t.Fatal(err)
	}
	definedIn := map[string]string{}
	for _, file := range files {
		text, err := fs.ReadFile(templateFiles, file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range definition.FindAllStringSubmatch(string(text), -1) {
			if other := definedIn[match[1]]; other != "" {
				t.Errorf("%s and %s both define %q", other, file, match[1])
			}
			definedIn[match[1]] = file
		}
	}
	if len(definedIn) < 20 {
		t.Errorf("found only %d definitions", len(definedIn))
	}
}
