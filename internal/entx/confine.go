package entx

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"entgo.io/ent"
	"entgo.io/ent/dialect/sql"
)

// ErrModified refuses an update with Modify, whose functions could replace the confinement.
var ErrModified = errors.New("ent: updates cannot use Modify: use predicates and setters")

// ErrIntercepted refuses to read rows past an interceptor that Rows would not run.
var ErrIntercepted = errors.New("ent: Rows does not run interceptors other than ent.Traverser: use All")

// Observer is an interceptor that receives the entities that a query finds. It cannot change
// the query, so counters may stand in for queries that have one. It is not called for Rows.
type Observer func(ctx context.Context, found ent.Value, err error)

// Intercept implements ent.Interceptor.
func (o Observer) Intercept(next ent.Querier) ent.Querier {
	return ent.QuerierFunc(func(ctx context.Context, q ent.Query) (ent.Value, error) {
		found, err := next.Query(ctx, q)
		o(ctx, found, err)
		return found, err
	})
}

// Intercepted reports whether one of the interceptors could change the result of a query. An
// Observer cannot, and an ent.Traverser runs before the query, for Rows too.
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
	held       *sql.Predicate // the condition that Hold set last
}

// And returns the confinement with more predicates.
func (c *Confinement) And(ps ...func(*sql.Selector)) Confinement {
	return Confinement{predicates: append(slices.Clip(c.predicates), ps...)}
}

// Hold sets the condition of s to the confinement AND, in parentheses, the requested
// condition. It is called after each step in which a caller's function could have changed
// the selector, and does nothing if the condition is still the same.
func (c *Confinement) Hold(s *sql.Selector) {
	if len(c.predicates) == 0 || c.held != nil && s.P() == c.held {
		return
	}
	c.held = enclose(s, c.predicates, s.P())
	s.SetP(c.held)
}

// enclose returns the confining predicates AND the requested condition.
func enclose(s *sql.Selector, confining []func(*sql.Selector), requested *sql.Predicate) *sql.Predicate {
	for s.CollectedPredicates() != nil { // otherwise Where would not change the condition
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

// wrapped returns a condition in parentheses, because SQL text in it may contain a bare OR.
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
		c.held = nil
		c.Hold(s)
	}
}

// Enclose joins predicates to a single one in parentheses. Whatever they do with Or, Not and
// SetP, they cannot affect the other conditions of the query.
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

// Exactly reports whether column = value is the only confinement of a prepared query, and no
// interceptor could have added another condition.
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
			return fmt.Errorf("ent: %s cannot write the rows of its edge %s: write those rows directly", m.Type(), edge)
		}
	}
	return nil
}
