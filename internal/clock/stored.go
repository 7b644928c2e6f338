package clock

import (
	"fmt"
	"time"
)

// Stored scans an aggregate of times, such as a maximum, in UTC; NULL is the zero time. The
// databases differ: for an expression SQLite returns its stored number, the microseconds
// since 1970.
type Stored struct{ time.Time }

// Scan implements sql.Scanner for both databases.
func (s *Stored) Scan(value any) error {
	switch v := value.(type) {
	case nil:
		s.Time = time.Time{}
	case time.Time:
		s.Time = v.UTC()
	case int64:
		s.Time = time.UnixMicro(v).UTC()
	default:
		return fmt.Errorf("clock: cannot read a time from %T", value)
	}
	return nil
}
