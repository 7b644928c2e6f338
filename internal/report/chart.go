package report

// Chart is a picture of a section.
type Chart struct {
	Form   Form
	Title  string
	Kind   Kind // of the values: Count, Minutes, Money, Units or Percent
	Labels []string
	Series []Series
}

// Form is the form of a chart.
type Form int

// The forms.
const (
	Bars    Form = iota // upright bars side by side: a few series over time
	Stacked             // upright bars on top of each other: the parts of a whole over time
	Rows                // lying bars, for labels that are long: one per person or source
	Parts               // the same, each of parts after one another
)

// Series is one colour of a chart.
type Series struct {
	Name string
	// Values are one for each label of the chart, as integers: hundredths of
	// Money, Units and Percent, minutes of Minutes.
	Values []int64
}

// Add adds a label with a value of each series.
func (c *Chart) Add(label string, values ...int64) {
	c.Labels = append(c.Labels, label)
	for i, v := range values {
		c.Series[i].Values = append(c.Series[i].Values, v)
	}
}
