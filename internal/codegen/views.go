package codegen

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"entgo.io/ent/entc/gen"

	"chairside/internal/apispec"
	"chairside/internal/entx/table"
)

// viewOf returns the view that an entity declares, and whether it declares one.
func viewOf(n *gen.Type) (v apispec.View, ok bool, err error) {
	_, ok = n.Annotations[v.Name()]
	return v, ok, annotation(n.Annotations, &v)
}

// practiceColumn is in every table of a view, but in no view: all rows have the analyst's practice.
const practiceColumn = "practice_id"

// viewsOf describes the views of all entities, in alphabetical order.
func viewsOf(g *gen.Graph) (all []table.View, err error) {
	shown := map[string]bool{}
	for _, n := range g.Nodes {
		_, shown[n.Name], err = viewOf(n)
		if err != nil {
			return nil, err
		}
	}
	for _, n := range g.Nodes {
		declared, ok, err := viewOf(n)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		var r apispec.Resource
		if err := annotation(n.Annotations, &r); err != nil {
			return nil, err
		}
		v := table.View{Name: n.Table(), Doc: cmp.Or(declared.Doc, r.Doc), Where: declared.Where}
		if problems := checkView(n, declared, v.Doc); len(problems) > 0 {
			return nil, fmt.Errorf("the view of %s: %s", n.Name, strings.Join(problems, "; "))
		}
		fields := append([]*gen.Field{n.ID}, n.Fields...)
		for _, name := range declared.Shown {
			f := fields[slices.IndexFunc(fields, func(f *gen.Field) bool { return f.Name == name })]
			c := table.ViewColumn{Name: name, Source: name, Stored: storedKind(f), Null: f.Nillable, Doc: f.Comment()}
			if f.IsEnum() {
				c.Values = f.EnumValues()
			}
			for _, e := range n.Edges {
				if key := e.Field(); key != nil && key.Name == name && e.OwnFK() && shown[e.Type.Name] {
					c.References = e.Type.Table()
				}
			}
			v.Columns = append(v.Columns, c)
			if c.Stored == table.Time {
				v.Columns = append(v.Columns, dayOf(c))
			}
		}
		all = append(all, v)
	}
	slices.SortFunc(all, func(a, b table.View) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// dayOf returns the column with the day of a time: start_date of start_time, paid_date of paid_at.
func dayOf(c table.ViewColumn) table.ViewColumn {
	c.Name = dayName(c.Name)
	c.Doc = "Day of " + c.Source + " in the practice's time zone."
	c.Day = true
	return c
}

func dayName(column string) string {
	for _, end := range []string{"_time", "_at"} {
		if name, ok := strings.CutSuffix(column, end); ok {
			return name + "_date"
		}
	}
	return column + "_date"
}

// checkView returns the mistakes in a view: each column is either shown or withheld, and nothing
// secret is shown.
func checkView(n *gen.Type, v apispec.View, doc string) (problems []string) {
	complain := func(format string, a ...any) { problems = append(problems, fmt.Sprintf(format, a...)) }
	if doc == "" {
		complain("Doc is missing")
	}
	fields := append([]*gen.Field{n.ID}, n.Fields...)
	days := map[string]bool{}
	tenant := false
	for _, f := range fields {
		shown, withheld := slices.Contains(v.Shown, f.Name), slices.Contains(v.Withheld, f.Name)
		switch {
		case f.Name == practiceColumn:
			tenant = true
			if shown || withheld {
				complain("%s is in no view", practiceColumn)
			}
			continue
		case shown == withheld:
			complain("%s must be either in Shown or in Withheld", f.Name)
		case !shown:
			continue
		case f.Sensitive() || (&column{Field: f}).IsSealed():
			complain("%s is secret: it must be withheld", f.Name)
		case f.IsJSON() || f.IsBytes() || storedKind(f) == "":
			complain("%s has no type that analysts can use: it must be withheld", f.Name)
		case f.Comment() == "":
			complain("%s needs a comment", f.Name)
		}
		if shown && storedKind(f) == table.Time {
			days[dayName(f.Name)] = true
		}
	}
	if !tenant {
		complain("its rows belong to no practice")
	}
	for _, name := range append(slices.Clone(v.Shown), v.Withheld...) {
		if !slices.ContainsFunc(fields, func(f *gen.Field) bool { return f.Name == name }) {
			complain("there is no column %s", name)
		}
	}
	for _, name := range v.Shown {
		if days[name] {
			complain("the column %s has the name of the day of a time", name)
		}
	}
	return problems
}
