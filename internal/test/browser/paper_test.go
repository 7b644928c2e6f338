package browser

import (
	"testing"

	"github.com/chromedp/cdproto/emulation"

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
