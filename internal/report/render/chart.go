package render

import (
	"bytes"
	"fmt"
	"html"
	"html/template"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-analyze/charts"

	"chairside/internal/report"
)

// Sizes in a drawing, in its own units.
const (
	lyingMargin = 70 // height of all but the bars
	barTall     = 12
	barGap      = 14
	mostRows    = 40 // lying bars; the rest is in the table
	axisWidth   = 60 // of the axis beside upright bars, about
	mostWide    = 60 // upright bars of one label, together
)

// size is for whom a drawing is made. It is scaled to the width of the page, so
// that a telephone needs one of its own: a shrunk one could not be read.
type size struct {
	class        string  // by which the style sheet chooses
	width, tall  int     // tall is that of upright bars
	longestLabel int     // characters; longer ones end in an ellipsis
	lyingMarks   float64 // with a label, on a lying axis, at most
}

var sizes = []size{{"chart-wide", 900, 310, 36, 5}, {"chart-slim", 400, 290, 18, 3}}

// uprightMarks is how many marks an upright axis has, at most.
const uprightMarks = 5

// palette tells colours apart for people who see few of them: Okabe and Ito's,
// without yellow, which paper does not show.
var palette = charts.MakeTheme(charts.ThemeOption{
	AxisStrokeColor:    charts.ParseColor("#767676"),
	AxisSplitLineColor: charts.ParseColor("#e4e4e4"),
	BackgroundColor:    charts.ColorTransparent,
	TextColor:          charts.ParseColor("#333333"),
	SeriesColors: []charts.Color{
		charts.ParseColor("#0072b2"), charts.ParseColor("#e69f00"), charts.ParseColor("#009e73"), charts.ParseColor("#cc79a7"),
		charts.ParseColor("#56b4e9"), charts.ParseColor("#d55e00"), charts.ParseColor("#000000"),
	},
})

// chart draws a report's chart.
type chart struct{ *report.Chart }

// blank reports whether there is nothing to be seen on the chart.
func (c chart) blank() bool {
	return c.Chart == nil || len(c.Labels) == 0 || !slices.ContainsFunc(c.Series, func(s report.Series) bool {
		return slices.ContainsFunc(s.Values, func(v int64) bool { return v != 0 })
	})
}

// cut tells how many rows at the end of the table the chart does not show.
func (c chart) cut() int {
	if c.lying() {
		return max(0, len(c.Labels)-mostRows)
	}
	return 0
}

func (c chart) lying() bool   { return c.Form == report.Rows || c.Form == report.Parts }
func (c chart) stacked() bool { return c.Form == report.Stacked || c.Form == report.Parts }

// svg draws the chart in each of the sizes, of which the style sheet shows one;
// nothing where it is blank. It holds no script and no style attributes, which
// a page's content security policy may forbid.
func (c chart) svg() (drawings template.HTML, err error) {
	if c.blank() {
		return "", nil
	}
	for _, z := range sizes {
		drawing, err := c.svgOf(z)
		if err != nil {
			return "", fmt.Errorf("draw %q: %w", c.Title, err)
		}
		drawings += drawing
	}
	return drawings, nil
}

func (c chart) svgOf(z size) (template.HTML, error) {
	n := len(c.Labels) - c.cut()
	names := make([]string, len(c.Series))
	values := make([][]float64, len(c.Series))
	for i, s := range c.Series {
		if len(s.Values) != len(c.Labels) {
			return "", fmt.Errorf("%d values of %s for %d labels", len(s.Values), s.Name, len(c.Labels))
		}
		names[i] = html.EscapeString(s.Name)
		for _, v := range s.Values[:n] {
			values[i] = append(values[i], c.scaled(v))
		}
	}
	labels := make([]string, n)
	for i, l := range c.Labels[:n] {
		labels[i] = html.EscapeString(shorten(report.Printable(l), z.longestLabel)) // the library writes text as it is
	}
	drawn, err := c.draw(z, labels, names, values)
	if err != nil {
		return "", err
	}
	return accessible(string(drawn), z.class, c.Title), nil
}

func (c chart) draw(z size, labels, names []string, values [][]float64) ([]byte, error) {
	o := charts.PainterOptions{OutputFormat: charts.ChartOutputSVG, Width: z.width, Height: z.tall, Theme: palette}
	legend := charts.LegendOption{SeriesNames: names, Show: charts.Ptr(len(names) > 1), Offset: charts.OffsetLeft, Symbol: charts.SymbolSquare, FontStyle: charts.NewFontStyleWithSize(11)}
	padding, words := charts.NewBox(10, 10, 20, 10), charts.NewFontStyleWithSize(10)
	if c.lying() {
		low, high, step := c.axis(values, z.lyingMarks)
		label := c.label(max(-low, high))
		beside := len(values)
		if c.stacked() {
			beside = 1
		}
		labels, values = lying(labels, values, beside, high)
		o.Height = lyingMargin + len(labels)*(barTall*beside+barGap)
		option := charts.NewHorizontalBarChartOptionWithData(values)
		option.Legend, option.Padding, option.Theme, option.ValueFormatter = legend, padding, palette, label
		option.YAxis = charts.YAxisOption{Labels: labels, LabelFontStyle: words, LabelCount: len(labels)}
		option.StackSeries, option.BarHeight, option.BarMargin = charts.Ptr(beside == 1), barTall, charts.Ptr(0.0)
		return drawLying(o, option, step, label, words)
	}
	low, high, step := c.axis(values, uprightMarks)
	thin(labels, z.width-axisWidth)
	p := charts.NewPainter(o)
	// With a gap and a place for each label, blank ones too, the library sets every
	// label right under its bars. One alone it sets to the left, but a title not.
	x := charts.XAxisOption{Labels: labels, LabelFontStyle: words, LabelCount: len(labels), BoundaryGap: charts.Ptr(true)}
	if len(labels) == 1 {
		x.Labels, x.Title, x.TitleFontStyle = []string{" "}, labels[0], words
	}
	y := []charts.YAxisOption{{
		LabelFontStyle: words, ValueFormatter: c.label(max(-low, high)), SplitLineShow: charts.Ptr(true),
		Min: &low, Max: &high, LabelCount: int(math.Round((high-low)/step)) + 1, RangeValuePaddingScale: charts.Ptr(0.0),
	}}
	option := charts.NewBarChartOptionWithData(values)
	option.Legend, option.Padding, option.Theme, option.XAxis, option.YAxis = legend, padding, palette, x, y
	option.StackSeries, option.BarMargin = charts.Ptr(c.stacked()), charts.Ptr(1.0)
	if few := len(labels) <= 6; few && c.stacked() {
		option.BarWidth = mostWide
	} else if few {
		option.BarWidth = max(1, mostWide/len(values))
	}
	return finished(p, p.BarChart(option))
}

// drawLying draws lying bars with a label at each step. Of whole steps the
// library leaves some out, so it gets half ones. It may still leave out all that
// have a label; then one mark more helps, or at last a label at whatever mark. Each
// time it gets series without names: it names them as it draws, and would sort
// those that have names, the part that is nothing among them.
func drawLying(o charts.PainterOptions, option charts.HorizontalBarChartOption, step float64, label func(float64) string, words charts.FontStyle) (drawn []byte, err error) {
	unnamed := option.SeriesList
	for more := range 3 {
		option.SeriesList = slices.Clone(unnamed)
		option.XAxis = charts.XAxisOption{LabelFontStyle: words, Unit: step / 2, LabelCountAdjustment: more, ValueFormatter: func(v float64) string {
			if halves := int(math.Round(2 * v / step)); halves%2 != 0 && more < 2 {
				return " "
			}
			return label(v)
		}}
		p := charts.NewPainter(o)
		drawn, err = finished(p, p.HorizontalBarChart(option))
		if err != nil {
			return nil, err
		}
		if bytes.Contains(drawn, []byte(">"+label(step)+"<")) || bytes.Contains(drawn, []byte(">"+label(2*step)+"<")) {
			break
		}
	}
	return drawn, nil
}

// finished is a drawing, unless there was an error. It can be had once.
func finished(p *charts.Painter, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return p.Bytes()
}

// axis gives the ends of the axis of values, and a round distance between its
// marks, which are so many at most. It holds all values, and nothing: bars
// begin there.
func (c chart) axis(values [][]float64, marks float64) (low, high, step float64) {
	for i := range values[0] {
		var sum float64
		for _, v := range values {
			if !c.stacked() {
				sum = 0
			}
			sum += v[i]
			low, high = min(low, sum), max(high, sum)
		}
	}
	step = math.Pow(10, math.Floor(math.Log10((high-low)/marks)))
	for _, round := range []float64{1, 2, 5, 10} {
		if step*round*marks >= high-low {
			step *= round
			break
		}
	}
	if c.Kind == report.Count {
		step = max(step, 1)
	}
	return math.Floor(low/step) * step, (math.Floor(high/step) + 1) * step, step
}

// lying prepares lying bars, so many of them beside each other: the library
// begins at the bottom, sets labels close to the axis, and may have the axis begin
// at the smallest value, unless that is nothing. Bars that are alone are stacked,
// and get a last part that is nothing; the others a last row, which shows, and so
// only where values lie close together.
func lying(labels []string, values [][]float64, beside int, high float64) ([]string, [][]float64) {
	if beside == 1 {
		values = append(values, make([]float64, len(labels)))
	} else if !slices.ContainsFunc(values, func(v []float64) bool { return slices.Min(v) < high/10 }) {
		labels = append(labels, " ")
		for i := range values {
			values[i] = append(values[i], 0)
		}
	}
	slices.Reverse(labels)
	for i := range labels {
		labels[i] += "\u00a0\u00a0"
	}
	for i := range values {
		slices.Reverse(values[i])
	}
	return labels, values
}

// thin blanks labels for which there is no room, evenly, and one that would
// reach over the end.
func thin(labels []string, width int) {
	longest := 1
	for _, l := range labels {
		longest = max(longest, len([]rune(l)))
	}
	const letter = 8 // its width, with some space beside the label
	every := 1 + (len(labels)*longest*letter)/width
	for i := range labels {
		if i%every != 0 || i+(every-1)/2 >= len(labels) {
			labels[i] = " "
		}
	}
}

// scaled is a value in the units of the axis: a drawing need not be exact.
func (c chart) scaled(v int64) float64 {
	switch c.Kind {
	case report.Money, report.Units, report.Percent:
		return float64(v) / 100
	case report.Minutes:
		return float64(v) / 60
	default:
		return float64(v)
	}
}

// label writes values on an axis that ends at the highest, all in thousands or
// millions where that is large.
func (c chart) label(highest float64) func(v float64) string {
	unit, size := "", 1.0
	switch {
	case highest >= 1e6:
		unit, size = "m", 1e6
	case highest >= 1e4:
		unit, size = "k", 1e3
	}
	after := ""
	switch c.Kind {
	case report.Percent:
		after = " %"
	case report.Minutes:
		after = " h"
	}
	return func(v float64) string {
		n := math.Round(v/size*100) / 100
		if n == 0 {
			return "0" + after
		}
		return report.Grouped(strconv.FormatFloat(n, 'f', -1, 64)) + unit + after
	}
}

func shorten(s string, longest int) string {
	r := []rune(s)
	if len(r) <= longest {
		return s
	}
	return strings.TrimSpace(string(r[:longest-1])) + "…"
}

var (
	styles = regexp.MustCompile(`style="([^"]*)"`)
	opened = regexp.MustCompile(`^<svg [^>]*(viewBox="[^"]*")>`)
)

// accessible gives a drawing a name for those who do not see it, and turns its
// style attributes into attributes of their own.
func accessible(svg, class, title string) template.HTML {
	title = html.EscapeString(title)
	svg = opened.ReplaceAllString(svg, `<svg xmlns="http://www.w3.org/2000/svg" class="`+class+`" $1 font-family="Roboto, Arial, sans-serif" role="img" aria-label="`+strings.ReplaceAll(title, "$", "$$")+`. The table beneath holds the numbers.">`)
	svg = styles.ReplaceAllStringFunc(svg, func(style string) string {
		var b strings.Builder
		for property := range strings.SplitSeq(styles.FindStringSubmatch(style)[1], ";") {
			if name, value, ok := strings.Cut(property, ":"); ok && name != "font-family" {
				fmt.Fprintf(&b, `%s="%s" `, name, value)
			}
		}
		return strings.TrimSpace(b.String())
	})
	return template.HTML(svg) //nolint:gosec // drawn above, of escaped text
}
