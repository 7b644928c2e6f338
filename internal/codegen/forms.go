package codegen

import (
	"fmt"
	"slices"
	"strings"

	"chairside/internal/apispec"
	"chairside/internal/entx/table"
)

// form is the source of a list.Form, which turns the columns of a row into a type of ogen.
// Its statements are Go code that reads from the list.Reader x and sets members of o.
type form struct {
	Type, Doc string
	*selection
	Set    []string // statements for the columns of the table
	Joined []joinedForm
}

// joinedForm is the part of a form for a joined row, which may be missing.
type joinedForm struct {
	ID    int      // position of the row's id, which is null if the row is missing
	Set   []string // statements if the row exists
	Clear []string // statements if it is missing
}

// Forms returns the response forms of an entity: of a single record, of a record in a list if
// that differs, and of the parts that show only some of their columns.
func (e *entity) Forms() (forms []*form, err error) {
	types := []string{e.Name}
	if e.Summary() != e.Name && e.Has("list") {
		types = append(types, e.Summary())
	}
	for _, t := range types {
		f, err := e.form(t)
		if err != nil {
			return nil, err
		}
		forms = append(forms, f)
	}
	parts, err := e.Parts(true)
	if err != nil {
		return nil, err
	}
	for _, p := range parts {
		if p.Read == nil { // its own resource declares the form
			continue
		}
		f := &form{Type: p.Type, Doc: table.Words(p.Edge), selection: p.Read}
		f.Set = p.Target.note(fmt.Sprintf("x.%s(0)", p.Target.IDMethod()))
		for _, column := range p.Columns {
			if err := f.set(p.Target, column, p.Type, "o", column); err != nil {
				return nil, err
			}
		}
		forms = append(forms, f)
	}
	return forms, nil
}

// form returns the form of a type with all columns of the response.
func (e *entity) form(t string) (*form, error) {
	read, err := e.Selection()
	if err != nil {
		return nil, err
	}
	f := &form{Type: t, Doc: table.Words(e.R.Plural), selection: read}
	for _, c := range e.Shown() {
		if err := f.set(e, c.Name, t, "o", c.Name); err != nil {
			return nil, err
		}
	}
	for _, c := range e.computedOf("") {
		member, value, err := e.computed(t, c)
		if err != nil {
			return nil, err
		}
		f.Set = append(f.Set, member+" = "+value)
	}
	if name := e.createOnly(); name != "" {
		member, err := e.Model.names.member(t, name)
		if err != nil {
			return nil, err
		}
		f.Set = append(f.Set, "o."+member+".SetToNull()")
	}
	id, err := e.Model.names.member(t, "id")
	if err != nil {
		return nil, err
	}
	f.Set = append(f.Set, e.note("o."+id)...)
	if err := e.notePatient(f); err != nil {
		return nil, err
	}
	edges, err := e.Joined()
	if err != nil {
		return nil, err
	}
	for _, edge := range edges {
		joined, err := e.joinedForm(f, edge.Name)
		if err != nil {
			return nil, err
		}
		f.Joined = append(f.Joined, joined)
	}
	return f, nil
}

// joinedForm returns the part of a form for the row behind an edge.
func (e *entity) joinedForm(f *form, edge string) (j joinedForm, err error) {
	target, err := e.Target(edge)
	if err != nil {
		return j, err
	}
	if j.ID, err = f.At(edge + ".id"); err != nil {
		return j, err
	}
	j.Set = target.note(fmt.Sprintf("x.%s(%d)", target.IDMethod(), j.ID))
	for _, c := range e.computedOf(edge) {
		member, value, err := e.computed(f.Type, c)
		if err != nil {
			return j, err
		}
		if !c.Nullable {
			j.Set = append(j.Set, member+" = "+value)
			continue
		}
		j.Set = append(j.Set, member+".SetTo("+value+")")
		j.Clear = append(j.Clear, member+".SetToNull()")
	}
	for _, b := range e.R.Embeds {
		if b.Edge != edge {
			continue
		}
		object, err := e.Model.names.member(f.Type, b.Edge)
		if err != nil {
			return j, err
		}
		embedded := &form{selection: f.selection}
		for _, column := range b.Columns {
			if err := embedded.set(target, column, e.Name+pascal(b.Edge), "o."+object, b.Edge+"."+column); err != nil {
				return j, err
			}
		}
		j.Set = append(j.Set, embedded.Set...)
	}
	return j, nil
}

// set adds the statement that sets the member of a column. into is the Go expression of the
// object, which has ogen's type t; selected is the name of the column in the selection.
func (f *form) set(owner *entity, column, t, into, selected string) error {
	name, err := owner.Model.names.member(t, column)
	if err != nil {
		return err
	}
	at, err := f.At(selected)
	if err != nil {
		return err
	}
	c, member := owner.Column(column), into+"."+name
	read := c.readAt(at)
	if c.IsSealed() {
		id, err := f.At(strings.TrimSuffix(selected, column) + "id")
		if err != nil {
			return err
		}
		read = fmt.Sprintf("x.Open(%d, %q, %q, %d)", at, owner.Table(), column, id)
	}
	if c.Nullable() {
		f.Set = append(f.Set, fmt.Sprintf("%s.Value, %[1]s.Null = %s, x.Null(%d)", member, read, at))
	} else {
		f.Set = append(f.Set, member+" = "+read)
	}
	return nil
}

// computed returns the Go expressions of a computed member and its value.
func (e *entity) computed(t string, c apispec.Computed) (member, value string, err error) {
	if member, err = e.Model.names.member(t, c.Name); err != nil {
		return "", "", err
	}
	value, err = e.Value(c)
	return "o." + member, value, err
}

// note returns the statement that notes a row of patient data in the audit log, if it is one.
func (e *entity) note(id string) []string {
	if !e.PatientData() {
		return nil
	}
	method := "Note"
	if e.ID.IsUUID() {
		method = "NoteUUID"
	}
	return []string{fmt.Sprintf("x.Log.%s(%q, %s)", method, e.Table(), id)}
}

// notePatient adds the statement that notes the patient of a row of patient data, if a column of
// the response names one.
func (e *entity) notePatient(f *form) error {
	const name = "patient_id"
	if !e.PatientData() || !slices.ContainsFunc(e.Shown(), func(c *column) bool { return c.Name == name }) {
		return nil
	}
	at, err := f.At(name)
	if err != nil {
		return err
	}
	note := fmt.Sprintf("x.Log.Patient(x.Int64(%d))", at)
	if e.Column(name).Nullable() {
		note = fmt.Sprintf("if !x.Null(%d) {\n%s\n}", at, note)
	}
	f.Set = append(f.Set, note)
	return nil
}

// Param returns the Go expression of a parameter of the list: p.PerPage.
func (e *entity) Param(name string) (string, error) {
	member, err := e.Model.names.param("list"+e.Many(), name)
	return "p." + member, err
}

// SharedParams returns the members of the list's parameters, each with the Filtered operation's
// parameter of the same name.
func (e *entity) SharedParams(o apispec.Operation) (members []string, err error) {
	for _, p := range e.Params() {
		member, err := e.Model.names.param("list"+e.Many(), p.Name)
		if err != nil {
			return nil, err
		}
		same, err := e.Model.names.param(o.ID, p.Name)
		if err != nil {
			return nil, err
		}
		members = append(members, member+": p."+same)
	}
	return members, nil
}

// sent returns the Go condition that at least one of the parameters is sent.
func (e *entity) sent(names ...string) (string, error) {
	conditions := make([]string, len(names))
	for i, name := range names {
		p, err := e.Param(name)
		if err != nil {
			return "", err
		}
		conditions[i] = p + ".Set"
		if e.isArray(name) {
			conditions[i] = "len(" + p + ") > 0"
		}
	}
	return strings.Join(conditions, " || "), nil
}

// isArray reports whether a filter takes several values.
func (e *entity) isArray(param string) bool {
	return slices.ContainsFunc(e.R.Filters, func(f apispec.Filter) bool { return f.Param == param && f.Op == "IN" })
}

// IsOpaque returns the Go condition under which the planner must not see the time of a
// filter (span).
func (e *entity) IsOpaque(s *span) (string, error) {
	other, err := e.sent(s.Other)
	if err != nil {
		return "", err
	}
	leads, err := e.sent(s.Leads...)
	if err != nil {
		return "", err
	}
	condition := other + " && (" + leads + ")"
	for _, name := range s.Unless {
		set, err := e.sent(name)
		if err != nil {
			return "", err
		}
		condition += " && !(" + set + ")"
	}
	return condition, nil
}

// IsUncountable returns the Go condition that a filter is sent which no counter covers, or ""
// if counters cover all filters.
func (e *entity) IsUncountable() (string, error) {
	var names []string
	for _, f := range e.uncountable() {
		names = append(names, f.Param)
	}
	return e.sent(names...)
}

// Case returns the case of a switch that selects a counter: the Go condition of its
// requests.
func (e *entity) Case(c counterUse) (string, error) {
	if len(c.Tests) == 0 {
		return "default", nil
	}
	conditions := make([]string, len(c.Tests))
	for i, t := range c.Tests {
		p, err := e.Param(t.Param)
		if err != nil {
			return "", err
		}
		conditions[i] = p + ".Set"
		if t.Flag {
			conditions[i] = p + ".Or(false)"
		}
		if t.Not {
			conditions[i] = "!" + conditions[i]
		}
	}
	return "case " + strings.Join(conditions, " && "), nil
}

// FilterLiteral returns the list.Filter of a filter as Go code.
func (e *entity) FilterLiteral(f listFilter) (string, error) {
	set, err := e.sent(f.Param)
	if err != nil {
		return "", err
	}
	text := "{Set: " + set
	if f.Column != "" {
		text += fmt.Sprintf(", Column: %q", f.Column)
	}
	if f.Equal {
		text += ", Equal: true"
		if f.Dense {
			text += ", Dense: true"
		}
		text += ", Leads: " + orders(f.Leads)
		if len(f.LeadsUnless) > 0 {
			unless, err := e.Param(f.Unless)
			if err != nil {
				return "", err
			}
			text += fmt.Sprintf(".Unless(%s.Or(false), %s)", unless, quoted(f.LeadsUnless))
		}
	}
	return text + "}", nil
}

// orders returns sort keys as a list.Orders in Go.
func orders(keys []string) string { return "list.Orders{" + quoted(keys) + "}" }

func quoted(words []string) string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = fmt.Sprintf("%q", w)
	}
	return strings.Join(all, ", ")
}

// link is a written column that points at another row, which must exist.
type link struct {
	From    *column
	Message string
	Same    *column // column that must have the same value in both rows, or nil
	Exists  string  // Go condition on the other row, for the id v and the value same
}

// Links returns the written columns that point at other rows.
func (e *entity) Links() (links []link, err error) {
	for _, c := range e.Written() {
		edge := c.References()
		if edge == nil {
			continue
		}
		l := link{From: c, Message: "does not exist"}
		target := e.Model.of(edge.Type)
		where := target.Package() + ".ID(v)"
		if c.API.Active {
			switch {
			case target.Column("active") != nil:
				l.Message += " or is not active"
				where += ", " + target.Package() + ".Active(true)"
			case target.Column("archived") != nil:
				l.Message += " or is archived"
				where += ", " + target.Package() + ".Archived(false)"
			default:
				return nil, fmt.Errorf("%s: rows of %s cannot be archived, so Active cannot be checked", c.Name, target.Name)
			}
		}
		if target.Column("erased_at") != nil {
			l.Message += " or was erased"
			where += ", " + target.Package() + ".ErasedAtIsNil(), store.ForReference" // an erasure may be about to commit
		}
		if name := c.API.Same; name != "" {
			l.Same = e.Column(name)
			other := target.Column(name)
			if l.Same == nil || other == nil || !l.Same.API.CreateOnly || !l.Same.API.Required {
				return nil, fmt.Errorf("%s: Same must be a column of both tables that create requires and update cannot change, not %q", c.Name, name)
			}
			l.Message += " or is of another " + table.Words(strings.TrimSuffix(name, "_id"))
			where += fmt.Sprintf(", %s.%s(same)", target.Package(), other.StructField())
		}
		l.Exists = fmt.Sprintf("entx.Exists(w.Tx.%s.Query().Where(%s))", target.Name, where)
		links = append(links, l)
	}
	return links, nil
}

// LockedFirst returns the column of LockFirst, or nil.
func (e *entity) LockedFirst() (*column, error) {
	name := e.R.LockFirst
	if name == "" {
		return nil, nil
	}
	c := e.Column(name)
	if c == nil || c.References() == nil {
		return nil, fmt.Errorf("%s: LockFirst must be a reference, not %s", e.Name, name)
	}
	if c.API.Write && !c.API.CreateOnly {
		return nil, fmt.Errorf("%s: LockFirst must be a reference that an update cannot change, not %s", e.Name, name)
	}
	return c, nil
}

// Referrers returns the columns that point at rows of the entity, if its delete removes rows.
// They are cleared before such a row is deleted.
func (e *entity) Referrers() (referrers []*column) {
	if !e.Has("delete") || e.R.Archive != "" {
		return nil
	}
	for _, other := range e.Model.Entities {
		for _, c := range other.Columns {
			if edge := c.References(); edge != nil && edge.Type == e.Type {
				referrers = append(referrers, c)
			}
		}
	}
	return referrers
}

// Clearable reports whether null clears a written column.
func (c *column) Clearable() bool { return c.Nullable() && !c.API.Required }
