package civil_test

import (
	"testing"
	"time"

	"chairside/internal/civil"
)

// TestOffsetsMatchTheClocks compares the offsets with package time, every six hours and at each
// change.
func TestOffsetsMatchTheClocks(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Europe/London", "Europe/Dublin", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Kolkata", "UTC"} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		offsets := civil.Offsets(zone)
		check := func(at time.Time, want int) {
			t.Helper()
			if _, got := at.In(zone).Zone(); got != want {
				t.Fatalf("%s: %d seconds at %s, want %d", name, want, at, got)
			}
		}
		i := 0
		for at := time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC); at.Year() <= 2100; at = at.Add(6 * time.Hour) {
			for i+1 < len(offsets) && !at.Before(offsets[i+1].Since) {
				i++
				check(offsets[i].Since, offsets[i].Seconds)
				check(offsets[i].Since.Add(-time.Nanosecond), offsets[i-1].Seconds)
			}
			check(at, offsets[i].Seconds)
		}
		if changes := len(offsets) > 1; changes != (name != "UTC" && name != "Asia/Kolkata") {
			t.Errorf("%s has %d offsets", name, len(offsets))
		}
	}
}
