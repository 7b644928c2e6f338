package clock

import (
	"testing"
	"time"
)

func TestStoredScansBothDatabases(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 7, 1, 9, 15, 0, 0, time.UTC)
	for _, c := range []struct {
		given any
		want  time.Time
	}{
		{nil, time.Time{}},
		{at.In(time.FixedZone("", 3600)), at},
		{at.UnixMicro(), at},
	} {
		s := Stored{at.AddDate(1, 0, 0)} // from an earlier row
		if err := s.Scan(c.given); err != nil || s.Time != c.want {
			t.Errorf("Scan(%v) = %v, %v; want %v", c.given, s.Time, err, c.want)
		}
	}
	if err := new(Stored).Scan("2026-07-01"); err == nil {
		t.Error("Scan accepts text")
	}
}
