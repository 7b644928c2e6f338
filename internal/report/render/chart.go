package render

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"
	"unicode"

	"chairside/internal/report"
)

// Lengths are in the units of the SVG view box.
const (
	maxHorizontalBars = 40   // further rows are only in the table
	maxPaperBars      = 15   // so that a page has room for the table, too
	maxBarWidth       = 48.0 // of an upright bar
	seriesColours     = 7    // classes series-1 to series-7 of the style sheet
)

// size is a size of a drawing. The style sheet scales drawings to the width of the page. A
// wide one would be illegible on a telephone, so each chart is drawn in both sizes.
type size struct {
	class       string // CSS class
	width, font float64
	labelLength int     // characters; longer labels end in an ellipsis
	beside      bool    // labels of horizontal bars are beside the bars, not above them
	panel       float64 // height of the plot of an upright chart
	small       float64 // height of one of several plots
	ticks       float64 // most tick marks
	onPaper     bool    // only the first labels of a horizontal chart
}

var sizes = []size{
	{class: "chart-wide", width: 900, font: 13, labelLength: 44, beside: true, panel: 230, small: 110, ticks: 4},
	{class: "chart-slim", width: 340, font: 12, labelLength: 44, panel: 190, small: 90, ticks: 3},
}

// paper replaces the wide drawing on paper if that is tall.
var paper = size{class: "chart-paper", width: 900, font: 13, labelLength: 44, beside: true, onPaper: true}

// textWidth estimates the width of a text in a wide font, such as DejaVu Sans. Labels are anchored at the point that
// they belong to: it decides what has room, and how much room the marks of an axis have.
func (z size) textWidth(text string) (width float64) {
	for _, r := range text {
		switch {
		case r == '%' || r == 'M' || r == 'W' || r == 'm' || r == 'w':
			width += 0.98 * z.font
		case unicode.IsUpper(r):
			width += 0.72 * z.font
		case unicode.IsDigit(r) || r == '£' || r == '€' || r == '$':
			width += 0.64 * z.font
		default:
			width += 0.58 * z.font
		}
	}
	return width
}

// chart draws the chart of a section, as SVG without scripts and style attributes, which a
// page's content security policy may forbid. Bars have the exact length of their values.
type chart struct {
	*report.Chart
	locale report.Locale
}

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

// barsPerLabel is the number of bars under each other.
func (c chart) barsPerLabel() int {
	if c.stacked() {
		return 1
	}
	return max(1, len(c.Series))
}

// tall reports whether the chart has more bars than fit on paper above a table.
func (c chart) tall() bool {
	return c.horizontal() && c.paperLabels() < len(c.Labels)-c.hiddenLabels()
}

// paperLabels is the number of labels that a tall chart shows on paper.
func (c chart) paperLabels() int { return max(1, maxPaperBars/c.barsPerLabel()) }

func (c chart) horizontal() bool {
	return c.Form == report.HorizontalBars || c.Form == report.StackedHorizontalBars
}

func (c chart) stacked() bool {
	return c.Form == report.StackedVerticalBars || c.Form == report.StackedHorizontalBars
}

// svg draws the chart in each size; the style sheet shows one of them. A blank chart is "".
func (c chart) svg() (drawings template.HTML, err error) {
	if c.blank() {
		return "", nil
	}
	for _, s := range c.Series {
		if len(s.Values) != len(c.Labels) {
			return "", fmt.Errorf("draw %q: %d values of %s for %d labels", c.Title, len(s.Values), s.Name, len(c.Labels))
		}
	}
	drawn := slices.Clone(sizes)
	if c.tall() {
		drawn[0].class += " chart-tall"
		drawn = append(drawn, paper)
	}
	for _, z := range drawn {
		d := drawing{size: z}
		height := 0.0
		if c.horizontal() {
			height = c.drawHorizontal(&d)
		} else {
			height = c.drawVertical(&d)
		}
		drawings += d.svg(height, c.alternative())
	}
	return drawings, nil
}

// alternative describes the chart to people who do not see it.
func (c chart) alternative() string {
	var b strings.Builder
	b.WriteString(c.Title + ".")
	for _, s := range c.Series {
		low, high := 0, 0
		for i, v := range s.Values {
			if v < s.Values[low] {
				low = i
			}
			if v > s.Values[high] {
				high = i
			}
		}
		fmt.Fprintf(&b, " %s: highest %s, %s", s.Name, c.locale.Exact(c.Kind, s.Values[high]), c.Labels[high])
		if s.Values[low] != s.Values[high] {
			fmt.Fprintf(&b, "; lowest %s, %s", c.locale.Exact(c.Kind, s.Values[low]), c.Labels[low])
		}
		b.WriteString(".")
	}
	b.WriteString(" The table beneath holds all numbers.")
	return report.Printable(b.String())
}

// extent returns the least and greatest end of a bar; bars start at 0.
func (c chart) extent() (low, high int64) {
	for i := range c.Labels {
		var below, above int64 // ends of the stack so far
		for _, s := range c.Series {
			v := s.Values[i]
			if !c.stacked() {
				below, above = 0, 0
			}
			below, above = below+min(v, 0), above+max(v, 0)
			low, high = min(low, below), max(high, above)
		}
	}
	return low, high
}

// total returns the sum of the values of a label.
func (c chart) total(label int) (sum int64) {
	for _, s := range c.Series {
		sum += s.Values[label]
	}
	return sum
}

// hint names a value exactly, for the tooltip of its bar.
func (c chart) hint(series, label int) string {
	return fmt.Sprintf("%s, %s: %s", c.Labels[label], c.Series[series].Name, c.locale.Exact(c.Kind, c.Series[series].Values[label]))
}

// legend draws the names of the parts of stacked bars, and returns the height it takes.
func (c chart) legend(d *drawing) float64 {
	if !c.stacked() || len(c.Series) < 2 {
		return 0
	}
	x, y := 0.0, d.font
	for i, s := range c.Series {
		name := shorten(s.Name, d.labelLength)
		width := d.font*1.5 + d.textWidth(name)
		if x > 0 && x+width > d.width {
			x, y = 0, y+d.font*1.7
		}
		d.rect(x, y-d.font*0.85, d.font, d.font, series(i), "")
		d.text(x+d.font*1.4, y, "start", "", name)
		x += width + d.font
	}
	return y + d.font
}

// drawHorizontal draws bars to the right, each with its value at its end, and returns the
// height of the drawing.
func (c chart) drawHorizontal(d *drawing) float64 {
	n := len(c.Labels) - c.hiddenLabels()
	if d.onPaper {
		n = min(n, c.paperLabels())
	}
	labels, room := make([]string, n), 0.0
	for i, l := range c.Labels[:n] {
		labels[i] = shorten(report.Printable(l), d.labelLength)
		room = max(room, d.textWidth(labels[i]))
	}
	left := 0.0
	if d.beside {
		left = room + d.font
	}
	ends := 0.0 // width of the texts at the ends of bars
	for i := range n {
		for j := range c.Series {
			ends = max(ends, d.textWidth(c.endLabel(j, i)))
		}
	}
	low, high := c.extent()
	scale := (d.width - left - ends - d.font/2) / float64(high-low)
	at := func(v int64) float64 { return left + float64(v-low)*scale }

	barHeight, lineHeight, gap := d.font+3, d.font+5, d.font*0.9
	y := c.legend(d)
	top := y
	for i, label := range labels {
		middle := barHeight/2 + d.font*0.35
		if d.beside {
			bars := barHeight * float64(c.barsPerLabel())
			d.text(left-d.font*0.6, y+bars/2+d.font*0.35, "end", "", label)
		} else {
			d.text(0, y+d.font, "start", "", label)
			y += lineHeight
		}
		var below, above int64
		for j, s := range c.Series {
			v := s.Values[i]
			start := min(v, 0)
			if c.stacked() && v < 0 {
				start, below = below+v, below+v
			} else if c.stacked() {
				start, above = above, above+v
			}
			d.rect(at(start), y, math.Abs(float64(v))*scale, barHeight-1, series(j), c.hint(j, i))
			if !c.stacked() {
				d.text(at(max(v, 0))+d.font*0.4, y+middle, "start", "value", c.endLabel(j, i))
				y += barHeight
			}
		}
		if c.stacked() {
			d.text(at(above)+d.font*0.4, y+middle, "start", "value", c.endLabel(0, i))
			y += barHeight
		}
		y += gap
	}
	d.line(at(0), top, at(0), y-gap, "axis")
	return y - gap + 2
}

// endLabel is the text at the end of a bar: its value, with the name of its series if there are
// several. A stack has its total.
func (c chart) endLabel(series, label int) string {
	if c.stacked() {
		return c.locale.Exact(c.Kind, c.total(label))
	}
	text := c.locale.Exact(c.Kind, c.Series[series].Values[label])
	if len(c.Series) > 1 {
		text += " " + strings.ToLower(c.Series[series].Name[:1]) + c.Series[series].Name[1:]
	}
	return text
}

// drawVertical draws upright bars, a plot for each series unless they are stacked, and returns
// the height of the drawing. The plots share one scale.
func (c chart) drawVertical(d *drawing) float64 {
	low, high := c.extent()
	from, to, step := c.axis(low, high, d.ticks)
	p := plot{chart: c, drawing: d, from: from, to: to, step: step, height: d.panel}
	for v := from; v <= to; v += step {
		p.left = max(p.left, d.textWidth(p.tick(v))+d.font*0.6)
	}
	p.band = (d.width - p.left) / float64(len(c.Labels))
	for _, l := range c.Labels { // the last label is centred and may be wider than its bar
		p.right = max(p.right, (d.textWidth(l)-p.band)/2)
	}
	p.band = (d.width - p.left - p.right) / float64(len(c.Labels))
	y := c.legend(d)
	if c.stacked() || len(c.Series) == 1 {
		all := make([]int, len(c.Series))
		for i := range all {
			all[i] = i
		}
		y = p.draw(y+d.font, all)
	} else {
		p.height = d.small
		for i, s := range c.Series {
			if i > 0 {
				y += d.font
			}
			d.text(p.left, y+d.font, "start", "name", s.Name)
			y = p.draw(y+d.font*2.6, []int{i})
		}
	}
	return p.labels(y)
}

// plot is one plot of an upright chart.
type plot struct {
	chart
	*drawing
	from, to, step int64   // ends and tick marks of the axis
	left, right    float64 // of the plot
	band           float64 // width for a label
	height         float64
}

// tick is the text of a mark of the axis. All have one unit.
func (p *plot) tick(v int64) string { return p.locale.Tick(p.Kind, v, max(p.to, -p.from)) }

// middle is the middle of a label's bar.
func (p *plot) middle(label int) float64 { return p.left + (float64(label)+0.5)*p.band }

// draw draws the bars of some series, which are stacked, below y, and returns its lower end.
func (p *plot) draw(y float64, members []int) float64 {
	at := func(v int64) float64 { return y + float64(p.to-v)/float64(p.to-p.from)*p.height }
	for v := p.from; v <= p.to; v += p.step {
		class := "grid"
		if v == 0 {
			class = "axis"
		}
		p.line(p.left, at(v), p.width-p.right, at(v), class)
		p.text(p.left-p.font*0.5, at(v)+p.font*0.35, "end", "tick", p.tick(v))
	}
	width := min(maxBarWidth, p.band*0.7)
	totals := make([]int64, len(p.Labels))
	for i := range p.Labels {
		var below, above int64
		for _, j := range members {
			v := p.Series[j].Values[i]
			totals[i] += v
			top := above + v
			if v < 0 {
				top = below
				below += v
			} else {
				above = top
			}
			p.rect(p.middle(i)-width/2, at(top), width, math.Abs(float64(v))/float64(p.to-p.from)*p.height, series(j), p.hint(j, i))
		}
	}
	for _, i := range p.labelled(totals) {
		text, x, anchor := p.locale.Short(p.Kind, totals[i]), p.middle(i), "middle"
		if x-p.textWidth(text)/2 < p.left { // it would cover the marks of the axis
			x, anchor = p.left+p.font*0.2, "start"
		}
		p.text(x, at(max(totals[i], 0))-p.font*0.35, anchor, "value", text)
	}
	return y + p.height
}

// labelled returns the bars that get their value: all if there is room, or else the highest, and
// the last if they are apart and the bar before it, which its value covers in part, is no higher.
func (p *plot) labelled(totals []int64) (bars []int) {
	widest, highest := 0.0, 0
	for i, v := range totals {
		widest = max(widest, p.textWidth(p.locale.Short(p.Kind, v)))
		if v > totals[highest] {
			highest = i
		}
		bars = append(bars, i)
	}
	if widest+p.font*0.3 <= p.band {
		return bars
	}
	bars = bars[highest : highest+1]
	if last := len(totals) - 1; float64(last-highest)*p.band > widest+p.font && totals[last] != 0 && totals[last-1] <= totals[last] {
		bars = []int{highest, last}
	}
	return bars
}

// labels draws the labels under the bars that have room, and returns the height of the drawing.
func (p *plot) labels(y float64) float64 {
	widest := 0.0
	for _, l := range p.Labels {
		widest = max(widest, p.textWidth(shorten(l, p.labelLength/2)))
	}
	every := max(1, int(math.Ceil((widest+p.font/2)/p.band)))
	for i := (len(p.Labels) - 1) % every; i < len(p.Labels); i += every { // the last has one
		if x := p.middle(i); x >= widest/2 && x+widest/2 <= p.width+1 {
			p.text(x, y+p.font*1.5, "middle", "", shorten(report.Printable(p.Labels[i]), p.labelLength/2))
		}
	}
	return y + p.font*2
}

// axis returns the ends of an axis, and a round step so that it has about the given number of
// tick marks at most. The axis includes 0, where bars start.
func (c chart) axis(low, high int64, ticks float64) (from, to, step int64) {
	unit := 1.0 // in the integers of values
	switch c.Kind {
	case report.Money, report.Units, report.Percent:
		unit = 100
	case report.Minutes:
		unit = 60
	}
	span := float64(high-low) / unit
	size := math.Pow(10, math.Floor(math.Log10(span/ticks)))
	for _, round := range []float64{1, 2, 5, 10} {
		if size*round*ticks >= span {
			size *= round
			break
		}
	}
	step = max(1, int64(math.Round(size*unit)))
	from = -(-low + step - 1) / step * step
	to = (high + step - 1) / step * step
	return from, to, step
}

// series is the class of a series' bars.
func series(i int) string { return fmt.Sprintf("series-%d", i%seriesColours+1) }

// shorten cuts text to a number of characters, the last one an ellipsis.
func shorten(s string, longest int) string {
	r := []rune(s)
	if len(r) <= longest {
		return s
	}
	return strings.TrimSpace(string(r[:longest-1])) + "…"
}

// drawing collects the shapes of an SVG.
type drawing struct {
	size
	shapes strings.Builder
}

// rect draws a rectangle, with a tooltip unless the hint is "".
func (d *drawing) rect(x, y, width, height float64, class, hint string) {
	if width <= 0 || height <= 0 {
		return
	}
	title := ""
	if hint != "" {
		title = "<title>" + template.HTMLEscapeString(report.Printable(hint)) + "</title>"
	}
	fmt.Fprintf(&d.shapes, `<rect class="%s" x="%s" y="%s" width="%s" height="%s">%s</rect>`, class, units(x), units(y), units(width), units(height), title)
}

func (d *drawing) line(x1, y1, x2, y2 float64, class string) {
	fmt.Fprintf(&d.shapes, `<line class="%s" x1="%s" y1="%s" x2="%s" y2="%s"/>`, class, units(x1), units(y1), units(x2), units(y2))
}

// text writes text that starts at x, ends there, or has its middle there.
func (d *drawing) text(x, y float64, anchor, class, text string) {
	fmt.Fprintf(&d.shapes, `<text class="%s" x="%s" y="%s" text-anchor="%s">%s</text>`, cmp.Or(class, "label"), units(x), units(y), anchor, template.HTMLEscapeString(text))
}

// svg returns the drawing with a name for screen readers.
func (d *drawing) svg(height float64, alternative string) template.HTML {
	return template.HTML(fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" class="%s" viewBox="0 0 %s %s" font-size="%s" role="img" aria-label="%s">%s</svg>`, //nolint:gosec // texts are escaped
		d.class, units(d.width), units(height), units(d.font), template.HTMLEscapeString(alternative), d.shapes.String()))
}

// units writes a length to a thousandth.
func units(v float64) string {
	text := strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.3f", v), "0"), ".")
	if text == "-0" {
		return "0"
	}
	return text
}
