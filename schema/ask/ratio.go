package ask

import (
	"fmt"
	"strconv"
	"strings"
)

// Ratio is a part of a whole: appointments missed of those due, in whole numbers. It prints as
// a percentage: 7.50%.
type Ratio struct{ Part, Whole int64 }

// Add returns the ratio of both parts to both wholes, such as that of two months.
func (r Ratio) Add(o Ratio) Ratio { return Ratio{r.Part + o.Part, r.Whole + o.Whole} }

// Percent returns the ratio as a percentage, rounded half away from zero to two decimals. ok is
// false without a whole.
func (r Ratio) Percent() (percent Decimal, ok bool) {
	if r.Whole == 0 {
		return 0, false
	}
	n, whole := r.Part*100_00, r.Whole
	if whole < 0 {
		n, whole = -n, -whole
	}
	if n < 0 {
		return Decimal(-((-n + whole/2) / whole)), true
	}
	return Decimal((n + whole/2) / whole), true
}

// String returns the percentage, or a dash without a whole.
func (r Ratio) String() string {
	percent, ok := r.Percent()
	if !ok {
		return "–"
	}
	return percent.String() + "%"
}

// Scan implements sql.Scanner for the text of a column of Rate: "3/40".
func (r *Ratio) Scan(src any) error {
	var text string
	switch v := src.(type) {
	case string:
		text = v
	case []byte:
		text = string(v)
	}
	part, whole, _ := strings.Cut(text, "/")
	var err error
	if r.Part, err = strconv.ParseInt(part, 10, 64); err == nil {
		r.Whole, err = strconv.ParseInt(whole, 10, 64)
	}
	if err != nil {
		return fmt.Errorf("ask: %q is not a ratio: use Rate or Share", text)
	}
	return nil
}
