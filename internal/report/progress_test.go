package report_test

import (
	"slices"
	"testing"

	"chairside/ent"
	"chairside/internal/civil"
	"chairside/internal/report"
)

// Whoever asks sees each step of a report when it begins.
func TestProgress(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		var seen []int
		ctx := report.WithProgress(p.ctx, func(done, of int) { seen = append(seen, done, of) })
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
