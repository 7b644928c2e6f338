package report_test

import (
	"slices"
	"testing"

	"chairside/ent"
	"chairside/internal/civil"
	"chairside/internal/report"
)

// TestIncomeReportsProgress: the callback is called before each step.
func TestIncomeReportsProgress(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		var seen []int
		ctx := report.WithProgress(p.ctx, func(done, steps int) { seen = append(seen, done, steps) })
		err := p.View(ctx, func(client *ent.Client) error {
			_, err := report.Income(ctx, client, report.Filter{From: civil.MustParse("2026-01-20"), To: civil.MustParse("2026-03-02")})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if want := []int{0, 3, 1, 3, 2, 3}; !slices.Equal(seen, want) {
			t.Errorf("saw %v, want %v", seen, want)
		}
	})
}
