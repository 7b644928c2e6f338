package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"chairside/ent"
	"chairside/ent/practitioner"
	"chairside/ent/site"
	"chairside/internal/civil"
	"chairside/internal/principal"
)

// Errors of Ask for a filter that the report cannot use.
var (
	ErrPeriod          = errors.New("the first day is after the last")
	ErrSite            = errors.New("the practice has no such site")
	ErrPractitioner    = errors.New("the practice has no such practitioner")
	ErrNoPractitioners = errors.New("this report cannot be limited to a practitioner")
	ErrCompare         = errors.New("without a first day there is no previous period to compare with")
	ErrSort            = errors.New("no table of the report has the column to sort by")
	ErrBehind          = errors.New("the report has no such figure")
)

// Answer is a report's result for one practice and filter, with the names for its heading.
type Answer struct {
	*Report
	*Result
	Filter       Filter
	Locale       Locale  // of the practice's country
	Before       *Before // nil without a comparison
	Practice     string  // name
	Site         string  // name of the filter's site, "" for all sites
	Practitioner string  // name of the filter's practitioner, "" for all
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
	a := &Answer{Report: r, Filter: f, Locale: localeOf(ctx)}
	layout, err := a.layout()
	if err != nil {
		return nil, err
	}
	if !layout.sortable(f.Sort) {
		return nil, ErrSort
	}
	if err := a.lookUpNames(ctx, client); err != nil {
		return nil, err
	}
	if err := a.run(ctx, client); err != nil {
		return nil, err
	}
	if err := a.check(layout); err != nil {
		return nil, err
	}
	a.sortBy(f.Sort)
	return a, nil
}

// layout returns the answer without rows, before anything is read.
func (a *Answer) layout() (*Result, error) {
	if a.Filter.Behind != nil {
		return a.layOutRecords(*a.Filter.Behind)
	}
	return a.Layout(a.Filter, a.Locale), nil
}

// run runs the report, or lists the records behind a figure.
func (a *Answer) run(ctx context.Context, client *ent.Client) (err error) {
	f := a.Filter
	if f.Behind != nil {
		a.Result, err = a.listRecords(ctx, client, f)
		return err
	}
	b := &Before{}
	ok := false
	if b.From, b.To, ok = a.PeriodBefore(f.From, f.To); f.Compare && !ok {
		return ErrCompare
	}
	if a.Result, err = a.Run(ctx, client, f); err != nil || !f.Compare {
		return err
	}
	f.From, f.To = b.From, b.To
	if b.Result, err = a.Run(WithProgress(ctx, func(int, int) {}), client, f); err != nil {
		return err
	}
	a.Before = b
	return b.findStart(ctx, client, a.Report)
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

// keys returns the keys of the figures and of the tables with their columns, each once.
func (r *Result) keys() (all []string) {
	for _, f := range r.Summary {
		all = append(all, f.Key)
	}
	for i := range r.Sections {
		key := r.Sections[i].Key
		for _, c := range r.Sections[i].Columns {
			key += " " + c.Key
		}
		if !slices.Contains(all, key) {
			all = append(all, key)
		}
	}
	return all
}

// check checks that the answer is laid out as promised, and that each value has the type of its
// figure or column.
func (a *Answer) check(layout *Result) error {
	if got, want := a.keys(), layout.keys(); !slices.Equal(got, want) {
		return fmt.Errorf("report: %s has %q, and its layout has %q", a.Name, got, want)
	}
	for _, f := range a.Summary {
		if !f.Kind.holds(f.Value) {
			return fmt.Errorf("report: figure %s is a %T", f.Key, f.Value)
		}
		if a.Definition(f) == nil {
			return fmt.Errorf("report: figure %s has no definition", f.Key)
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

// Definition returns the definition of a figure, or nil.
func (a *Answer) Definition(f Figure) *Definition {
	for i := range a.Definitions {
		if d := &a.Definitions[i]; d.Term == cmp.Or(f.Term, f.Label) {
			return d
		}
	}
	return nil
}

// periodName describes a period in words.
func (r *Report) periodName(from, to civil.Date) string {
	switch {
	case r.OneDay():
		return to.Time().Format("Monday 2 January 2006")
	case r.AsAt:
		return "as at " + dayName(to)
	case from == to:
		return dayName(to)
	case from.IsZero():
		return "up to " + dayName(to)
	}
	return dayName(from) + " to " + dayName(to)
}

// NameBefore describes the period before in words.
func (a *Answer) NameBefore() string {
	name := a.periodName(a.Before.From, a.Before.To)
	if started := a.Before.Started; !started.IsZero() {
		name += fmt.Sprintf(" (the first appointment here was on %s)", dayName(started))
	}
	return name
}

// Scope describes the filter in words: period, site, practitioner.
func (a *Answer) Scope() string {
	period := a.periodName(a.Filter.From, a.Filter.To)
	for _, name := range []string{a.Site, a.Practitioner} {
		if name != "" {
			period += " · " + Printable(name)
		}
	}
	return period
}

// FileName names the report, its table and its period: "income-months-2026-04-01-to-2026-06-30".
func (a *Answer) FileName(table string) string {
	name, from, to := a.Name+"-", a.Filter.From, a.Filter.To.String()
	if a.Filter.Behind != nil {
		name += strings.ReplaceAll(a.Filter.Behind.Measure, "_", "-") + "-"
	} else if table != "" {
		name += strings.ReplaceAll(table, "_", "-") + "-"
	}
	switch {
	case a.AsAt || from == a.Filter.To:
		return name + to
	case from.IsZero():
		return name + "to-" + to
	}
	return name + from.String() + "-to-" + to
}
