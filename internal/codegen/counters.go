package codegen

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"entgo.io/ent/entc/gen"

	"chairside/internal/apispec"
	"chairside/internal/codec"
)

// counter is a declared counter with its table.
type counter struct {
	apispec.Counter
	Table   string
	Columns []string // columns that the counter depends on, other than the practice; sorted
}

// FullName returns the counter's name in the database.
func (k counter) FullName() string { return k.Table + "." + k.Name }

// countersOf returns the counters of a table.
func countersOf(n *gen.Type) ([]counter, error) {
	var r apispec.Resource
	if err := annotation(n.Annotations, &r); err != nil {
		return nil, err
	}
	var all []counter
	for _, d := range r.Counters {
		k := counter{Counter: d, Table: n.Table()}
		for _, name := range append(sqlWord.FindAllString(d.Where, -1), d.By, d.Day) {
			if column := slices.ContainsFunc(n.Fields, func(f *gen.Field) bool { return f.Name == name }); column && !slices.Contains(k.Columns, name) {
				k.Columns = append(k.Columns, name)
			}
		}
		slices.Sort(k.Columns)
		all = append(all, k)
	}
	return all, nil
}

var (
	counterName = regexp.MustCompile(`^[a-z_]+$`)
	sqlWord     = regexp.MustCompile(`\w+`)
	// whereWords are the words of a Where other than columns. Limited to these, the condition
	// means the same on both databases, and its columns can be found.
	whereWords = []string{"AND", "OR", "NOT", "IS", "NULL", "TRUE", "FALSE"}
)

// checkCounters returns the mistakes in the counters of a resource.
func (e *entity) checkCounters() (problems []string) {
	for i, k := range e.R.Counters {
		complain := func(format string, a ...any) {
			problems = append(problems, fmt.Sprintf("%s: the counter %q ", e.Name, k.Name)+fmt.Sprintf(format, a...))
		}
		if !counterName.MatchString(k.Name) {
			complain("needs a name of lower-case letters and underscores")
		}
		if slices.ContainsFunc(e.R.Counters[:i], func(o apispec.Counter) bool { return o.Name == k.Name }) {
			complain("is declared twice")
		}
		if !e.Has("list") || e.Column("practice_id") == nil {
			complain("needs a list of a practice's rows")
		}
		if k.By != "" && k.Day != "" {
			complain("cannot have both By and Day")
		}
		if c := e.Column(k.By); k.By != "" && (c == nil || c.Nillable || c.Type.String() != "int64") {
			complain("needs an integer column that is never null: By is %q", k.By)
		} else if k.By != "" && e.counterFilter(k) == nil {
			complain("serves no request: no filter compares %s for equality", k.By)
		}
		if c := e.Column(k.Day); k.Day != "" && (c == nil || c.Nillable || c.Kind != codec.Time) {
			complain("needs a time column that is never null: Day is %q", k.Day)
		} else if k.Day != "" && (e.R.Order != k.Day || e.sameRows(k) == nil) {
			complain("cannot find pages: Day must be the default order, %q, and another counter must count the same rows without Day", e.R.Order)
		}
		if (k.Where == "") != (k.Unless == "") {
			complain("needs both Where and Unless, or neither")
		}
		if unless := func(f apispec.Filter) bool { return f.Param == k.Unless && f.Kind == codec.Boolean && f.Handwritten }; k.Unless != "" && !slices.ContainsFunc(e.R.Filters, unless) {
			complain("needs a hand-written boolean filter: Unless is %q", k.Unless)
		}
		if slices.ContainsFunc(e.R.Counters[:i], func(o apispec.Counter) bool { return o.Unless != "" && o.Unless == k.Unless && o.Where != k.Where }) {
			complain("has another condition than an earlier counter with Unless %q", k.Unless)
		}
		if strings.ContainsAny(k.Where, "'\"`") {
			complain("cannot have quotes in Where")
		}
		for _, word := range sqlWord.FindAllString(k.Where, -1) {
			if e.Column(word) == nil && !slices.Contains(whereWords, word) {
				complain("has no column %q: Where may contain columns and %s", word, strings.Join(whereWords, ", "))
			}
		}
	}
	return problems
}

// counterFilter returns the filter whose value is the key of a counter, or nil.
func (e *entity) counterFilter(k apispec.Counter) *apispec.Filter {
	for i, f := range e.R.Filters {
		if columnOf(f) == k.By && f.Edge == "" && (f.Op == "" || f.Op == "EQ") && !f.Handwritten {
			return &e.R.Filters[i]
		}
	}
	return nil
}

// sameRows returns the counter that counts all rows which k counts by some key, or nil.
func (e *entity) sameRows(k apispec.Counter) *apispec.Counter {
	for i, o := range e.R.Counters {
		if o.By == "" && o.Day == "" && o.Where == k.Where {
			return &e.R.Counters[i]
		}
	}
	return nil
}

// The methods below are for templates/rest.tmpl.

// DayCounter returns the counter that finds deep pages, or nil.
func (e *entity) DayCounter() *counter {
	for _, k := range e.R.Counters {
		if k.Day != "" {
			return &counter{Counter: k, Table: e.Table()}
		}
	}
	return nil
}

// AllCounter returns the name of the counter of all rows that DayCounter counts by day.
func (e *entity) AllCounter() string {
	return counter{Counter: *e.sameRows(e.DayCounter().Counter), Table: e.Table()}.FullName()
}

// uncountable returns the filters that no counter covers. The rows of a request with one of
// them are counted by a query.
func (e *entity) uncountable() (filters []apispec.Filter) {
	for _, f := range e.R.Filters {
		if !slices.ContainsFunc(e.R.Counters, func(k apispec.Counter) bool {
			by := e.counterFilter(k)
			return f.Param == k.Unless || k.By != "" && by != nil && by.Param == f.Param
		}) {
			filters = append(filters, f)
		}
	}
	return filters
}

// hiddenUnless is a condition on the listed rows that a boolean parameter lifts.
type hiddenUnless struct {
	Unless     string // parameter
	Expression string // Go expression of the condition's SQL text
}

// HiddenUnless returns the conditions of a list. They are those of its counters, so that
// list and total cannot differ.
func (e *entity) HiddenUnless() (all []hiddenUnless) {
	for _, k := range e.R.Counters {
		if k.Unless == "" || slices.ContainsFunc(all, func(h hiddenUnless) bool { return h.Unless == k.Unless }) {
			continue
		}
		all = append(all, hiddenUnless{k.Unless, e.condition(k.Where)})
	}
	return all
}

// condition returns the Go expression of an SQL condition on the entity's columns, for a
// selector s.
func (e *entity) condition(where string) string {
	text := sqlWord.ReplaceAllStringFunc(where, func(word string) string {
		if c := e.Column(word); c != nil {
			return fmt.Sprintf(`" + s.C(%s.%s) + "`, e.Package(), c.Constant())
		}
		return word
	})
	return `"(` + text + `)"`
}

// counterUse is a counter with the list requests whose rows it counts.
type counterUse struct {
	Counter string
	Key     string      // filter whose value is the key; "" without a key
	Tests   []paramTest // all of them hold for these requests
}

// paramTest is a test of a list request: the parameter is sent or, with Flag, is true. Not
// negates it.
type paramTest struct {
	Param     string
	Flag, Not bool
}

// Counted returns the counters of the list, each with the requests that it serves.
func (e *entity) Counted() (all []counterUse) {
	for _, k := range e.R.Counters {
		if k.Day != "" {
			continue
		}
		u := counterUse{Counter: counter{Counter: k, Table: e.Table()}.FullName()}
		if k.By != "" {
			u.Key = e.counterFilter(k).Param
		}
		for _, o := range e.R.Counters {
			if o.By != "" {
				u.require(paramTest{Param: e.counterFilter(o).Param, Not: o.By != k.By})
			}
			if o.Unless != "" {
				u.require(paramTest{Param: o.Unless, Flag: true, Not: o.Unless == k.Unless})
			}
		}
		all = append(all, u)
	}
	return all
}

func (u *counterUse) require(t paramTest) {
	if !slices.Contains(u.Tests, t) {
		u.Tests = append(u.Tests, t)
	}
}
