package migrate

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/dialect/sql/schema"
	"entgo.io/ent/schema/field"

	"chairside/ent"
	"chairside/internal/store"
	"chairside/internal/store/rowsecurity"
)

const (
	// byteOrder is PostgreSQL's collation that sorts by code point, as SQLite does.
	byteOrder = "C"
	// maxNameLength is the maximum length of a name in PostgreSQL, in bytes.
	maxNameLength = 63
)

// Desired returns the tables that a database of a dialect should have, in Ent's form:
// store.Tables, rewritten by desired.
func Desired(dialectName string) ([]*schema.Table, error) {
	return desired(store.Tables(dialectName), dialectName)
}

// desired rewrites the tables Ent generates into those the database has:
//
//   - A foreign key between two tables that belong to practices, x_id → t(id), becomes
//     (practice_id, x_id) → t(practice_id, id), so that no row can reference a row of
//     another practice, whatever bugs the program has. Only the keys to applications, which
//     users of every practice can authorise, stay simple. Each referenced table gets the
//     UNIQUE index that this needs. All keys are NO ACTION: SET NULL, Ent's default for
//     optional edges, would also clear practice_id.
//   - On PostgreSQL text has the collation "C", so that both databases sort alike, whatever
//     the locale of the server.
//   - On SQLite, which has no INCLUDE, the included columns of an index are added to the
//     end of its key, unless it is unique.
//   - Each limit and rule of the schema (package limit) becomes a CHECK, so that no restore
//     and no SQL by hand can store values that the API would refuse.
//   - Names of indexes, keys and checks are shortened to what PostgreSQL allows.
//
// The argument is not changed.
func desired(tables []*schema.Table, dialectName string) ([]*schema.Table, error) {
	copied, err := schema.CopyTables(tables)
	if err != nil {
		return nil, fmt.Errorf("%w", err)
	}
	for _, t := range copied {
		for _, key := range t.ForeignKeys {
			confineToPractice(t, key)
			key.Symbol = shorten(key.Symbol)
		}
		addChecks(t, dialectName == dialect.Postgres)
		if dialectName == dialect.Postgres {
			for _, c := range t.Columns {
				if isText(c) && c.Collation == "" {
					c.Collation = byteOrder
				}
			}
		}
	}
	for _, t := range copied { // the keys above have added indexes
		for _, i := range t.Indexes {
			i.Name = shorten(i.Name)
			if dialectName == dialect.SQLite {
				includeInKey(t, i)
			}
		}
	}
	return copied, nil
}

// addChecks adds the CHECKs of its limits and rules to t.
func addChecks(t *schema.Table, postgres bool) {
	checks := map[string]string{}
	for _, l := range ent.Limits {
		if l.Table == t.Name && !l.Unchecked {
			checks[shorten(l.Constraint())] = l.Condition(postgres)
		}
	}
	for _, r := range ent.Rules {
		if r.Table == t.Name {
			checks[shorten(r.Constraint())] = r.Condition(postgres)
		}
	}
	if len(checks) == 0 {
		return
	}
	var a entsql.Annotation // a copy, because t shares its annotation with the schema
	if t.Annotation != nil {
		a = *t.Annotation
	}
	maps.Copy(checks, a.Checks)
	a.Checks = checks
	t.Annotation = &a
}

// confineToPractice adds the practice to a foreign key of t if both tables belong to one, except to a
// table whose rows other practices use. A table whose practice may be null keeps its simple keys,
// because a composite key with a null in it checks nothing.
func confineToPractice(t *schema.Table, key *schema.ForeignKey) {
	own, ok := t.Column(rowsecurity.PracticeColumn(t))
	if !ok || own.Nullable || len(key.Columns) != 1 || key.Columns[0].Name == own.Name || rowsecurity.Shared(key.RefTable.Name) {
		return
	}
	theirs, ok := key.RefTable.Column(rowsecurity.PracticeColumn(key.RefTable))
	if !ok || theirs.Nullable {
		return
	}
	key.Columns = []*schema.Column{own, key.Columns[0]}
	key.RefColumns = []*schema.Column{theirs, key.RefColumns[0]}
	key.OnDelete, key.OnUpdate = schema.NoAction, schema.NoAction
	if !slices.ContainsFunc(key.RefTable.Indexes, func(i *schema.Index) bool { return i.Unique && slices.Equal(i.Columns, key.RefColumns) }) {
		key.RefTable.Indexes = append(key.RefTable.Indexes, &schema.Index{
			Name:    key.RefTable.Name + "_" + theirs.Name + "_" + key.RefColumns[1].Name,
			Unique:  true,
			Columns: key.RefColumns,
		})
	}
}

// includeInKey adds the included columns of an index to the end of its key. A unique index stays
// unchanged, because more columns would make it less strict.
func includeInKey(t *schema.Table, i *schema.Index) {
	if i.Annotation == nil || i.Unique {
		return
	}
	for _, name := range i.Annotation.IncludeColumns {
		if c, ok := t.Column(name); ok {
			i.Columns = append(i.Columns, c)
		}
	}
}

// shorten returns a name that PostgreSQL does not truncate, which could make two names equal: the
// end of a long name is replaced by a checksum.
func shorten(name string) string {
	if len(name) <= maxNameLength {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	end := "_" + hex.EncodeToString(sum[:4])
	return name[:maxNameLength-len(end)] + end
}

// isText reports whether PostgreSQL stores c as text, so that it has a collation.
func isText(c *schema.Column) bool {
	if kind := strings.ToLower(c.SchemaType[dialect.Postgres]); kind != "" {
		return kind == "text" || strings.HasPrefix(kind, "varchar") || strings.HasPrefix(kind, "char")
	}
	return c.Type == field.TypeString || c.Type == field.TypeEnum
}
