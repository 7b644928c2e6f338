package migrate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	engine "ariga.io/atlas/sql/migrate"
	atlas "ariga.io/atlas/sql/schema"
	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"entgo.io/ent/dialect/sql/schema"

	"chairside/internal/store"
	"chairside/internal/store/counters"
	"chairside/internal/store/feedlog"
	"chairside/internal/store/triggers"
)

// DriftError is returned by Verify for a database that differs from what its migrations create,
// because someone has changed it by hand.
type DriftError struct {
	Differences []string // one sentence each, sorted
}

func (e *DriftError) Error() string {
	return "the database differs from the schema: " + strings.Join(e.Differences, "; ")
}

// Verify checks that the database has exactly the schema's tables, columns,
// indexes, keys, checks, triggers and functions, and that no applied migration file has changed.
// It returns nil, a *DriftError that names each difference, ErrPending, store.ErrReplica, or another error of Up.
// On PostgreSQL it needs the right to create schemas: it creates the desired tables in a schema
// of their own, so that the server prints both definitions in the same form, and rolls back. A replica cannot do that.
func Verify(ctx context.Context, db *store.DB) error { return of(db).Verify(ctx) }

// Verify is the package's function Verify for the files of m.
func (m *migrator) Verify(ctx context.Context) error {
	if err := m.Check(ctx); err != nil {
		return err
	}
	tables, err := desired(m.tables, m.db.Dialect)
	if err != nil {
		return err
	}
	var differences []string
	if m.postgres() {
		differences, err = m.verifyPostgres(ctx, tables)
	} else {
		differences, err = m.verifySQLite(ctx, tables)
	}
	if err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	if len(differences) > 0 {
		return &DriftError{differences}
	}
	return nil
}

func (m *migrator) verifySQLite(ctx context.Context, tables []*schema.Table) ([]string, error) {
	want, err := describeSQLite(ctx, m.db, tables)
	if err != nil {
		return nil, err
	}
	driver, err := Driver(m.db)
	if err != nil {
		return nil, err
	}
	have, err := driver.InspectSchema(ctx, "main", nil)
	if err != nil {
		return nil, err
	}
	have.Tables = slices.DeleteFunc(have.Tables, func(t *atlas.Table) bool { return slices.Contains(litestreamTables, t.Name) })
	list, err := differences(driver, have, want)
	if err != nil {
		return nil, err
	}
	drift, err := triggers.DriftSQLite(ctx, m.db.SQL, triggerStatements(m.db.Dialect, tables))
	return append(list, drift...), err
}

// triggerStatements returns the statements that create the triggers of tables.
func triggerStatements(dialectName string, tables []*schema.Table) []string {
	return slices.Concat(counters.Statements(dialectName, tables), feedlog.Statements(dialectName, tables))
}

// create creates Ent's tables in the database behind conn.
func create(ctx context.Context, driver engine.Driver, conn entsql.ExecQuerier, dialectName string, tables []*schema.Table) error {
	m, err := schema.NewMigrate(entsql.NewDriver(dialectName, entsql.Conn{ExecQuerier: conn}), schema.WithDialect(dialectName))
	if err != nil {
		return err
	}
	realm, err := m.StateReader(tables...).ReadState(ctx)
	if err != nil {
		return err
	}
	var changes []atlas.Change
	for _, s := range realm.Schemas {
		for _, t := range s.Tables {
			if dialectName == dialect.Postgres {
				addExpressions(t)
			}
			changes = append(changes, &atlas.AddTable{T: t})
		}
	}
	return driver.ApplyChanges(ctx, changes)
}

// differences describes how have differs from want, sorted.
func differences(driver engine.Driver, have, want *atlas.Schema) ([]string, error) {
	have.Tables = slices.DeleteFunc(have.Tables, func(t *atlas.Table) bool { return t.Name == historyTable })
	changes, err := driver.SchemaDiff(have, want, atlas.DiffNormalized()) // compares checks by name and expression
	if err != nil {
		return nil, err
	}
	var list []string
	for _, c := range changes {
		list = append(list, describe(c)...)
	}
	list = append(list, collationDifferences(have, want)...)
	slices.Sort(list)
	return list, nil
}

// collationDifferences compares the collations of columns, which Atlas does not.
func collationDifferences(have, want *atlas.Schema) []string {
	var list []string
	for _, t := range want.Tables {
		other, ok := have.Table(t.Name)
		if !ok {
			continue
		}
		for _, c := range t.Columns {
			if o, ok := other.Column(c.Name); ok && collation(o) != collation(c) {
				list = append(list, fmt.Sprintf("column %s.%s has the collation %q instead of %q", t.Name, c.Name, collation(o), collation(c)))
			}
		}
	}
	return list
}

func collation(c *atlas.Column) string {
	for _, a := range c.Attrs {
		if collation, ok := a.(*atlas.Collation); ok {
			return collation.V
		}
	}
	return ""
}

// describe returns the differences that a change would correct: what it would add is missing, what
// it would drop is not in the schema.
func describe(change atlas.Change) []string {
	switch c := change.(type) {
	case *atlas.AddTable:
		return []string{"table " + c.T.Name + " is missing"}
	case *atlas.DropTable:
		return []string{"table " + c.T.Name + " is not in the schema"}
	case *atlas.ModifyTable:
		var list []string
		for _, inner := range c.Changes {
			list = append(list, describeIn(c.T.Name, inner))
		}
		return list
	default:
		return []string{fmt.Sprintf("the database differs by %T", c)}
	}
}

func describeIn(table string, change atlas.Change) string {
	const missing, extra, differs = " is missing", " is not in the schema", " differs"
	switch c := change.(type) {
	case *atlas.AddColumn:
		return "column " + table + "." + c.C.Name + missing
	case *atlas.DropColumn:
		return "column " + table + "." + c.C.Name + extra
	case *atlas.ModifyColumn:
		return "column " + table + "." + c.To.Name + differs + " in its " + columnAspects(c.Change)
	case *atlas.AddIndex:
		return "index " + c.I.Name + " of " + table + missing
	case *atlas.DropIndex:
		return "index " + c.I.Name + " of " + table + extra
	case *atlas.ModifyIndex:
		return "index " + c.To.Name + " of " + table + differs
	case *atlas.AddForeignKey:
		return "foreign key " + c.F.Symbol + " of " + table + missing
	case *atlas.DropForeignKey:
		return "foreign key " + c.F.Symbol + " of " + table + extra
	case *atlas.ModifyForeignKey:
		return "foreign key " + c.To.Symbol + " of " + table + differs
	case *atlas.AddCheck:
		return "check " + c.C.Name + " of " + table + missing
	case *atlas.DropCheck:
		return "check " + c.C.Name + " of " + table + extra
	case *atlas.ModifyCheck:
		return "check " + c.To.Name + " of " + table + differs
	case *atlas.AddPrimaryKey:
		return "the primary key of " + table + missing
	case *atlas.DropPrimaryKey:
		return "the primary key of " + table + extra
	case *atlas.ModifyPrimaryKey:
		return "the primary key of " + table + differs
	default:
		return fmt.Sprintf("table %s differs by %T", table, c)
	}
}

func columnAspects(kind atlas.ChangeKind) string {
	var list []string
	for _, aspect := range []struct {
		kind atlas.ChangeKind
		name string
	}{
		{atlas.ChangeType, "type"}, {atlas.ChangeNull, "nullness"}, {atlas.ChangeDefault, "default"},
		{atlas.ChangeGenerated, "expression"}, {atlas.ChangeComment, "comment"}, {atlas.ChangeAttr, "attributes"},
	} {
		if kind.Is(aspect.kind) {
			list = append(list, aspect.name)
		}
	}
	return strings.Join(list, " and ")
}
