package report_test

import (
	"fmt"
	"strings"
	"testing"

	"chairside/ent"
	"chairside/internal/report"
	"chairside/schema"
)

func TestNoShowsMatchSQL(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		// Just before and after midnight at both ends of March, which have different offsets
		// from UTC, and in the hour that the clocks repeat.
		who := p.Ent.Practitioner.Query().FirstIDX(p.ctx)
		for _, at := range []string{"2026-02-28T23:59Z", "2026-03-01T00:00Z", "2026-03-31T22:59Z", "2026-03-31T23:00Z", "2025-10-26T00:30Z", "2025-10-26T01:30Z"} {
			until := at[:len("2026-02-28T")] + "23:59Z"
			if until == at {
				until = "2026-03-01T00:30Z"
			}
			p.book(t, who, booked{from: at, to: until, state: schema.DidNotAttend}, booked{from: at, to: until}, booked{from: at, to: until, state: schema.Cancelled}, booked{from: at, to: until, noPatient: true})
		}
		for _, f := range []report.Filter{period("2026-03-01", "2026-03-31"), period("2025-07-02", "2026-07-01"), period("2025-10-26", "2025-10-26"), period("1999-01-01", "1999-12-31")} {
			a := p.ask(t, "no-shows", f)
			visits := fmt.Sprintf(`SELECT {month {seconds a.start_time}} AS month, CAST(s.id AS text) AS source_id, COALESCE(s.name, 'Not recorded') AS source, CASE WHEN a.state = 'Did not attend' THEN 1 ELSE 0 END AS missed
				FROM appointments a JOIN patients x ON x.id = a.patient_id LEFT JOIN acquisition_sources s ON s.id = x.acquisition_source_id
				WHERE a.practice_id = {demo} AND a.cancelled_at IS NULL AND {day {seconds a.start_time}} BETWEEN '%s' AND '%s'`, f.From, f.To)
			for section, by := range map[string][]string{"months": {"month"}, "sources": {"source_id", "source"}, "sources_by_month": {"source_id", "source", "month"}} {
				group := strings.Join(by, ", ")
				want := facts(t, p, `SELECT `+group+`, COUNT(*), SUM(missed), CAST(FLOOR((SUM(missed) * 20000.0 / COUNT(*) + 1) / 2) AS bigint) FROM (`+visits+`) v GROUP BY `+group)
				sameRows(t, f.From.String()+" "+section, cells(t, a, section, append(by, "due", "did_not_attend", "no_show_rate")...), want)
				if len(want) == 0 != (f.From.Year == 1999) {
					t.Errorf("%s: %d rows of %s", f.From, len(want), section)
				}
			}
		}
		// The report on diary use counts the same appointments in another way.
		f := period("2025-07-02", "2026-07-01")
		if got, want := figure(t, p.ask(t, "no-shows", f), "no_show_rate"), figure(t, p.ask(t, "diary", f), "did_not_attend_rate"); got != want || got == 0 {
			t.Errorf("the no-show rate is %d, and the DNA rate %d", got, want)
		}
	})
}

// TestNoShowsAddUp: those of the sites and of the practitioners add up to the practice's.
func TestNoShowsAddUp(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		f := period("2026-04-01", "2026-07-31")
		whole, theirs := p.ask(t, "no-shows", f), p.as(t, "second").ask(t, "no-shows", f)
		for _, key := range []string{"due", "did_not_attend"} {
			sites, people := int64(0), int64(0)
			for _, s := range p.Ent.Site.Query().AllX(p.ctx) {
				f.SiteID = &s.ID
				sites += figure(t, p.ask(t, "no-shows", f), key)
			}
			f.SiteID = nil
			for _, id := range p.Ent.Practitioner.Query().IDsX(p.ctx) {
				f.PractitionerID = &id
				people += figure(t, p.ask(t, "no-shows", f), key)
			}
			f.PractitionerID = nil
			if all := figure(t, whole, key); all == 0 || sites != all || people != all || all == figure(t, theirs, key) {
				t.Errorf("%s is %d, of the sites %d, of the practitioners %d, of the second practice %d", key, all, sites, people, figure(t, theirs, key))
			}
		}
	})
}

// TestNoShowsKeepSourcesApart: sources with the same name are two rows.
func TestNoShowsKeepSourcesApart(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		var twin string
		p.tx(t, func(tx *ent.Client) error {
			s := tx.AcquisitionSource.Query().FirstX(p.ctx)
			twin = s.Name
			other := tx.AcquisitionSource.Create().SetName(s.Name).SaveX(p.ctx)
			return tx.Patient.UpdateOne(tx.Patient.Query().FirstX(p.ctx)).SetAcquisitionSourceID(other.ID).Exec(p.ctx)
		})
		p.book(t, p.Ent.Practitioner.Query().FirstIDX(p.ctx), booked{from: "2026-06-10T09:00Z", to: "2026-06-10T09:30Z", patient: p.Ent.Patient.Query().FirstIDX(p.ctx)})
		n := 0
		for _, row := range cells(t, p.ask(t, "no-shows", period("2025-07-02", "2026-07-01")), "sources", "source") {
			if row == twin {
				n++
			}
		}
		if n != 2 {
			t.Errorf("%d rows of %s, want 2", n, twin)
		}
	})
}
