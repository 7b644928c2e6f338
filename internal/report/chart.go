package report

// Chart is the data of a chart above the table of a section.
type Chart struct {
	Form   Form
	Title  string
	Kind   Kind // of the values: Count, Minutes, Money, Units or Percent
	Labels []string
	Series []Series
}

// Form is the type of a chart.
type Form int

// The forms.
const (
	VerticalBars          Form = iota // series side by side, over time
	StackedVerticalBars               // series on top of each other: parts of a whole, over time
	HorizontalBars                    // for long labels: one bar per person or source
	StackedHorizontalBars             // the same, each bar divided into the series
)

// Series is a set of values drawn in one colour.
type Series struct {
	Name string
	// Values has one integer for each label of the chart: hundredths for Money,
	// Units and Percent, minutes for Minutes.
	Values []int64
}

// Add adds a label with one value for each series.
func (c *Chart) Add(label string, values ...int64) {
	c.Labels = append(c.Labels, label)
	for i, v := range values {
		c.Series[i].Values = append(c.Series[i].Values, v)
	}
}
