package entx

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"entgo.io/ent"
	"entgo.io/ent/dialect/sql"
)

// ErrModified is returned for an update with Modify, whose functions could take it
// out of its confinement.
var ErrModified = errors.New("ent: an update cannot be modified: use predicates and setters")

// Observer is an interceptor that receives the results of queries. It cannot change a
// query, so counters stay exact beside it.
type Observer func(ctx context.Context, found ent.Value, err error)

// Intercept implements ent.Interceptor.
func (o Observer) Intercept(next ent.Querier) ent.Querier {
	return ent.QuerierFunc(func(ctx context.Context, q ent.Query) (ent.Value, error) {
		found, err := next.Query(ctx, q)
		o(ctx, found, err)
		return found, err
	})
}

// Confinement keeps a query to the rows that its principal may see. The zero value
// confines nothing.
type Confinement struct {
	predicates []func(*sql.Selector)
	set        *sql.Predicate // the condition that Hold has written last
}

// And is the confinement with more predicates.
func (c *Confinement) And(ps ...func(*sql.Selector)) Confinement {
	return Confinement{predicates: append(slices.Clip(c.predicates), ps...)}
}

// Hold makes the condition of s the confinement AND, in parentheses, whatever was
// asked for. It does nothing where that is already the condition: so it is called
// after each step in which a caller's function could have changed the selector.
func (c *Confinement) Hold(s *sql.Selector) {
	if len(c.predicates) == 0 || c.set != nil && s.P() == c.set {
		return
	}
	c.set = enclose(s, c.predicates, s.P())
	s.SetP(c.set)
}

// enclose is the condition of the confining predicates AND what is asked.
func enclose(s *sql.Selector, confining []func(*sql.Selector), asked *sql.Predicate) *sql.Predicate {
	for s.CollectedPredicates() != nil { // or Where would add nothing to the condition
		s.UncollectedPredicates()
	}
	s.SetP(nil)
	all := make([]*sql.Predicate, 0, len(confining)+1)
	for _, confine := range confining {
		confine(s)
		all = append(all, wrapped(s.P()))
		s.SetP(nil)
	}
	if asked != nil {
		all = append(all, wrapped(asked))
	}
	return sql.And(all...)
}

// wrapped is a condition in parentheses: SQL text in it could hold a bare OR.
func wrapped(p *sql.Predicate) *sql.Predicate {
	return sql.P(func(b *sql.Builder) { b.Wrap(func(b *sql.Builder) { b.Join(p) }) })
}

// Confined is the one predicate that stands for all that a query or mutation was
// asked, and its confinement.
func Confined[P ~func(*sql.Selector)](c *Confinement, asked []P) P {
	return func(s *sql.Selector) {
		for _, p := range asked {
			p(s)
		}
		c.set = nil
		c.Hold(s)
	}
}

// Enclose is the condition of predicates as one predicate, in parentheses. It does
// not change how others are joined, whatever they do with Or, Not and SetP.
func Enclose[P ~func(*sql.Selector)](predicates ...P) P {
	return func(s *sql.Selector) {
		inner := s.Clone().SetP(nil)
		for _, p := range predicates {
			p(inner)
		}
		if asked := inner.P(); asked != nil {
			s.Where(wrapped(asked))
		}
		if err := inner.Err(); err != nil {
			s.AddError(err)
		}
	}
}

// Exactly reports whether a prepared query holds one confining predicate, that of
// the column, and no interceptor could have added another condition to it.
func (c *Confinement) Exactly(inters []ent.Interceptor, table, column string, value any) bool {
	for _, inter := range inters {
		if _, ok := inter.(Observer); !ok {
			if _, ok := inter.(ent.Traverser); !ok { // it could change the query while it runs
				return false
			}
		}
	}
	if len(c.predicates) != 1 {
		return false
	}
	have, want := sql.Select().From(sql.Table(table)), sql.Select().From(sql.Table(table))
	c.predicates[0](have)
	haveText, haveArgs := have.Query()
	wantText, wantArgs := want.Where(sql.EQ(want.C(column), value)).Query()
	return haveText == wantText && slices.Equal(haveArgs, wantArgs)
}

// RefuseEdges fails if the mutation changes one of the edges, whose columns are in other
// tables: rows of those would be written without being confined.
func RefuseEdges(m ent.Mutation, elsewhere ...string) error {
	for _, edge := range slices.Concat(m.AddedEdges(), m.RemovedEdges(), m.ClearedEdges()) {
		if slices.Contains(elsewhere, edge) {
			return fmt.Errorf("ent: the rows of %s.%s are written by themselves, not with %s", m.Type(), edge, m.Type())
		}
	}
	return nil
}
