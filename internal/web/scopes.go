package web

import (
	"html/template"
	"slices"
	"strings"

	"chairside/internal/scope"
)

// family is one row of boxes: of the matrix of scopes, or of the events of a webhook.
type family struct {
	Name, Title, Covers string
	Boxes               []box
}

// box is the checkbox of one scope or event. A box without a scope is an empty cell of the matrix.
type box struct {
	Scope   string
	Word    string // label in a row that has a title: "Read"
	Explain string // label that stands alone: "Read patients"
	Chosen  bool
}

// Name is the scope, which may break after its colon.
func (b box) Name() template.HTML {
	return template.HTML(strings.Replace(template.HTMLEscapeString(b.Scope), ":", ":<wbr>", 1)) // escaped
}

// matrix is the choice of scopes: all, those to read, or single ones. It offers only scopes that
// open an operation.
type matrix struct {
	form          form
	Columns       []string
	Rows          []family
	ReadOnly, All scope.Set // what these choices grant
}

// The values of the field access. Any other one stands for chosenAccess, so that the field may be
// left out.
const (
	accessField  = "access"
	readAccess   = "read"
	allAccess    = "all"
	chosenAccess = "chosen"
)

// Chooses reports whether a choice of the field access is selected.
func (m matrix) Chooses(access string) bool {
	switch given := m.form.Value(accessField); given {
	case readAccess, allAccess:
		return given == access
	}
	return access == chosenAccess
}

// matrixOf returns the choice of the scopes that a limit allows, with the form's choices.
func (s *Site) matrixOf(f form, limit scope.Set) matrix {
	m := matrix{form: f, Columns: []string{"All"}, ReadOnly: s.readOnly(limit), All: s.everything(limit)}
	for _, verb := range scope.Verbs {
		m.Columns = append(m.Columns, strings.ToUpper(verb[:1])+verb[1:])
	}
	for _, name := range scope.Families {
		row, empty := family{Name: name, Title: scope.Title(name), Covers: scope.Describe(name)}, true
		for i, verb := range append([]string{""}, scope.Verbs...) {
			full := strings.TrimSuffix(name+":"+verb, ":")
			b := box{Word: m.Columns[i]}
			// A scope that was chosen before stays, or saving an application would take it away.
			if limit.Allows(full) && (s.opens[full] || f.Chosen("scopes", full)) {
				b.Scope, b.Explain, b.Chosen, empty = full, scope.Explain(full), f.Chosen("scopes", full), false
			}
			row.Boxes = append(row.Boxes, b)
		}
		if !empty {
			m.Rows = append(m.Rows, row)
		}
	}
	return m
}

// readOnly returns the scopes within a limit that open an operation that reads.
func (s *Site) readOnly(limit scope.Set) scope.Set {
	var all scope.Set
	for _, name := range scope.Families {
		if full := name + ":read"; limit.Allows(full) && s.opens[full] {
			all = append(all, full)
		}
	}
	slices.Sort(all)
	return all
}

// everything returns the scopes of a limit that open an operation.
func (s *Site) everything(limit scope.Set) scope.Set {
	return slices.DeleteFunc(slices.Clone(limit), func(name string) bool { return !s.opens[name] })
}

// chosenScopes returns the scopes that a form asks for, within a limit if it asks for all of them or
// for those to read.
func (s *Site) chosenScopes(f form, limit scope.Set) []string {
	switch f.Value(accessField) {
	case readAccess:
		return s.readOnly(limit)
	case allAccess:
		return s.everything(limit)
	}
	return f.values["scopes"]
}

// scopes returns the scopes that open an operation: those that operations need, and their families.
func (d *apiDocument) scopes() map[string]bool {
	opens := map[string]bool{}
	for _, o := range d.operations {
		if needed := o.scope(); needed != "" {
			family, _, _ := strings.Cut(needed, ":")
			opens[needed], opens[family] = true, true
		}
	}
	return opens
}

// scope returns the scope that an operation needs, or "".
func (o *apiOperation) scope() string {
	for _, requirement := range o.Security {
		if scopes := requirement["oauth2"]; len(scopes) > 0 {
			return scopes[0]
		}
	}
	return ""
}
