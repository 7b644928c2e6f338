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

// Lengths are in the units of the SVG view box.
const (
	horizontalMargin  = 70 // height of a horizontal chart apart from its bars
	barHeight         = 12
	barGap            = 14
	maxHorizontalBars = 40 // further rows are only in the table
	axisWidth         = 60 // approximate width of a vertical axis with its labels
	maxVerticalWidth  = 60 // greatest width of all bars of a label
)

// size is a size of a drawing. The style sheet scales drawings to the width of the page. A
// wide one would be illegible on a telephone, so each chart is drawn in both sizes.
type size struct {
	class           string // CSS class
	width, height   int    // height of a vertical chart; horizontal ones grow with their bars
	labelLength     int    // characters; longer labels end in an ellipsis
	horizontalTicks float64
}

var sizes = []size{
	{class: "chart-wide", width: 900, height: 310, labelLength: 36, horizontalTicks: 5},
	{class: "chart-slim", width: 400, height: 290, labelLength: 18, horizontalTicks: 3},
}

// verticalTicks is the most tick marks on a vertical axis.
const verticalTicks = 5

// palette is that of Okabe and Ito, which people with colour blindness can distinguish,
// without yellow, which is invisible on paper.
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

// chart draws the chart of a section.
type chart struct{ *report.Chart }

// blank reports whether the chart would show no bars.
func (c chart) blank() bool {
	return c.Chart == nil || len(c.Labels) == 0 || !slices.ContainsFunc(c.Series, func(s report.Series) bool {
		return slices.ContainsFunc(s.Values, func(v int64) bool { return v != 0 })
	})
}

// hiddenLabels returns the number of labels, at the end, that the chart does not show.
func (c chart) hiddenLabels() int {
	if c.horizontal() {
		return max(0, len(c.Labels)-maxHorizontalBars)
	}
	return 0
}

func (c chart) horizontal() bool {
	return c.Form == report.HorizontalBars || c.Form == report.StackedHorizontalBars
}

func (c chart) stacked() bool {
	return c.Form == report.StackedVerticalBars || c.Form == report.StackedHorizontalBars
}

// svg draws the chart in each size; the style sheet shows one of them. A blank chart is "".
// Drawings have no scripts and no style attributes, which a page's content security
// policy may forbid.
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

// svgOf draws the chart in one size.
func (c chart) svgOf(z size) (template.HTML, error) {
	n := len(c.Labels) - c.hiddenLabels()
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
		labels[i] = html.EscapeString(shorten(report.Printable(l), z.labelLength)) // the library does not escape text
	}
	drawn, err := c.draw(z, labels, names, values)
	if err != nil {
		return "", err
	}
	return accessible(string(drawn), z.class, c.Title), nil
}

// style holds the options that both kinds of charts share.
type style struct {
	painter charts.PainterOptions
	legend  charts.LegendOption
	padding charts.Box
	font    charts.FontStyle
}

// draw draws the chart with the charts library.
func (c chart) draw(z size, labels, names []string, values [][]float64) ([]byte, error) {
	s := style{
		painter: charts.PainterOptions{OutputFormat: charts.ChartOutputSVG, Width: z.width, Height: z.height, Theme: palette},
		legend:  charts.LegendOption{SeriesNames: names, Show: charts.Ptr(len(names) > 1), Offset: charts.OffsetLeft, Symbol: charts.SymbolSquare, FontStyle: charts.NewFontStyleWithSize(11)},
		padding: charts.NewBox(10, 10, 20, 10),
		font:    charts.NewFontStyleWithSize(10),
	}
	if c.horizontal() {
		return c.drawHorizontal(s, z.horizontalTicks, labels, values)
	}
	return c.drawVertical(s, labels, values)
}

// drawVertical draws upright bars with the values on the left.
func (c chart) drawVertical(s style, labels []string, values [][]float64) ([]byte, error) {
	low, high, step := c.axis(values, verticalTicks)
	blankCrowdedLabels(labels, s.painter.Width-axisWidth)
	// The library centres a label under its bars if there is a boundary gap and an entry
	// for every label, even a blank one. It does not centre a single label, but it does
	// centre the title of the axis.
	x := charts.XAxisOption{Labels: labels, LabelFontStyle: s.font, LabelCount: len(labels), BoundaryGap: charts.Ptr(true)}
	if len(labels) == 1 {
		x.Labels, x.Title, x.TitleFontStyle = []string{" "}, labels[0], s.font
	}
	y := []charts.YAxisOption{{
		LabelFontStyle: s.font, ValueFormatter: c.formatter(max(-low, high)), SplitLineShow: charts.Ptr(true),
		Min: &low, Max: &high, LabelCount: int(math.Round((high-low)/step)) + 1, RangeValuePaddingScale: charts.Ptr(0.0),
	}}
	option := charts.NewBarChartOptionWithData(values)
	option.Legend, option.Padding, option.Theme, option.XAxis, option.YAxis = s.legend, s.padding, palette, x, y
	option.StackSeries, option.BarMargin = charts.Ptr(c.stacked()), charts.Ptr(1.0)
	if few := len(labels) <= 6; few && c.stacked() {
		option.BarWidth = maxVerticalWidth
	} else if few {
		option.BarWidth = max(1, maxVerticalWidth/len(values))
	}
	p := charts.NewPainter(s.painter)
	return paintedBytes(p, p.BarChart(option))
}

// drawHorizontal draws bars to the right, ticks values apart on the axis.
func (c chart) drawHorizontal(s style, ticks float64, labels []string, values [][]float64) ([]byte, error) {
	low, high, step := c.axis(values, ticks)
	format := c.formatter(max(-low, high))
	barsPerLabel := len(values)
	if c.stacked() {
		barsPerLabel = 1
	}
	labels, values = horizontalData(labels, values, barsPerLabel, high)
	s.painter.Height = horizontalMargin + len(labels)*(barHeight*barsPerLabel+barGap)
	option := charts.NewHorizontalBarChartOptionWithData(values)
	option.Legend, option.Padding, option.Theme, option.ValueFormatter = s.legend, s.padding, palette, format
	option.YAxis = charts.YAxisOption{Labels: labels, LabelFontStyle: s.font, LabelCount: len(labels)}
	option.StackSeries, option.BarHeight, option.BarMargin = charts.Ptr(barsPerLabel == 1), barHeight, charts.Ptr(0.0)
	return drawWithTicks(s, option, step, format)
}

// drawWithTicks draws horizontal bars with a labelled tick at each step.
//
// The library drops some of the ticks that it is asked for, so it gets ticks at half steps,
// and only those at whole steps get a label. If it still drops all labelled ticks, a second
// attempt asks for one tick more, and a third labels every tick. Each attempt starts from
// series without names, because the library names series while drawing and sorts named
// ones, which would move the empty series that horizontalData adds.
func drawWithTicks(s style, option charts.HorizontalBarChartOption, step float64, format func(float64) string) (drawn []byte, err error) {
	const attempts = 3
	unnamed := option.SeriesList
	for attempt := range attempts {
		option.SeriesList = slices.Clone(unnamed)
		option.XAxis = charts.XAxisOption{LabelFontStyle: s.font, Unit: step / 2, LabelCountAdjustment: attempt, ValueFormatter: func(v float64) string {
			if halves := int(math.Round(2 * v / step)); halves%2 != 0 && attempt < attempts-1 {
				return " "
			}
			return format(v)
		}}
		p := charts.NewPainter(s.painter)
		drawn, err = paintedBytes(p, p.HorizontalBarChart(option))
		if err != nil {
			return nil, err
		}
		if bytes.Contains(drawn, []byte(">"+format(step)+"<")) || bytes.Contains(drawn, []byte(">"+format(2*step)+"<")) {
			break
		}
	}
	return drawn, nil
}

// paintedBytes returns the drawing of p, or err. A drawing can be read once.
func paintedBytes(p *charts.Painter, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return p.Bytes()
}

// axis returns the ends of the axis of values, and a round step so that it has about the
// given number of ticks at most. The axis includes 0, where bars start.
func (c chart) axis(values [][]float64, ticks float64) (low, high, step float64) {
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
	step = math.Pow(10, math.Floor(math.Log10((high-low)/ticks)))
	for _, round := range []float64{1, 2, 5, 10} {
		if step*round*ticks >= high-low {
			step *= round
			break
		}
	}
	if c.Kind == report.Count {
		step = max(step, 1)
	}
	return math.Floor(low/step) * step, (math.Floor(high/step) + 1) * step, step
}

// horizontalData works around the library's handling of horizontal bars:
//
//   - It draws from the bottom up, so labels and values are reversed.
//   - It sets labels close to the axis, so they end in spaces.
//   - It may start the axis at the smallest value unless that is 0. Charts with one bar per
//     label are stacked and get an empty series. Others get an empty row, which is
//     visible, and therefore only if all values are large.
func horizontalData(labels []string, values [][]float64, barsPerLabel int, high float64) ([]string, [][]float64) {
	if barsPerLabel == 1 {
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

// blankCrowdedLabels blanks labels evenly so that the others do not overlap, and a last
// label that would extend beyond the chart.
func blankCrowdedLabels(labels []string, width int) {
	longest := 1
	for _, l := range labels {
		longest = max(longest, len([]rune(l)))
	}
	const letterWidth = 8 // including some space beside the label
	every := 1 + (len(labels)*longest*letterWidth)/width
	for i := range labels {
		if i%every != 0 || i+(every-1)/2 >= len(labels) {
			labels[i] = " "
		}
	}
}

// scaled converts a value to the units of the axis: pounds, units, percent or hours.
// Floating point is exact enough for a drawing.
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

// formatter returns a function that formats the values of an axis, in thousands or
// millions if the highest one is large.
func (c chart) formatter(highest float64) func(v float64) string {
	unit, size := "", 1.0
	switch {
	case highest >= 1e6:
		unit, size = "m", 1e6
	case highest >= 1e4:
		unit, size = "k", 1e3
	}
	suffix := ""
	switch c.Kind {
	case report.Percent:
		suffix = "%"
	case report.Minutes:
		suffix = " h"
	}
	return func(v float64) string {
		n := math.Round(v/size*100) / 100
		if n == 0 {
			return "0" + suffix
		}
		return report.Grouped(strconv.FormatFloat(n, 'f', -1, 64)) + unit + suffix
	}
}

// shorten cuts text to a number of characters, the last one an ellipsis.
func shorten(s string, longest int) string {
	r := []rune(s)
	if len(r) <= longest {
		return s
	}
	return strings.TrimSpace(string(r[:longest-1])) + "…"
}

var (
	styleAttribute = regexp.MustCompile(`style="([^"]*)"`)
	openingTag     = regexp.MustCompile(`^<svg [^>]*(viewBox="[^"]*")>`)
)

// accessible gives a drawing a name for screen readers, and replaces its style attributes
// by presentation attributes.
func accessible(svg, class, title string) template.HTML {
	title = html.EscapeString(title)
	svg = openingTag.ReplaceAllString(svg, `<svg xmlns="http://www.w3.org/2000/svg" class="`+class+`" $1 font-family="Roboto, Arial, sans-serif" role="img" aria-label="`+strings.ReplaceAll(title, "$", "$$")+`. The table beneath holds the numbers.">`)
	svg = styleAttribute.ReplaceAllStringFunc(svg, func(style string) string {
		var b strings.Builder
		for property := range strings.SplitSeq(styleAttribute.FindStringSubmatch(style)[1], ";") {
			if name, value, ok := strings.Cut(property, ":"); ok && name != "font-family" {
				fmt.Fprintf(&b, `%s="%s" `, name, value)
			}
		}
		return strings.TrimSpace(b.String())
	})
	return template.HTML(svg) //nolint:gosec // names and labels are escaped
}
