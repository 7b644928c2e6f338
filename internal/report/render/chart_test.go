package render

import (
	"encoding/xml"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"chairside/internal/civil"
	"chairside/internal/report"
)

// mark is an element of a drawing.
type mark struct {
	XMLName xml.Name
	Class   string  `xml:"class,attr"`
	X       float64 `xml:"x,attr"`
	Y       float64 `xml:"y,attr"`
	Width   float64 `xml:"width,attr"`
	Height  float64 `xml:"height,attr"`
	X1      float64 `xml:"x1,attr"`
	X2      float64 `xml:"x2,attr"`
	Y1      float64 `xml:"y1,attr"`
	Anchor  string  `xml:"text-anchor,attr"`
	Title   string  `xml:"title"`
	Text    string  `xml:",chardata"`
}

// svg is one size of a chart.
type svg struct {
	Class   string `xml:"class,attr"`
	ViewBox string `xml:"viewBox,attr"`
	Name    string `xml:"aria-label,attr"`
	Shapes  []mark `xml:",any"`
}

// drawings reads the drawings of a chart.
func drawings(t *testing.T, c chart) (all []svg) {
	t.Helper()
	text, err := c.svg()
	if err != nil {
		t.Fatal(err)
	}
	var root struct {
		Drawings []svg `xml:"svg"`
	}
	if err := xml.Unmarshal([]byte("<r>"+string(text)+"</r>"), &root); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return root.Drawings
}

// of returns the shapes of a class.
func (d svg) of(class string) (found []mark) {
	for _, s := range d.Shapes {
		if s.Class == class {
			found = append(found, s)
		}
	}
	return found
}

var british = report.LocaleOf("GB")

func money(form report.Form, labels []string, series ...report.Series) chart {
	return chart{&report.Chart{Form: form, Title: "T", Kind: report.Money, Labels: labels, Series: series}, british}
}

// TestBarsHaveTheLengthOfTheirValues to a thousandth of a unit.
func TestBarsHaveTheLengthOfTheirValues(t *testing.T) {
	t.Parallel()
	values := [][]int64{{1, 333_33, 1_000_00, 12_345_67}, {-700_01, 5, 99_99, 2_500_00}}
	labels := []string{"One", "Two", "Three", "Four"}
	for _, form := range []report.Form{report.VerticalBars, report.StackedVerticalBars, report.HorizontalBars, report.StackedHorizontalBars} {
		c := money(form, labels, report.Series{Name: "Invoiced", Values: values[0]}, report.Series{Name: "Paid", Values: values[1]})
		for _, d := range drawings(t, c) {
			unit := 0.0 // length of the largest value
			for n, all := range values {
				bars := d.of(series(n))
				bars = titled(bars) // the symbol of a legend has no title
				if len(bars) != len(all) {
					t.Fatalf("%s, form %d: %d bars of %d values", d.Class, form, len(bars), len(all))
				}
				for i, bar := range bars {
					length := bar.Width
					if !c.horizontal() {
						length = bar.Height
					}
					if unit == 0 {
						last := bars[len(bars)-1]
						unit = last.Width / float64(all[len(all)-1])
						if !c.horizontal() {
							unit = last.Height / float64(all[len(all)-1])
						}
					}
					if want := math.Abs(float64(all[i])) * unit; math.Abs(length-want) > 0.0011 {
						t.Errorf("%s, form %d: %s is %g long, want %g", d.Class, form, bar.Title, length, want)
					}
					if want := fmt.Sprintf("%s, %s: %s", labels[i], c.Series[n].Name, british.Exact(report.Money, all[i])); bar.Title != want {
						t.Errorf("a bar is called %q, want %q", bar.Title, want)
					}
				}
			}
		}
	}
}

func titled(bars []mark) (found []mark) {
	for _, b := range bars {
		if b.Title != "" {
			found = append(found, b)
		}
	}
	return found
}

// TestLabelsStandAtTheirBars: labels are anchored at the middle or the end of their bars, inside
// the drawing, and do not overlap.
func TestLabelsStandAtTheirBars(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 6, 7, 12, 13, 24, 37, 60, 120} {
		var labels []string
		var values []int64
		for i := range n {
			labels = append(labels, report.English.Format(report.Month, civil.MustParse("2020-01-01").AddMonths(i)))
			values = append(values, int64(1000+i)*100)
		}
		for _, form := range []report.Form{report.VerticalBars, report.StackedVerticalBars} {
			c := money(form, labels, report.Series{Name: "Invoiced", Values: values}, report.Series{Name: "Paid", Values: values})
			for k, d := range drawings(t, c) {
				middles := map[string]float64{}
				for _, bar := range titled(d.of("series-1")) {
					label, _, _ := strings.Cut(bar.Title, ",")
					middles[label] = bar.X + bar.Width/2
				}
				end, shown := math.Inf(-1), 0
				for _, l := range d.of("label") {
					middle, ok := middles[l.Text]
					if !ok {
						continue // of the legend
					}
					shown++
					half := sizes[k].textWidth(l.Text) / 2
					if l.Anchor != "middle" || math.Abs(l.X-middle) > 0.0011 {
						t.Errorf("%s, %d labels: %s is at %g, its bar at %g", d.Class, n, l.Text, l.X, middle)
					}
					if l.X-half < end || l.X-half < -1 || l.X+half > sizes[k].width+1.1 {
						t.Errorf("%s, %d labels: no room for %s at %g", d.Class, n, l.Text, l.X)
					}
					end = l.X + half
				}
				if shown < min(n, 2) {
					t.Errorf("%s: only %d of %d labels are shown", d.Class, shown, n)
				}
			}
		}
	}
}

// TestMoneyIsReadWithoutALegend: horizontal bars end with their value and name, upright ones
// have a plot for each series.
func TestMoneyIsReadWithoutALegend(t *testing.T) {
	t.Parallel()
	both := []report.Series{{Name: "Invoiced", Values: []int64{1234_50, 99}}, {Name: "Paid", Values: []int64{1000_00, 0}}}
	for _, d := range drawings(t, money(report.HorizontalBars, []string{"Ann Jones", "Bob"}, both...)) {
		var texts []string
		for i, v := range d.of("value") {
			texts = append(texts, v.Text)
			if bars := titled(d.Shapes); i == 0 && v.X <= bars[0].X+bars[0].Width {
				t.Errorf("%s: the value at %g is on its bar", d.Class, v.X)
			}
		}
		if got, want := strings.Join(texts, "|"), "£1,234.50 invoiced|£1,000.00 paid|£0.99 invoiced|£0.00 paid"; got != want {
			t.Errorf("%s: got %s, want %s", d.Class, got, want)
		}
	}
	for _, d := range drawings(t, money(report.VerticalBars, []string{"May 2026", "Jun 2026"}, both...)) {
		if names := d.of("name"); len(names) != 2 || names[0].Text != "Invoiced" || names[1].Text != "Paid" {
			t.Errorf("%s: plots are called %v", d.Class, names)
		}
	}
}

// TestBarsStandOnTheAxis: stacked parts meet, and the first starts at 0.
func TestBarsStandOnTheAxis(t *testing.T) {
	t.Parallel()
	c := chart{&report.Chart{Form: report.StackedHorizontalBars, Title: "T", Kind: report.Minutes, Labels: []string{"Ann"}, Series: []report.Series{{Name: "Patients", Values: []int64{61}}, {Name: "Free", Values: []int64{17}}}}, british}
	for _, d := range drawings(t, c) {
		axis, first, second := d.of("axis")[0], titled(d.of("series-1"))[0], titled(d.of("series-2"))[0]
		if first.X != axis.X1 || math.Abs(first.X+first.Width-second.X) > 0.0011 {
			t.Errorf("%s: axis at %g, bars from %g for %g and from %g", d.Class, axis.X1, first.X, first.Width, second.X)
		}
		if total := d.of("value")[0]; total.Text != "1 h 18 min" {
			t.Errorf("the total is %s", total.Text)
		}
	}
}

func TestChartsAreDescribed(t *testing.T) {
	t.Parallel()
	c := money(report.VerticalBars, []string{"May 2026", "Jun 2026"}, report.Series{Name: "Paid", Values: []int64{1234_50, 99}})
	want := "T. Paid: highest £1,234.50, May 2026; lowest £0.99, Jun 2026. The table beneath holds all numbers."
	for _, d := range drawings(t, c) {
		if d.Name != want {
			t.Errorf("got %q, want %q", d.Name, want)
		}
	}
}

func TestCharts(t *testing.T) {
	t.Parallel()
	labels := func(n int) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprintf("Bartholomew Featherstonehaugh-Cholmondeley the %dth & <Sons>", i))
		}
		return all
	}
	values := func(n int, value func(int) int64) (all []int64) {
		for i := range n {
			all = append(all, value(i))
		}
		return all
	}
	for _, form := range []report.Form{report.VerticalBars, report.StackedVerticalBars, report.HorizontalBars, report.StackedHorizontalBars} {
		for _, n := range []int{0, 1, 12, 60} {
			for name, value := range map[string]func(int) int64{
				"rising": func(i int) int64 { return int64(i+1) * 1000 }, "none": func(int) int64 { return 0 }, "tiny": func(int) int64 { return 1 },
				"negative": func(i int) int64 { return int64(i%5)*700 - 1400 - int64(i) }, "large": func(i int) int64 { return 900_000_000_00 + int64(i) },
			} {
				c := money(form, labels(n), report.Series{Name: "One", Values: values(n, value)}, report.Series{Name: "Two & <three>", Values: values(n, value)})
				text, err := c.svg()
				if err != nil {
					t.Errorf("form %d, %d %s values: %v", form, n, name, err)
					continue
				}
				if blank := n == 0 || name == "none"; blank != (text == "") {
					t.Errorf("form %d, %d %s values: blank is %t", form, n, name, text == "")
				}
				for _, bad := range []string{"NaN", "Inf", "style=", "<Sons>", "<three>"} {
					if strings.Contains(string(text), bad) {
						t.Errorf("form %d, %d %s values: %s in %s", form, n, name, bad, text)
					}
				}
				sizeOf := append(slices.Clone(sizes), paper)
				for k, d := range drawings(t, c) {
					_, height, _ := strings.Cut(d.ViewBox, strconv.FormatFloat(sizeOf[k].width, 'f', -1, 64)+" ")
					bottom, err := strconv.ParseFloat(height, 64)
					if err != nil {
						t.Fatal(err)
					}
					for _, s := range d.Shapes {
						if s.X < -0.01 || s.X+s.Width > sizeOf[k].width+0.01 || s.Y+s.Height > bottom+0.01 || s.Y < 0 {
							t.Errorf("%s, form %d, %d %s values: %+v is outside", d.Class, form, n, name, s)
							break
						}
					}
				}
			}
		}
	}
}

// TestTallChartIsShortOnPaper so that its table begins on the same page.
func TestTallChartIsShortOnPaper(t *testing.T) {
	t.Parallel()
	labels, values := make([]string, 20), make([]int64, 20)
	for i := range labels {
		labels[i], values[i] = fmt.Sprint("Row ", i), int64(2000-i)
	}
	three := money(report.HorizontalBars, labels, report.Series{Name: "A", Values: values}, report.Series{Name: "B", Values: values}, report.Series{Name: "C", Values: values})
	all := drawings(t, three)
	if len(all) != 3 || len(all[2].of("series-1")) != 5 || len(all[0].of("series-1")) != 20 {
		t.Errorf("%d drawings: want the first 5 of 20 rows on paper", len(all))
	}
	short := money(report.HorizontalBars, labels[:15], report.Series{Name: "A", Values: values[:15]})
	if n := len(drawings(t, short)); n != len(sizes) {
		t.Errorf("%d drawings of a chart that fits on paper, want %d", n, len(sizes))
	}
}

// TestFirstValueIsClearOfTheAxis: the marks of the axis stay legible beside a wide value of the
// first bar.
func TestFirstValueIsClearOfTheAxis(t *testing.T) {
	t.Parallel()
	labels, values := make([]string, 12), make([]int64, 12)
	for i := range labels {
		labels[i], values[i] = fmt.Sprint("M", i), 1_060_000
	}
	values[0] = 1_060_228
	for k, d := range drawings(t, money(report.VerticalBars, labels, report.Series{Name: "A", Values: values})) {
		first, marks := d.of("value")[0], d.of("tick")
		x, end := first.X, marks[0].X
		if first.Anchor == "middle" {
			x -= sizes[k].textWidth(first.Text) / 2
		}
		if x < end {
			t.Errorf("%q begins at %v, left of the end of the marks at %v", first.Text, x, end)
		}
	}
}

// TestLastValueCoversNoBar: on a phone it is wider than its bar, and would stand on a higher one before it.
func TestLastValueCoversNoBar(t *testing.T) {
	t.Parallel()
	for before, want := range map[int64]int{13_740: 2, 13_741: 1} {
		values := []int64{16_320, 12_000, 12_000, 12_000, 12_000, 12_000, 12_000, 12_000, 12_000, 12_000, before, 13_740}
		c := chart{&report.Chart{Title: "x", Kind: report.Minutes, Labels: make([]string, len(values)), Series: []report.Series{{Name: "Booked", Values: values}}}, report.English}
		for i := range c.Labels {
			c.Labels[i] = fmt.Sprintf("%02d", i)
		}
		slim := drawings(t, c)[1]
		if got := slim.of("value"); len(got) != want {
			t.Errorf("%d before the last bar: the values %v are shown, want %d", before, got, want)
		}
	}
}
