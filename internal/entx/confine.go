package entx

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"entgo.io/ent"
	"entgo.io/ent/dialect/sql"
)

// ErrModified refuses an update with Modify: its functions could replace the confinement.
var ErrModified = errors.New("ent: updates cannot use Modify: use predicates and setters")

// ErrIntercepted refuses to read rows with an interceptor: it would not run.
var ErrIntercepted = errors.New("ent: Rows runs no interceptors but ent.Traverser: use All")

// Observer is an interceptor that receives the entities that queries find. It cannot change a
// query, so counters remain valid for queries with one. What Rows reads is not shown to it.
type Observer func(ctx context.Context, found ent.Value, err error)

// Intercept implements ent.Interceptor.
func (o Observer) Intercept(next ent.Querier) ent.Querier {
	return ent.QuerierFunc(func(ctx context.Context, q ent.Query) (ent.Value, error) {
		found, err := next.Query(ctx, q)
		o(ctx, found, err)
		return found, err
	})
}

// Intercepted reports whether one of the interceptors could change a query while it runs:
// an Observer cannot, and an ent.Traverser has done its work before.
func Intercepted(inters []ent.Interceptor) bool {
	return slices.ContainsFunc(inters, func(inter ent.Interceptor) bool {
		switch inter.(type) {
		case Observer, ent.Traverser:
			return false
		}
		return true
	})
}

// Confinement restricts a query to the rows that its principal may see. The zero value
// restricts nothing.
type Confinement struct {
	predicates []func(*sql.Selector)
	set        *sql.Predicate // the condition that Hold wrote last
}

// And returns the confinement with more predicates.
func (c *Confinement) And(ps ...func(*sql.Selector)) Confinement {
	return Confinement{predicates: append(slices.Clip(c.predicates), ps...)}
}

// Hold sets the condition of s to the confinement AND, in parentheses, the requested
// condition. It is called after each step in which a caller's function could have changed
// the selector, and does nothing if the condition is still the same.
func (c *Confinement) Hold(s *sql.Selector) {
	if len(c.predicates) == 0 || c.set != nil && s.P() == c.set {
		return
	}
	c.set = enclose(s, c.predicates, s.P())
	s.SetP(c.set)
}

// enclose returns the confining predicates AND the requested condition.
func enclose(s *sql.Selector, confining []func(*sql.Selector), requested *sql.Predicate) *sql.Predicate {
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
	if requested != nil {
		all = append(all, wrapped(requested))
	}
	return sql.And(all...)
}

// wrapped returns a condition in parentheses: SQL text in it could contain a bare OR.
func wrapped(p *sql.Predicate) *sql.Predicate {
	return sql.P(func(b *sql.Builder) { b.Wrap(func(b *sql.Builder) { b.Join(p) }) })
}

// Confined returns one predicate for the requested predicates of a query or mutation and
// its confinement.
func Confined[P ~func(*sql.Selector)](c *Confinement, requested []P) P {
	return func(s *sql.Selector) {
		for _, p := range requested {
			p(s)
		}
		c.set = nil
		c.Hold(s)
	}
}

// Enclose returns one predicate, in parentheses, for several. It never changes how others
// are joined, whatever they do with Or, Not and SetP.
func Enclose[P ~func(*sql.Selector)](predicates ...P) P {
	return func(s *sql.Selector) {
		inner := s.Clone().SetP(nil)
		for _, p := range predicates {
			p(inner)
		}
		if condition := inner.P(); condition != nil {
			s.Where(wrapped(condition))
		}
		if err := inner.Err(); err != nil {
			s.AddError(err)
		}
	}
}

// Exactly reports whether a prepared query is confined by exactly column = value and has no
// interceptor that could have added another condition.
func (c *Confinement) Exactly(inters []ent.Interceptor, table, column string, value any) bool {
	if Intercepted(inters) || len(c.predicates) != 1 {
		return false
	}
	have, want := sql.Select().From(sql.Table(table)), sql.Select().From(sql.Table(table))
	c.predicates[0](have)
	haveText, haveArgs := have.Query()
	wantText, wantArgs := want.Where(sql.EQ(want.C(column), value)).Query()
	return haveText == wantText && slices.Equal(haveArgs, wantArgs)
}

// RefuseEdges fails if the mutation changes one of the edges. Their columns are in other
// tables, whose rows would be written without confinement.
func RefuseEdges(m ent.Mutation, elsewhere ...string) error {
	for _, edge := range slices.Concat(m.AddedEdges(), m.RemovedEdges(), m.ClearedEdges()) {
		if slices.Contains(elsewhere, edge) {
			return fmt.Errorf("ent: %s cannot write the rows of its edge %s: write them by themselves", m.Type(), edge)
		}
	}
	return nil
}
