package report

import (
	"fmt"
	"testing"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/internal/civil"
	"chairside/internal/decimal"
)

// column returns the index of the column with the key.
func column(t *testing.T, columns []Column, key string) int {
	t.Helper()
	for i, c := range columns {
		if c.Key == key {
			return i
		}
	}
	t.Fatalf("no column %s", key)
	return 0
}

func TestValueIsBlankWithoutPrice(t *testing.T) {
	t.Parallel()
	price, target := decimal.Decimal(29_85), decimal.Decimal(100_00)
	for _, c := range []struct {
		name  string
		ortho bool
		want  bool
	}{{"dental units have a price", false, true}, {"orthodontic units have no price", true, false}} {
		p := Progress{Contract: &ent.Contract{UdaValue: &price}, Ortho: c.ortho, Target: &target, Awarded: 10_00, Value: 298_50}
		cells := p.cells()
		for _, key := range []string{"value", "shortfall_value"} {
			if got := cells[column(t, progressColumns, key)]; (got != nil) != c.want {
				t.Errorf("%s: %s is %v", c.name, key, got)
			}
		}
	}
}

func TestDiaryNotesNameSites(t *testing.T) {
	t.Parallel()
	day := civil.MustParse("2026-04-01")
	rows := []DiaryRow{{PractitionerID: 1, Practitioner: "Ann", Site: "Here", Month: day, Session: 60, Free: 60}}
	one := int64(1)
	for _, c := range []struct {
		filter    Filter
		sum, note string
	}{
		{Filter{From: day, To: day}, "All practitioners", "Whole period, all sites."},
		{Filter{From: day, To: day, SiteID: new(uuid.UUID)}, "All practitioners", "Whole period."},
		{Filter{From: day, To: day, PractitionerID: &one}, "All", "Whole period, all sites."},
	} {
		r := diaryResult(rows, c.filter)
		if sum, note := r.Sections[0].Total[1], r.Sections[1].Note; sum != c.sum || note != c.note {
			t.Errorf("%+v: %q, %q", c.filter, sum, note)
		}
	}
}

func TestAwardsChartShowsMonthsWithoutClaims(t *testing.T) {
	t.Parallel()
	month := civil.MustParse("2026-11-01")
	s, _ := (&ClaimsReport{Awards: []ClaimAwards{
		{Month: month.AddMonths(-1), Ortho: true, Expected: 7_00}, {Month: month, Expected: 3_00, Awarded: 2_00},
		{Month: month.AddMonths(3), Expected: 5_00}, {Month: month.AddMonths(3), Ortho: true, Expected: 7_00},
	}}).awarded()
	want := "[Nov 2026 Dec 2026 Jan 2027 Feb 2027] [{Expected [300 0 0 500]} {Awarded [200 0 0 0]}]"
	if got := fmt.Sprint(s.Chart.Labels, s.Chart.Series); got != want || len(s.Rows) != 4 {
		t.Errorf("%d rows, and the chart is %s, want %s", len(s.Rows), got, want)
	}
}
