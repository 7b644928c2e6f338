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

// Errors of Ask for a filter that the report cannot use.
var (
	ErrPeriod          = errors.New("the first day is after the last")
	ErrSite            = errors.New("the practice has no such site")
	ErrPractitioner    = errors.New("the practice has no such practitioner")
	ErrNoPractitioners = errors.New("this report cannot be limited to a practitioner")
)

// Answer is a report's result for one practice and filter, with the names for its heading.
type Answer struct {
	*Report
	*Result
	Filter       Filter
	Practice     string // name
	Site         string // name of the filter's site, "" for all sites
	Practitioner string // name of the filter's practitioner, "" for all
}

// Ask runs the report for the practice of the caller in ctx. It returns one of the
// errors above or a database error.
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
	if err := a.lookUpNames(ctx, client); err != nil {
		return nil, err
	}
	var err error
	if a.Result, err = r.Run(ctx, client, f); err != nil {
		return nil, err
	}
	return a, a.check()
}

// lookUpNames fills in the names, and checks that the site and the practitioner exist.
func (a *Answer) lookUpNames(ctx context.Context, client *ent.Client) error {
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

// check returns an error if a value does not have its column's kind, which is a bug in
// the report.
// check checks that each value of the answer has the type of its figure or column.
func (a *Answer) check() error {
	for _, f := range a.Summary {
		if !f.Kind.holds(f.Value) {
			return fmt.Errorf("report: figure %s is a %T", f.Key, f.Value)
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
			_, label := v.(string) // "All practitioners" may be in any column
			return label || k.holds(v)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// check checks one row; holds reports whether a kind has a value's type.
func (s *Section) check(row []any, holds func(Kind, any) bool) error {
	if len(row) != len(s.Columns) {
		return fmt.Errorf("report: section %s: a row has %d values for %d columns", s.Key, len(row), len(s.Columns))
	}
	for i, c := range s.Columns {
		if !holds(c.Kind, row[i]) {
			return fmt.Errorf("report: section %s: column %s is a %T", s.Key, c.Key, row[i])
		}
	}
	return nil
}

// Scope describes the filter in words: period, site, practitioner.
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
