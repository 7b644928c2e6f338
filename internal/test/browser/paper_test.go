package browser

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"chairside/internal/seed"
)

// TestPrintIsLight even with a dark colour scheme, and includes the optional columns that
// are shown.
func TestPrintIsLight(t *testing.T) {
	t.Parallel()
	p := open(t, start(t))
	p.signIn(seed.DemoAdmin)
	p.visit("/reports/recalls")
	p.press(p.find("checkbox", "Show"))
	p.run(emulation.SetEmulatedMedia().WithMedia("print").WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}))
	paper := eval[struct {
		Text, Ground, Minor string
	}](p, `(() => {
		const style = selector => getComputedStyle(document.querySelector(selector));
		return {Text: style("td").color, Ground: style("body").backgroundColor, Minor: style("td.minor").display};
	})()`)
	if paper.Text != "rgb(19, 33, 31)" || paper.Ground != "rgb(255, 255, 255)" {
		t.Errorf("the text is %s on %s", paper.Text, paper.Ground)
	}
	if paper.Minor != "table-cell" {
		t.Errorf("columns that were ticked are %s", paper.Minor)
	}
}

// sheet matches the object of a page in a PDF file, but not of the tree of pages.
var sheet = regexp.MustCompile(`/Type\s*/Page\b[^s]`)

// TestDiaryPrintsOnePagePerSite of A4 paper, on the busiest kind of day.
func TestDiaryPrintsOnePagePerSite(t *testing.T) {
	t.Parallel()
	p := open(t, start(t))
	p.signIn(seed.DemoAdmin)
	p.visit("/diary")
	sites := eval[int](p, `document.querySelectorAll("section.site").length`)
	if sites == 0 {
		t.Fatal("the diary shows no site")
	}
	var file []byte
	p.run(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		file, _, err = page.PrintToPDF().WithPreferCSSPageSize(true).WithPrintBackground(true).Do(ctx)
		return err
	}))
	if err := os.WriteFile(filepath.Join(t.ArtifactDir(), "diary.pdf"), file, 0o600); err != nil {
		t.Fatal(err)
	}
	if pages := len(sheet.FindAll(file, -1)); pages != sites {
		t.Errorf("%d sites on %d pages", sites, pages)
	}
	if !bytes.Contains(file, []byte("/MediaBox [0 0 595")) && !bytes.Contains(file, []byte("/MediaBox [0 0 594")) {
		t.Error("the pages are not A4")
	}
}
