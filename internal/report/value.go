package report

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"chairside/internal/civil"
	"chairside/internal/decimal"
)

// none is shown for a missing value.
const none = "–"

// holds reports whether v has the kind's Go type, or is nil.
func (k Kind) holds(v any) bool {
	if v == nil {
		return true
	}
	var ok bool
	switch k {
	case Text:
		_, ok = v.(string)
	case Count, Minutes:
		_, ok = v.(int)
	case Money, Units, Percent:
		_, ok = v.(decimal.Decimal)
	case Date, Month:
		_, ok = v.(civil.Date)
	case ID:
		_, ok = v.(int64)
	case Clock:
		_, ok = v.(time.Time)
	}
	return ok
}

// Numeric reports whether values are numbers, which tables align to the right.
func (k Kind) Numeric() bool { return k != Text && k != Date && k != Month && k != Clock }

// additive reports whether values can be added up.
func (k Kind) additive() bool { return k == Count || k == Minutes || k == Money || k == Units }

// zero returns 0 of an additive kind, nil of others.
func (k Kind) zero() any {
	switch k {
	case Count, Minutes:
		return 0
	case Money, Units:
		return decimal.Decimal(0)
	}
	return nil
}

// Plain formats a value for programs, as in CSV.
func (k Kind) Plain(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case int:
		return strconv.Itoa(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case decimal.Decimal:
		return v.String()
	case civil.Date:
		if k == Month {
			return v.String()[:len("2026-04")]
		}
		return v.String()
	case time.Time:
		return v.Format(time.RFC3339)
	}
	return fmt.Sprint(v)
}

// same returns a value that is equal for values of the kind with the same Plain form.
func (k Kind) same(v any) any {
	switch v := v.(type) {
	case string:
		if v == "" {
			return nil
		}
	case civil.Date:
		if k == Month && v.Day != 1 {
			return monthStart(v)
		}
	}
	return v
}

// Header is the heading of a column in CSV: its key, with the unit of its values.
func (c Column) Header(l Locale) string {
	unit := ""
	switch c.Kind {
	case Money:
		unit = strings.ToLower(l.Currency)
	case Percent:
		unit = "percent"
	case Minutes:
		unit = "minutes"
	}
	if unit == "" || c.Key == unit || strings.HasSuffix(c.Key, "_"+unit) {
		return c.Key
	}
	return c.Key + "_" + unit
}

// number64 returns a numeric value as an integer: in hundredths, minutes or as counted.
func number64(v any) (n int64, ok bool) {
	switch v := v.(type) {
	case int:
		return int64(v), true
	case decimal.Decimal:
		return int64(v), true
	}
	return 0, false
}

// sum returns the sum of two values of an additive kind.
func (k Kind) sum(a, b any) any {
	x, _ := number64(a)
	y, _ := number64(b)
	if k == Count || k == Minutes {
		return int(x + y)
	}
	return decimal.Decimal(x + y)
}

// compare orders two values of the kind that are not nil.
func (k Kind) compare(a, b any) int {
	switch a := a.(type) {
	case string:
		if a == b {
			return 0
		}
		return compareNames(a, b.(string))
	case int64:
		return cmp.Compare(a, b.(int64))
	case civil.Date:
		return a.Compare(b.(civil.Date))
	case time.Time:
		return a.Compare(b.(time.Time))
	}
	x, _ := number64(a)
	y, _ := number64(b)
	return cmp.Compare(x, y)
}
