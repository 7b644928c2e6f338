package clock

import (
	"fmt"
	"time"
)

// Stored is a time that is an aggregate of times, in UTC. What is no plain
// column SQLite gives as the bare number that it stores, microseconds since
// 1970. It is zero where there is none.
type Stored struct{ time.Time }

// Scan implements sql.Scanner for what either database gives.
func (s *Stored) Scan(value any) error {
	switch v := value.(type) {
	case nil:
		s.Time = time.Time{}
	case time.Time:
		s.Time = v.UTC()
	case int64:
		s.Time = time.UnixMicro(v).UTC()
	default:
		return fmt.Errorf("clock: a time is stored as %T", value)
	}
	return nil
}
