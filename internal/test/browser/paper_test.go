package browser

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"chairside/internal/report"
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

// print returns the page on paper as a PDF file: the sheets of a range such as "2-3", or all for "".
func (p *tab) print(sheets string) (file []byte) {
	p.t.Helper()
	p.run(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		file, _, err = page.PrintToPDF().WithPreferCSSPageSize(true).WithPrintBackground(true).WithPageRanges(sheets).Do(ctx)
		return err
	}))
	return file
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
	file := p.print("")
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

// TestWeekPrintsWhole: on landscape A4, all days within the paper, under the week and the site.
func TestWeekPrintsWhole(t *testing.T) {
	t.Parallel()
	p := open(t, start(t))
	p.signIn(seed.DemoAdmin)
	p.visit("/diary/week")
	if file := p.print(""); !bytes.Contains(file, []byte("/MediaBox [0 0 841")) && !bytes.Contains(file, []byte("/MediaBox [0 0 842")) {
		t.Error("the pages are not landscape A4")
	}
	const paper = 1046 // of A4 without its margins, in CSS pixels
	p.run(emulation.SetDeviceMetricsOverride(paper, 700, 1, false), emulation.SetEmulatedMedia().WithMedia("print"))
	week := eval[struct {
		Heading     string
		Days, Right float64
	}](p, `({
		Heading: document.querySelector(".printed").innerText,
		Days: document.querySelectorAll(".week thead th").length - 1,
		Right: Math.max(...[...document.querySelectorAll(".week th, .week td")].map(e => e.getBoundingClientRect().right)),
	})`)
	if !regexp.MustCompile(`^Week of \d+ \w+ \d{4} · All sites$`).MatchString(week.Heading) || week.Days != 7 || week.Right > paper {
		t.Errorf("it has %q, %v days and ends at %v of %v", week.Heading, week.Days, week.Right, paper)
	}
}

// TestReportsDoNotEndWithDefinitionsAlone: the last sheet of a report has rows above the definitions. The
// test prints it without them and without the note on hidden columns: a file without fonts has no text. The
// last table of no-shows is in groups, over whose beginnings Chromium moves no rows.
func TestReportsDoNotEndWithDefinitionsAlone(t *testing.T) {
	t.Parallel()
	p := open(t, start(t))
	p.signIn(seed.DemoAdmin)
	for _, r := range report.All {
		if r.Name == "no-shows" {
			continue
		}
		p.visit("/reports/" + r.Name)
		eval[bool](p, `[...document.querySelectorAll(".report footer, .report .left-out")].every(e => e.style.visibility = "hidden")`)
		last := len(sheet.FindAll(p.print(""), -1))
		if file := p.print(strconv.Itoa(last)); !bytes.Contains(file, []byte("/Type /Font")) {
			t.Errorf("%s: sheet %d has nothing but definitions", r.Name, last)
		}
	}
}
