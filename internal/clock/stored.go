package clock

import (
	"fmt"
	"time"
)

// Stored scans an aggregate of times, in UTC; NULL is the zero time. For an expression SQLite
// returns the number that it stores, microseconds since 1970.
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
