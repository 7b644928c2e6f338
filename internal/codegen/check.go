package codegen

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"chairside/internal/apispec"
	"chairside/internal/codec"
	"chairside/internal/scope"
)

// operators are the comparisons of filters. IN takes an array and is hand-written.
var operators = []string{"EQ", "GT", "GTE", "LT", "LTE", "IN"}

// checkNames returns the unknown scopes and operators of a resource.
func (e *entity) checkNames() (problems []string) {
	if e.HasResponse() && !slices.Contains(scope.Families, e.R.Scope) {
		problems = append(problems, fmt.Sprintf("%s: the scope %q is unknown: it must be one of %s", e.Name, e.R.Scope, strings.Join(scope.Families, ", ")))
	}
	filters := e.R.Filters
	for _, o := range e.R.Operations {
		filters = slices.Concat(filters, o.Params)
	}
	for _, f := range filters {
		switch op := cmp.Or(f.Op, "EQ"); {
		case !slices.Contains(operators, op):
			problems = append(problems, fmt.Sprintf("%s: filter %s: the operator %q is unknown: it must be one of %s", e.Name, f.Param, f.Op, strings.Join(operators, ", ")))
		case op == "IN" && !f.Handwritten && f.Column != "id":
			problems = append(problems, fmt.Sprintf("%s: filter %s: the operator IN needs Handwritten", e.Name, f.Param))
		}
	}
	return problems
}

// createReturnsItsRow reports whether every caller that may create a row can also see it. A
// single-statement create (store.DB.TxSingleStatement) takes it that a condition failed if no
// row comes back, and so would write a row twice that its caller cannot see. A caller limited
// to a site can see the row if it can see the row's reference to the site, and that is one of
// the conditions of the create (Links).
func (e *entity) createReturnsItsRow() bool {
	if e.R.Conflict == nil || !e.Has("create") || e.Tenant.PracticeWide() {
		return true
	}
	c := e.Column(e.Tenant.SiteColumn)
	return c != nil && c.API.Write && c.API.Required && c.References() != nil
}

// checkEdges returns the edges that are named like a table. A query joins the rows of an edge
// if its columns contain the edge's quoted name (entx.Names), so it would also join them for
// columns of that table.
func (m *model) checkEdges() (problems []string) {
	for _, e := range m.Entities {
		for _, edge := range e.Edges {
			if edge.Unique && slices.ContainsFunc(m.Entities, func(other *entity) bool { return other.Table() == edge.Name }) {
				problems = append(problems, fmt.Sprintf("%s: the edge %s has the name of a table", e.Name, edge.Name))
			}
		}
	}
	return problems
}

// check refuses a schema that breaks a rule of the API or that the templates cannot handle.
func (m *model) check() error {
	problems := m.checkEdges()
	for _, e := range m.Entities {
		problems = slices.Concat(problems, e.checkEntity(), e.checkNames(), e.checkFilters(), e.checkSorts(), e.checkCounters(), e.checkFeed(), e.checkLimits())
	}
	if len(problems) > 0 {
		return fmt.Errorf("schema: %s", strings.Join(problems, "; "))
	}
	return nil
}

// checkEntity returns the mistakes in an entity's tenancy, members and columns.
func (e *entity) checkEntity() (problems []string) {
	complain := func(format string, a ...any) { problems = append(problems, fmt.Sprintf(format, a...)) }
	if _, unconfined := e.Annotations[apispec.Unconfined{}.Name()]; !unconfined && e.Column("practice_id") == nil {
		complain("%s belongs to no practice: add the tenant mixin, or apispec.Unconfined with a reason", e.Name)
	}
	if _, err := e.Selection(); err != nil {
		complain("%s: %v", e.Name, err)
	}
	for _, c := range e.R.Computed {
		if !c.Handwritten && c.Kind != codec.Avatar && c.Func == "" && len(c.Columns) != 1 {
			complain("%s.%s needs one column, or a function", e.Name, c.Name)
		}
		if c.CreateOnly && (!c.Handwritten || !c.Nullable || c.Kind != codec.Text || e.createOnly() != c.Name) {
			complain("%s.%s: the one CreateOnly member must be Handwritten, Nullable text", e.Name, c.Name)
		}
	}
	if _, err := e.JoinedList(); err != nil {
		complain("%s: %v", e.Name, err)
	}
	if parts, _ := e.Parts(true); e.Has("update") && (len(parts) > 0 || e.HasUpdateDefault()) {
		complain("%s: a resource with update cannot embed lists or have update defaults", e.Name)
	}
	if !e.createReturnsItsRow() {
		complain("%s: %s must be a required reference: a caller could create a row that it cannot see, and the single-statement create would write that row twice", e.Name, e.Tenant.SiteColumn)
	}
	if of := e.R.ConflictOf; of != "" && (e.R.Conflict != nil || e.conflict() == nil) {
		complain("%s: ConflictOf must name a resource with a Conflict, instead of a Conflict of its own, not %s", e.Name, of)
	}
	if c := e.R.Conflict; c != nil && c.Code == "" {
		complain("%s: Conflict needs the code of the error", e.Name)
	}
	for _, c := range e.Written() {
		if c.API.Hidden {
			complain("%s.%s is both written and hidden", e.Name, c.Name)
		}
	}
	for _, c := range e.Referrers() {
		if !c.Nullable() || c.Immutable {
			complain("%s cannot be deleted, because %s.%s requires it: archive it, or make the reference nullable", e.Name, c.Owner.Name, c.Name)
		}
	}
	if _, err := e.Links(); err != nil {
		complain("%s: %v", e.Name, err)
	}
	if _, err := e.LockedFirst(); err != nil {
		complain("%v", err)
	}
	if c := e.R.Archive; c != "" && (e.Column(c) == nil || !e.Column(c).IsBool() && !e.Column(c).Clearable()) {
		complain("%s: Archive must be a boolean or a nullable time, not %s", e.Name, c)
	}
	return problems
}

// checkFilters returns the generated filters that have no predicate.
func (e *entity) checkFilters() (problems []string) {
	for _, f := range e.R.Filters {
		if f.Where != "" && f.Kind != codec.Boolean {
			problems = append(problems, fmt.Sprintf("%s: filter %s: Where needs the kind Boolean", e.Name, f.Param))
		}
		if f.Handwritten && f.Kind != "" || !slices.Contains(operators, cmp.Or(f.Op, "EQ")) {
			continue
		}
		if _, err := e.Predicate(f); err != nil {
			problems = append(problems, fmt.Sprintf("%s: filter %s: %v", e.Name, f.Param, err))
		}
	}
	return problems
}

// checkSorts returns the sorts, and the default order, that the list cannot have.
func (e *entity) checkSorts() (problems []string) {
	complain := func(format string, a ...any) { problems = append(problems, fmt.Sprintf(format, a...)) }
	if !slices.ContainsFunc(e.R.Sorts, func(s apispec.Sort) bool { return s.Key == e.R.Order }) {
		complain("%s: the default order %q is not among its sorts", e.Name, e.R.Order)
	}
	for _, s := range e.R.Sorts {
		owner := e
		if s.Edge != "" {
			var err error
			if owner, err = e.Target(s.Edge); err != nil {
				complain("sort %s: %v", s.Key, err)
				continue
			}
			if e.PatientData() {
				complain("%s: sort %s: a list of patient data cannot be sorted by a column of another table", e.Name, s.Key)
			}
		}
		if c := owner.Column(sortColumn(s)); c == nil || c.Nullable() || c.IsSealed() {
			complain("%s: sort %s needs a column that is never null: the databases order nulls differently", e.Name, s.Key)
		}
	}
	return problems
}
