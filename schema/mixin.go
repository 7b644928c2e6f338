package schema

import (
	"context"
	"errors"
	"fmt"

	"entgo.io/ent"
	"entgo.io/ent/dialect/sql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"entgo.io/ent/schema/mixin"
	"github.com/google/uuid"

	"chairside/internal/apierror"
	"chairside/internal/apispec"
	"chairside/internal/clock"
	"chairside/internal/principal"
)

// timestamps are created_at and updated_at, from the request's clock.
type timestamps struct {
	mixin.Schema
	unlisted bool // the entity has no list, so the columns need no indexes
}

func (timestamps) Fields() []ent.Field {
	return []ent.Field{
		field.Time("created_at").Immutable().Comment("When the record was created."),
		field.Time("updated_at").Comment("When the record last changed.").Annotations(apispec.Field{Derived: true}),
	}
}

// Indexes serve updated_after and sort_by=updated_at, and sort_by=created_at
// with the created_* filters.
func (t timestamps) Indexes() []ent.Index {
	if t.unlisted {
		return nil
	}
	return []ent.Index{
		index.Fields("practice_id", "updated_at", "id"),
		index.Fields("practice_id", "created_at", "id"),
	}
}

func (timestamps) Hooks() []ent.Hook {
	return []ent.Hook{onSave(func(ctx context.Context, m ent.Mutation) error {
		now := clock.Now(ctx)
		if m.Op().Is(ent.OpCreate) {
			if _, set := m.Field("created_at"); !set {
				if err := m.SetField("created_at", now); err != nil {
					return err
				}
			}
		}
		if _, set := m.Field("updated_at"); set {
			return nil
		}
		return m.SetField("updated_at", now)
	})}
}

// tenant gives a row a practice, and confines every query and mutation to the caller's
// practice, and to one site if the token is limited to it. The zero value is for
// practice-wide rows.
type tenant struct {
	mixin.Schema
	site site
	// keyless rows have no foreign key to their practice, because checking it would take a
	// quarter of the time of a write. It is not needed: they are written in the transaction
	// of another row whose key is checked, and practices are never deleted.
	keyless bool
}

// site describes how a row belongs to a site: by its own column, or by a column that
// references a row with a site_id.
type site struct {
	column, table string
	nullable      bool   // rows without a site are practice-wide
	practitioner  string // column of practitioners that references the row, which then also belongs to their site
}

var (
	ownSite        = site{column: "site_id"}
	ownSiteIfAny   = site{column: "site_id", nullable: true}
	ownSiteOrWorks = site{column: "site_id", nullable: true, practitioner: "user_id"}
	throughPatient = site{column: "patient_id", table: "patients"}
	throughDentist = site{column: "practitioner_id", table: "practitioners"}
	throughInvoice = site{column: "invoice_id", table: "invoices"}
	throughPayment = site{column: "payment_id", table: "payments"}
	bookkeeping    = site{column: "-"} // belongs to the practice, accessible from any site
	isTheSite      = site{column: "id"}
)

func (tenant) Fields() []ent.Field {
	return []ent.Field{
		field.UUID("practice_id", uuid.UUID{}).Immutable().Comment("The practice that owns the row.").Annotations(apispec.Field{Hidden: true, Derived: true}),
	}
}

func (t tenant) Edges() []ent.Edge {
	if t.keyless {
		return nil
	}
	return []ent.Edge{
		edge.To("practice", Practice.Type).Unique().Required().Immutable().Field("practice_id").Annotations(keep),
	}
}

// Annotations of tenant: the filters that every list with these columns has.
func (t tenant) Annotations() []schema.Annotation {
	return []schema.Annotation{apispec.Tenant{SiteColumn: t.site.column, SiteTable: t.site.table, AnySite: t.site.nullable, Filters: []apispec.Filter{
		{Param: "updated_after", Column: "updated_at", Op: "GTE", Doc: "Modified at or after this time. Alias: updated_since."},
		{Param: "site_id", Doc: "Of this site."},
		{Param: "active", Doc: "true for active records only, false for archived ones only."},
		{Param: "patient_id", Doc: "Of this patient."},
		{Param: "practitioner_id", Doc: "Of this practitioner."},
	}}}
}

// Interceptors confine queries.
func (t tenant) Interceptors() []ent.Interceptor {
	return []ent.Interceptor{confine("practice_id", t.site)}
}

// Hooks confine mutations.
func (t tenant) Hooks() []ent.Hook { return []ent.Hook{confineSave("practice_id", t.site)} }

// confine adds the caller's practice and site to every query.
func confine(column string, s site) ent.Interceptor {
	return ent.TraverseFunc(func(ctx context.Context, q ent.Query) error {
		c, err := principal.From(ctx)
		if err != nil {
			if principal.IsSystem(ctx) {
				return nil
			}
			return err
		}
		query, ok := q.(interface{ Confine(...func(*sql.Selector)) })
		if !ok {
			return fmt.Errorf("schema: %T cannot be confined to a practice", q)
		}
		query.Confine(confinement(column, s, c)...)
		return nil
	})
}

// confinement returns the predicates for the caller's practice and, if the caller is
// limited to one, site.
func confinement(column string, s site, c *principal.Principal) []func(*sql.Selector) {
	ps := []func(*sql.Selector){within(column, c.PracticeID)}
	if c.SiteID != nil && s.column != "" && s != bookkeeping {
		ps = append(ps, s.only(c))
	}
	return ps
}

func within(column string, practice uuid.UUID) func(*sql.Selector) {
	return func(s *sql.Selector) { s.Where(sql.EQ(s.C(column), practice)) }
}

// only returns the predicate for the caller's site.
func (t site) only(c *principal.Principal) func(*sql.Selector) {
	return func(s *sql.Selector) {
		switch {
		case t.nullable:
			here := []*sql.Predicate{sql.EQ(s.C(t.column), *c.SiteID), sql.IsNull(s.C(t.column))}
			if t.practitioner != "" {
				p := sql.Table("practitioners")
				here = append(here, sql.In(s.C("id"), sql.Select(p.C(t.practitioner)).From(p).Where(sql.EQ(p.C("site_id"), *c.SiteID))))
			}
			s.Where(sql.Or(here...))
		case t.table == "":
			s.Where(sql.EQ(s.C(t.column), *c.SiteID))
		default:
			owner := sql.Table(t.table)
			s.Where(sql.In(s.C(t.column), sql.Select(owner.C("id")).From(owner).Where(sql.EQ(owner.C("site_id"), *c.SiteID))))
		}
	}
}

// confineSave sets the practice of new rows and confines updates and deletes to the caller's
// rows. A caller limited to a site cannot write practice-wide rows (behaviour.md section 7).
func confineSave(column string, s site) ent.Hook {
	return func(next ent.Mutator) ent.Mutator {
		return ent.MutateFunc(func(ctx context.Context, m ent.Mutation) (ent.Value, error) {
			c, err := principal.From(ctx)
			if err != nil {
				if principal.IsSystem(ctx) {
					return next.Mutate(ctx, m)
				}
				return nil, err
			}
			if c.SiteID != nil && s.column == "" {
				return nil, apierror.SiteLimited()
			}
			change, ok := m.(interface {
				Confine(...func(*sql.Selector)) error
			})
			if !ok {
				return nil, fmt.Errorf("schema: %T cannot be confined to a practice", m)
			}
			if m.Op().Is(ent.OpCreate) {
				if err := change.Confine(); err != nil {
					return nil, err
				}
				if err := m.SetField(column, c.PracticeID); err != nil {
					return nil, err
				}
				return next.Mutate(ctx, m)
			}
			if err := change.Confine(confinement(column, s, c)...); err != nil {
				return nil, err
			}
			return next.Mutate(ctx, m)
		})
	}
}

// installation is the mixin of rows that belong to no practice. Only work across practices
// (package principal) reads or writes them.
type installation struct{ mixin.Schema }

// Annotations of installation.
func (installation) Annotations() []schema.Annotation {
	return []schema.Annotation{apispec.Unconfined{Reason: "only work across practices sees or writes them"}}
}

// Interceptors refuse queries by a practice's user.
func (installation) Interceptors() []ent.Interceptor {
	return []ent.Interceptor{ent.TraverseFunc(func(ctx context.Context, _ ent.Query) error { return systemOnly(ctx) })}
}

// Hooks refuse mutations by a practice's user.
func (installation) Hooks() []ent.Hook {
	return []ent.Hook{func(next ent.Mutator) ent.Mutator {
		return ent.MutateFunc(func(ctx context.Context, m ent.Mutation) (ent.Value, error) {
			if err := systemOnly(ctx); err != nil {
				return nil, err
			}
			return next.Mutate(ctx, m)
		})
	}}
}

func systemOnly(ctx context.Context) error {
	if principal.IsSystem(ctx) {
		return nil
	}
	if _, err := principal.From(ctx); err != nil {
		return err
	}
	return errors.New("schema: these rows belong to no practice")
}
