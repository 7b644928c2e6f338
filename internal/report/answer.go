package report

import (
	"context"
	"errors"
	"fmt"

	"chairside/ent"
	"chairside/ent/practitioner"
	"chairside/ent/site"
	"chairside/internal/principal"
)

// The refusals of Ask.
var (
	ErrPeriod          = errors.New("the first day is after the last")
	ErrSite            = errors.New("the practice has no such site")
	ErrPractitioner    = errors.New("the practice has no such practitioner")
	ErrNoPractitioners = errors.New("this report cannot be limited to a practitioner")
)

// Answer is a report about a practice in a period, with all that is written
// around its tables.
type Answer struct {
	*Report
	*Result
	Filter       Filter
	Practice     string // name
	Site         string // name of the only site, or ""
	Practitioner string // name of the only practitioner, or ""
}

// Ask runs the report for the practice of the caller in ctx. Besides errors of
// the database it gives one of the refusals above.
func (r *Report) Ask(ctx context.Context, client *ent.Client, f Filter) (*Answer, error) {
	if r.AsAt {
		f.From, _ = r.Period(f.To)
	}
	if f.To.Before(f.From) {
		return nil, ErrPeriod
	}
	if f.PractitionerID != nil && !r.Practitioners {
		return nil, ErrNoPractitioners
	}
	a := &Answer{Report: r, Filter: f}
	if err := a.names(ctx, client); err != nil {
		return nil, err
	}
	var err error
	if a.Result, err = r.Run(ctx, client, f); err != nil {
		return nil, err
	}
	return a, a.check()
}

func (a *Answer) names(ctx context.Context, client *ent.Client) error {
	practice, err := client.Practice.Get(ctx, principal.Must(ctx).PracticeID)
	if err != nil {
		return err
	}
	a.Practice = practice.Name
	if id := a.Filter.SiteID; id != nil {
		s, err := client.Site.Query().Where(site.ID(*id)).Only(ctx)
		if ent.IsNotFound(err) {
			return ErrSite
		} else if err != nil {
			return err
		}
		a.Site = s.Name
	}
	if id := a.Filter.PractitionerID; id != nil {
		p, err := client.Practitioner.Query().Where(practitioner.ID(*id)).WithUser().Only(ctx)
		if ent.IsNotFound(err) {
			return ErrPractitioner
		} else if err != nil {
			return err
		}
		a.Practitioner = practitionerName(p)
	}
	return nil
}

// check finds values that are not what their column says: a mistake of the report.
func (a *Answer) check() error {
	for _, f := range a.Summary {
		if !f.Kind.holds(f.Value) {
			return fmt.Errorf("report: the figure %s is a %T", f.Key, f.Value)
		}
	}
	for i := range a.Sections {
		s := &a.Sections[i]
		for _, row := range s.Rows {
			if err := s.check(row, Kind.holds); err != nil {
				return err
			}
		}
		if s.Total == nil {
			continue
		}
		err := s.check(s.Total, func(k Kind, v any) bool {
			_, name := v.(string) // of the sum, in whatever column it stands
			return name || k.holds(v)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Section) check(row []any, holds func(Kind, any) bool) error {
	if len(row) != len(s.Columns) {
		return fmt.Errorf("report: a row of %s has %d values for %d columns", s.Key, len(row), len(s.Columns))
	}
	for i, c := range s.Columns {
		if !holds(c.Kind, row[i]) {
			return fmt.Errorf("report: %s of %s is a %T", c.Key, s.Key, row[i])
		}
	}
	return nil
}

// Scope says in words what the report is about: period, site, practitioner.
func (a *Answer) Scope() string {
	period := Date.Format(a.Filter.From) + " to " + Date.Format(a.Filter.To)
	switch {
	case a.OneDay():
		period = a.Filter.To.Time().Format("Monday 2 January 2006")
	case a.AsAt:
		period = "as at " + Date.Format(a.Filter.To)
	case a.Filter.From == a.Filter.To:
		period = Date.Format(a.Filter.To)
	case a.Filter.From.IsZero():
		period = "up to " + Date.Format(a.Filter.To)
	}
	for _, name := range []string{a.Site, a.Practitioner} {
		if name != "" {
			period += " · " + Printable(name)
		}
	}
	return period
}
