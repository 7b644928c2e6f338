package analyst_test

import (
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"

	"chairside/internal/store/analyst"
)

// TestScriptKnowsOffsets compares the offsets of a script with those of the zone, to the end of the century.
func TestScriptKnowsOffsets(t *testing.T) {
	t.Parallel()
	row := regexp.MustCompile(`\((-?\d+), (-?\d+)\)`)
	for _, name := range []string{"Europe/London", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "UTC"} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		type since struct{ at, seconds int64 }
		var all []since
		for _, m := range row.FindAllStringSubmatch(analyst.Script(uuid.Nil, zone), -1) {
			at, _ := strconv.ParseInt(m[1], 10, 64)
			seconds, _ := strconv.ParseInt(m[2], 10, 64)
			all = append(all, since{at, seconds})
		}
		for at := time.Date(1970, time.January, 1, 0, 30, 0, 0, time.UTC); at.Year() <= 2100; at = at.Add(7 * time.Hour) {
			for len(all) > 1 && all[1].at <= at.Unix() {
				all = all[1:]
			}
			if _, want := at.In(zone).Zone(); int64(want) != all[0].seconds {
				t.Fatalf("%s at %s: %d, want %d", name, at, all[0].seconds, want)
			}
		}
	}
}
