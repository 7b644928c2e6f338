package api_test

import (
	"strconv"
	"testing"
	"time"

	"chairside/internal/test/harness"
)

// TestDemoOffersNoTimeOnBankHolidays asks for the free times of everybody at the demo, which blocks
// its diaries on these days.
func TestDemoOffersNoTimeOnBankHolidays(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		var everybody []int64
		for _, id := range e.Get(t, "/v1/practitioners?active=true&per_page=100", token).Status(t, 200).Column(t, "practitioners", "id") {
			n, err := strconv.ParseInt(id, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			everybody = append(everybody, n)
		}
		for date, isOpen := range map[string]bool{
			"2026-08-31": false, "2026-12-18": true, "2026-12-25": false, "2026-12-26": false, "2026-12-27": false, "2026-12-28": false, "2027-01-01": false,
		} {
			asked := window(everybody[0], between(date, instant(date).Add(24*time.Hour-time.Minute).Format(time.RFC3339)))
			asked.PractitionerIds = everybody
			if got := free(t, e.Client(t, token), asked); (len(got) > 0) != isOpen {
				t.Errorf("%s: %v", date, got)
			}
		}
	})
}
