package render

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-analyze/charts"

	"chairside/internal/civil"
	"chairside/internal/report"
)

var (
	textIn   = regexp.MustCompile(`<text x="(-?\d+)" y="\d+"[^>]*>([^<]+)</text>`)
	shapeIn  = regexp.MustCompile(`(?s)<path\s+d="([^"]*)"[^>]* fill="(rgb\([0-9,]+\))"`)
	cornerIn = regexp.MustCompile(`[ML] (-?\d+) (-?\d+)`)
)

// TestLabelsAreCentredUnderBars reads the positions of labels and bars from drawings.
func TestLabelsAreCentredUnderBars(t *testing.T) {
	t.Parallel()
	colours := []string{"rgb(0,114,178)", "rgb(230,159,0)", "rgb(0,158,115)"}
	for _, z := range sizes {
		for _, form := range []report.Form{report.VerticalBars, report.StackedVerticalBars} {
			for _, series := range []int{1, 2, 3} {
				for _, n := range []int{1, 2, 6, 7, 12, 13, 24, 37, 60, 120} {
					c := chart{&report.Chart{Form: form, Title: "T", Kind: report.Count, Series: make([]report.Series, series)}}
					for i := range n {
						c.Add(report.Month.Format(civil.MustParse("2020-01-01").AddMonths(i)), []int64{1000, 900, 800}[:series]...)
					}
					svg, err := c.svgOf(z)
					if err != nil {
						t.Fatal(err)
					}
					name := fmt.Sprintf("%s, form %d of %d, %d labels", z.class, form, series, n)
					left, right := slices.Repeat([]float64{math.Inf(1)}, n), slices.Repeat([]float64{math.Inf(-1)}, n)
					for _, colour := range colours[:series] {
						bars := barsOf(string(svg), colour)
						if len(bars) != n {
							t.Fatalf("%s: %d bars are %s", name, len(bars), colour)
						}
						for i, bar := range bars {
							left[i], right[i] = min(left[i], bar[0]), max(right[i], bar[1])
						}
					}
					end, shown := math.Inf(-1), 0
					for _, text := range textIn.FindAllStringSubmatch(string(svg), -1) {
						i := slices.Index(c.Labels, text[2])
						if i < 0 {
							continue
						}
						shown++
						x, width := number(text[1]), widthOf(text[2])
						if middle := (left[i] + right[i]) / 2; math.Abs(x+width/2-middle) > 2 {
							t.Errorf("%s: %s is at %.1f, its bars at %.1f", name, text[2], x+width/2, middle)
						}
						if x <= end || x < 0 || x+width > float64(z.width) {
							t.Errorf("%s: no room for %s from %g to %g, after one to %g", name, text[2], x, x+width, end)
						}
						end = x + width
					}
					if shown < min(n, 3) {
						t.Errorf("%s: only %d are shown", name, shown)
					}
				}
			}
		}
	}
}

// TestStackedBarsFollowSeries reads the length of each part from horizontal drawings, also
// of those that need several attempts to get labels on their axis.
func TestStackedBarsFollowSeries(t *testing.T) {
	t.Parallel()
	colours := []string{"rgb(0,114,178)", "rgb(230,159,0)", "rgb(0,158,115)"}
	for _, z := range sizes {
		for hours := range int64(12) {
			c := chart{&report.Chart{Form: report.StackedHorizontalBars, Title: "T", Kind: report.Minutes, Series: []report.Series{{Name: "Patients"}, {Name: "Other"}, {Name: "Free"}}}}
			c.Add("Sylvia", 60, 30, 60*hours)
			c.Add("Zoe", 60, 0, 60)
			svg, err := c.svgOf(z)
			if err != nil {
				t.Fatal(err)
			}
			parts := make([][][2]float64, len(colours))
			for i, colour := range colours {
				if parts[i] = barsOf(string(svg), colour); len(parts[i]) != len(c.Labels) {
					t.Fatalf("%s: %d bars are %s", z.class, len(parts[i]), colour)
				}
			}
			hour := parts[0][0][1] - parts[0][0][0]
			for row := range c.Labels {
				end := parts[0][0][0]
				for i, part := range parts {
					bar, want := part[len(c.Labels)-1-row], float64(c.Series[i].Values[row])/60*hour
					if bar[0] != end || math.Abs(bar[1]-bar[0]-want) > float64(hours+2) {
						t.Errorf("%s: with %d hours free %s of %s is from %g to %g, want from %g for %g", z.class, hours, c.Series[i].Name, c.Labels[row], bar[0], bar[1], end, want)
					}
					end = bar[1]
				}
			}
		}
	}
}

func TestAxisUsesOneUnit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind    report.Kind
		highest float64
		values  []float64
		want    string
	}{
		{report.Money, 8_000, []float64{0, 2_000, 8_000}, "0, 2,000, 8,000"},
		{report.Money, 25_000, []float64{-5_000, 0, 5_000, 25_000}, "-5k, 0, 5k, 25k"},
		{report.Money, 1_500_000, []float64{0, 500_000, 1_500_000}, "0, 0.5m, 1.5m"},
		{report.Minutes, 20_000, []float64{0, 2_500}, "0 h, 2.5k h"},
		{report.Percent, 2.5, []float64{0, 0.5, 2.5}, "0%, 0.5%, 2.5%"},
	} {
		label := chart{&report.Chart{Kind: c.kind}}.formatter(c.highest)
		var got []string
		for _, v := range c.values {
			got = append(got, label(v))
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("up to %v: %q, want %s", c.highest, got, c.want)
		}
	}
}

// barsOf returns the left and right ends of the bars of a colour, without its symbol in the
// legend.
func barsOf(svg, colour string) (bars [][2]float64) {
	for _, shape := range shapeIn.FindAllStringSubmatch(svg, -1) {
		if shape[2] != colour {
			continue
		}
		left, right, bottom := math.Inf(1), math.Inf(-1), 0.0
		for _, corner := range cornerIn.FindAllStringSubmatch(shape[1], -1) {
			left, right, bottom = min(left, number(corner[1])), max(right, number(corner[1])), max(bottom, number(corner[2]))
		}
		if bottom > 40 { // below the legend
			bars = append(bars, [2]float64{left, right})
		}
	}
	return bars
}

// widthOf returns the width of a label in the drawing.
func widthOf(label string) float64 {
	words := charts.NewFontStyleWithSize(10)
	words.Font, words.FontColor = charts.GetDefaultFont(), charts.ColorBlack
	box := charts.NewPainter(charts.PainterOptions{OutputFormat: charts.ChartOutputSVG, Width: 100, Height: 100}).MeasureText(label, 0, words)
	return float64(box.Width())
}

func number(s string) float64 {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil {
		panic(err)
	}
	return n
}
