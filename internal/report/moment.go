package report

import (
	"fmt"
	"time"

	"chairside/internal/civil"
)

// moment is an aggregate of times: for what is no plain column SQLite gives the
// bare number, microseconds since 1970. It is zero for none.
type moment struct{ time.Time }

// Scan reads what either database gives.
func (m *moment) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		m.Time = time.Time{}
	case time.Time:
		m.Time = v
	case int64:
		m.Time = time.UnixMicro(v)
	default:
		return fmt.Errorf("report: a time is %T", src)
	}
	return nil
}

// day is the day of a zone on which the moment lies, or nil.
func (m moment) day(zone *time.Location) *civil.Date {
	if m.IsZero() {
		return nil
	}
	return new(civil.Of(m.In(zone)))
}
