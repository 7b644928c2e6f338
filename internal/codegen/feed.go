package codegen

import (
	"fmt"
	"slices"

	"entgo.io/ent/entc/gen"

	"chairside/internal/apispec"
	"chairside/internal/codec"
	"chairside/internal/entx/table"
)

// InFeed reports whether the change feed has the resource.
func (e *entity) InFeed() bool { return e.HasResponse() && e.R.NotInFeed == "" }

// ReadScope returns the scope that reads the resource.
func (e *entity) ReadScope() string { return e.R.Scope + ":read" }

// FeedImports returns the packages that the file of the feed's resources may need.
func (m *model) FeedImports() []string {
	all := []string{"context", "strconv", module + "/internal/codec"}
	for _, e := range m.Entities {
		if e.InFeed() {
			all = append(all, e.Imports()...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// FeedMembers returns the members of the resource's documents in the change feed.
func (e *entity) FeedMembers() (all []codec.Member, err error) {
	for _, c := range e.Shown() {
		all = append(all, codec.Member{Name: c.Name, Kind: c.Kind, Sealed: c.IsSealed(), Own: !c.API.Bookkeeping})
	}
	for _, c := range e.R.Computed {
		m := codec.Member{Name: c.Name, Kind: c.Kind, DependsOn: c.DependsOn}
		switch {
		case len(c.DependsOn) > 0 && !c.Handwritten:
			return nil, fmt.Errorf("%s.%s is not hand-written, so it cannot have DependsOn", e.Name, c.Name)
		case c.Handwritten:
			m.Own = len(c.DependsOn) > 0
		case c.Kind != codec.Avatar: // an address of the server
			m.Own = c.Edge == ""
		}
		all = append(all, m)
	}
	for _, b := range e.R.Embeds {
		if b.SingleOnly {
			continue
		}
		target, err := e.Target(b.Edge)
		if err != nil {
			return nil, err
		}
		m := codec.Member{Name: b.Edge, Kind: codec.Object, Own: len(b.Columns) > 0}
		// Rows of an embedded list are parts (feedSourcesOf). An embedded record is a resource of its own.
		if edge, _ := e.Edge(b.Edge); edge.Unique {
			m.Own = m.Own && target.InFeed()
			m.DependsOn = []string{target.R.Plural}
		}
		all = append(all, m)
	}
	for _, m := range all {
		for _, name := range m.DependsOn {
			if !slices.Contains(e.Model.feedResources(), name) {
				return nil, fmt.Errorf("%s.%s depends on %s, which the change feed does not have", e.Name, m.Name, name)
			}
		}
	}
	return all, nil
}

// watches returns the resources of the change feed on which the list depends. Hand-written parts
// may read everything. A test of package contract changes every column and compares.
func (e *entity) watches() []string {
	if !e.InFeed() || e.showsBookkeeping() {
		return nil
	}
	if !e.Generated("list") || len(e.Members()) > 0 || slices.ContainsFunc(e.R.Filters, func(f apispec.Filter) bool { return f.Handwritten }) {
		return e.Model.feedResources()
	}
	var names []string
	for _, other := range e.reachable(nil) {
		if other.InFeed() {
			names = append(names, other.R.Plural)
		}
	}
	slices.Sort(names)
	return names
}

// showsBookkeeping reports whether the list shows a column whose changes are not in the feed.
func (e *entity) showsBookkeeping() bool {
	return slices.ContainsFunc(e.Shown(), func(c *column) bool { return c.API.Bookkeeping }) ||
		slices.ContainsFunc(e.R.Embeds, func(b apispec.Embed) bool {
			target, err := e.Target(b.Edge)
			return err != nil || len(b.Columns) == 0 && target.showsBookkeeping()
		})
}

// reachable adds to found the entity and all that its foreign keys and embedded records lead to.
func (e *entity) reachable(found []*entity) []*entity {
	if slices.Contains(found, e) {
		return found
	}
	found = append(found, e)
	for _, edge := range e.Edges {
		embedded := slices.ContainsFunc(e.R.Embeds, func(b apispec.Embed) bool { return b.Edge == edge.Name })
		if target := e.Model.of(edge.Type); target != nil && (edge.OwnFK() || embedded) {
			found = target.reachable(found)
		}
	}
	return found
}

// checkFeed returns the mistakes in what a resource declares about the change feed.
func (e *entity) checkFeed() (problems []string) {
	switch complete := e.Has("get") && e.Has("list"); {
	case e.InFeed() && !complete:
		problems = append(problems, e.Name+" cannot be in the change feed, which needs get and list: give the reason in NotInFeed")
	case e.InFeed() && e.Column("practice_id") == nil:
		problems = append(problems, e.Name+" cannot be in the change feed: it belongs to no practice")
	case e.R.NotInFeed != "" && !e.HasResponse():
		problems = append(problems, e.Name+" has no API, so it needs no NotInFeed")
	}
	if _, err := feedSourcesOf(e.Type); err != nil {
		problems = append(problems, err.Error())
	}
	return problems
}

// feedSources returns the tables whose writes the change feed records, by table.
func feedSources(g *gen.Graph) (all []table.FeedSource, err error) {
	for _, n := range g.Nodes {
		sources, err := feedSourcesOf(n)
		if err != nil {
			return nil, err
		}
		all = append(all, sources...)
	}
	return all, nil
}

// feedSourcesOf returns the resources that writes of one table change.
func feedSourcesOf(n *gen.Type) (all []table.FeedSource, err error) {
	var r apispec.Resource
	var tenant apispec.Tenant
	var part apispec.FeedPart
	for _, a := range []named{&r, &tenant, &part} {
		if err := annotation(n.Annotations, a); err != nil {
			return nil, err
		}
	}
	if r.Key != "" && r.NotInFeed == "" {
		own := table.FeedSource{Table: n.Table(), Resource: r.Plural, Record: "id", Site: tenant.SiteColumn, SiteTable: tenant.SiteTable}
		if own.Compared, own.Sealed, err = comparedColumns(n); err != nil {
			return nil, err
		}
		all = append(all, own)
	}
	for _, edge := range n.Edges {
		if !edge.OwnFK() || !edge.Unique {
			continue
		}
		var owner apispec.Resource
		if err := annotation(edge.Type.Annotations, &owner); err != nil {
			return nil, err
		}
		embedded := edge.Ref != nil && slices.ContainsFunc(owner.Embeds, func(b apispec.Embed) bool { return b.Edge == edge.Ref.Name && !b.SingleOnly })
		declared := slices.Contains(part.Edges, edge.Name)
		switch {
		case !embedded && !declared:
		case owner.Key == "" || owner.NotInFeed != "":
			return nil, fmt.Errorf("%s.%s leads to no resource of the change feed", n.Name, edge.Name)
		default:
			all = append(all, table.FeedSource{Table: n.Table(), Resource: owner.Plural, Record: edge.Field().StorageKey(), Part: true})
		}
	}
	return all, nil
}

// comparedColumns returns the columns that clients can see change, if the table also has columns
// of bookkeeping or sealed ones.
func comparedColumns(n *gen.Type) (columns, sealed []string, err error) {
	bookkeeping := false
	for _, f := range n.Fields {
		c, err := newColumn(f)
		if err != nil {
			return nil, nil, err
		}
		bookkeeping = bookkeeping || c.API.Bookkeeping
		switch {
		case c.API.Hidden || c.API.Bookkeeping:
		case c.IsSealed():
			sealed = append(sealed, f.StorageKey())
		default:
			columns = append(columns, f.StorageKey())
		}
	}
	switch {
	case sealed != nil && bookkeeping:
		return nil, nil, fmt.Errorf("%s: a table with visible sealed columns cannot have bookkeeping columns: a change of both text and key is recognised by updated_at, which bookkeeping changes too", n.Name)
	case sealed != nil:
		return columns, sealed, nil
	case bookkeeping:
		return slices.DeleteFunc(columns, func(name string) bool { return name == "updated_at" }), nil, nil
	}
	return nil, nil, nil
}
