package lint

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	engine "ariga.io/atlas/sql/migrate"
	atlas "ariga.io/atlas/sql/schema"
	"ariga.io/atlas/sql/sqlcheck"
	"entgo.io/ent/dialect"
)

// own is an analyzer of ours: a function that judges one change of a table, and returns a text if
// it is unsafe.
type own struct {
	dialect string
	name    string
	judge   func(dialectName string, file *sqlcheck.File, t *atlas.Table, change atlas.Change) string
}

// Name is what nolint directives call the analyzer.
func (o own) Name() string { return o.name }

// Analyze judges all changes of the tables that existed before the file.
func (o own) Analyze(_ context.Context, p *sqlcheck.Pass) error {
	for _, statement := range p.File.Changes {
		for _, change := range statement.Changes {
			m, ok := change.(*atlas.ModifyTable)
			if !ok || p.File.TableSpan(m.T)&sqlcheck.SpanAdded != 0 {
				continue
			}
			for _, inner := range m.Changes {
				if text := o.judge(o.dialect, p.File, m.T, inner); text != "" {
					p.Reporter.WriteReport(sqlcheck.Report{Text: o.name, Diagnostics: []sqlcheck.Diagnostic{{Pos: statement.Stmt.Pos, Text: text}}})
				}
			}
		}
	}
	return nil
}

// narrowed finds columns whose new type cannot hold all values of the old one.
func narrowed(dialectName string, _ *sqlcheck.File, t *atlas.Table, change atlas.Change) string {
	if m, ok := change.(*atlas.ModifyColumn); ok && m.Change.Is(atlas.ChangeType) && !Widens(dialectName, m.From.Type, m.To.Type) {
		return fmt.Sprintf("Changing the type of column %s.%s from %s to %s may lose values or rewrite the table", t.Name, m.To.Name, typeName(m.From.Type), typeName(m.To.Type))
	}
	return ""
}

// constrained finds new checks and foreign keys, which existing rows may violate.
func constrained(_ string, file *sqlcheck.File, t *atlas.Table, change atlas.Change) string {
	added := func(name string) bool {
		return file.ColumnSpan(t, &atlas.Column{Name: name})&sqlcheck.SpanAdded != 0
	}
	var name string
	switch c := change.(type) {
	case *atlas.AddCheck:
		if OnlyColumns(t, c.C, added) {
			return ""
		}
		name = "check " + c.C.Name
	case *atlas.ModifyCheck:
		if Loosens(c.From, c.To) {
			return ""
		}
		name = "check " + c.To.Name
	case *atlas.AddForeignKey:
		if slices.ContainsFunc(c.F.Columns, func(column *atlas.Column) bool { return added(column.Name) }) {
			return ""
		}
		name = "foreign key " + c.F.Symbol
	case *atlas.ModifyForeignKey:
		if SameKey(c.From, c.To) {
			return ""
		}
		name = "foreign key " + c.To.Symbol
	default:
		return ""
	}
	return fmt.Sprintf("The new %s of table %s fails where existing rows break it", name, t.Name)
}

// Widens reports whether every value of type from is also one of type to, so that PostgreSQL does
// not rewrite the table.
func Widens(dialectName string, from, to *atlas.ColumnType) bool {
	if typeName(from) == typeName(to) {
		return true
	}
	if dialectName != dialect.Postgres {
		return false
	}
	old, ok := from.Type.(*atlas.StringType)
	wider, also := to.Type.(*atlas.StringType)
	if !ok || !also || !varying(old.T) || !varying(wider.T) {
		return false
	}
	return wider.Size == 0 || old.Size > 0 && wider.Size >= old.Size
}

func varying(name string) bool {
	return slices.Contains([]string{"text", "varchar", "character varying"}, strings.ToLower(name))
}

func typeName(t *atlas.ColumnType) string {
	name := t.Raw
	if s, ok := t.Type.(*atlas.StringType); ok && s.Size > 0 {
		name = fmt.Sprintf("%s(%d)", s.T, s.Size)
	}
	if name == "" {
		name = fmt.Sprintf("%T", t.Type)
	}
	return name
}

var (
	identifier = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)
	quoted     = regexp.MustCompile(`'(?:[^']|'')*'`)
)

// OnlyColumns reports whether all columns in a check's expression, and at least
// one, satisfy ok.
func OnlyColumns(t *atlas.Table, check *atlas.Check, ok func(name string) bool) bool {
	found := false
	for _, word := range identifier.FindAllString(quoted.ReplaceAllString(check.Expr, ""), -1) {
		if _, is := t.Column(word); is {
			found = true
			if !ok(word) {
				return false
			}
		}
	}
	return found
}

// Mentions reports whether a check's expression contains the name of a column.
func Mentions(check *atlas.Check, column string) bool {
	return slices.Contains(identifier.FindAllString(quoted.ReplaceAllString(check.Expr, ""), -1), column)
}

// SameCheck reports whether two checks have the same expression, whatever their
// names. SQLite quotes a column that it renames.
func SameCheck(a, b *atlas.Check) bool { return plain(a.Expr) == plain(b.Expr) }

// plain is an expression without the quotes around its identifiers.
func plain(expression string) string {
	return token.ReplaceAllStringFunc(expression, func(t string) string {
		if strings.HasPrefix(t, "'") {
			return t
		}
		return t[1 : len(t)-1]
	})
}

// token is a literal or a quoted identifier.
var token = regexp.MustCompile(`'(?:[^']|'')*'|"[A-Za-z_][A-Za-z0-9_]*"|` + "`[A-Za-z_][A-Za-z0-9_]*`")

// Loosens reports whether every row that satisfies from also satisfies to: the checks are the
// same, or they differ only in a list of values, and to's list has all values of from's.
func Loosens(from, to *atlas.Check) bool {
	mask := func(c *atlas.Check) (string, []string) {
		list := quoted.FindAllString(c.Expr, -1)
		rest := regexp.MustCompile(`'\?'[^',\])]*(, *'\?'[^',\])]*)*`).ReplaceAllString(quoted.ReplaceAllString(c.Expr, "'?'"), "LIST")
		return strings.Join(strings.Fields(rest), " "), list
	}
	oldRest, old := mask(from)
	freshRest, fresh := mask(to)
	if SameCheck(from, to) {
		return true
	}
	return len(old) > 0 && !negated.MatchString(oldRest) && oldRest == freshRest && strings.Count(oldRest, "LIST") == 1 && membership.MatchString(oldRest) &&
		!slices.ContainsFunc(old, func(value string) bool { return !slices.Contains(fresh, value) })
}

// membership is a check that a column is one of some values, as a schema or
// PostgreSQL writes it.
var membership = regexp.MustCompile(`(?i)^[()\s"` + "`" + `a-z0-9_:]*?(\bIN\b\s*\(|=\s*ANY\s*\(+\s*ARRAY\[)\s*LIST[\])a-z:\s\[]*$`)

var negated = regexp.MustCompile(`(?i)\bNOT\b`)

// SameKey reports whether two foreign keys have the same columns and reference the same columns.
func SameKey(a, b *atlas.ForeignKey) bool {
	names := func(columns []*atlas.Column) (list []string) {
		for _, c := range columns {
			list = append(list, c.Name)
		}
		return list
	}
	return a.RefTable.Name == b.RefTable.Name && slices.Equal(names(a.Columns), names(b.Columns)) && slices.Equal(names(a.RefColumns), names(b.RefColumns))
}

// Simplify removes from the changes of tables the foreign keys and checks that are
// dropped and added again under another name, as a rename does.
func Simplify(changes []atlas.Change) []atlas.Change {
	for _, change := range changes {
		m, ok := change.(*atlas.ModifyTable)
		if !ok {
			continue
		}
		var kept []atlas.Change
		for _, c := range m.Changes {
			again := slices.ContainsFunc(m.Changes, func(other atlas.Change) bool {
				switch c := c.(type) {
				case *atlas.DropForeignKey:
					add, ok := other.(*atlas.AddForeignKey)
					return ok && SameKey(c.F, add.F)
				case *atlas.AddForeignKey:
					drop, ok := other.(*atlas.DropForeignKey)
					return ok && SameKey(c.F, drop.F)
				case *atlas.DropCheck:
					add, ok := other.(*atlas.AddCheck)
					return ok && SameCheck(c.C, add.C)
				case *atlas.AddCheck:
					drop, ok := other.(*atlas.DropCheck)
					return ok && SameCheck(c.C, drop.C)
				}
				return false
			})
			if !again {
				kept = append(kept, c)
			}
		}
		m.Changes = kept
	}
	return changes
}

const name = "[\"`]?([A-Za-z0-9_]+)[\"`]?"

var (
	renameColumn = regexp.MustCompile(`(?is)^ALTER TABLE\s+` + name + `\s+RENAME\s+(?:COLUMN\s+)?` + name + `\s+TO\s+` + name + `\s*;?\s*$`)
	renameTable  = regexp.MustCompile(`(?is)^ALTER TABLE\s+` + name + `\s+RENAME\s+TO\s+` + name + `\s*;?\s*$`)
	update       = regexp.MustCompile(`(?is)\bUPDATE\s+` + name + `\s+SET\s+` + name + `\s*=`)
	notNull      = regexp.MustCompile(`(?is)^[(\s]*` + name + `\s+IS\s+NOT\s+NULL[)\s]*$`)
)

// renames replaces the drop and the addition that a RENAME appears as in a comparison by a
// rename.
func renames(statement string, changes []atlas.Change) []atlas.Change {
	if m := renameColumn.FindStringSubmatch(statement); m != nil {
		for _, change := range changes {
			t, ok := change.(*atlas.ModifyTable)
			if !ok || t.T.Name != m[1] {
				continue
			}
			drop, add := atlas.Changes(t.Changes).IndexDropColumn(m[2]), atlas.Changes(t.Changes).IndexAddColumn(m[3])
			if drop >= 0 && add >= 0 {
				rename := &atlas.RenameColumn{From: t.Changes[drop].(*atlas.DropColumn).C, To: t.Changes[add].(*atlas.AddColumn).C}
				return []atlas.Change{&atlas.ModifyTable{T: t.T, Changes: []atlas.Change{rename}}}
			}
		}
	}
	if m := renameTable.FindStringSubmatch(statement); m != nil && m[1] != "new_"+m[2] {
		drop, add := atlas.Changes(changes).IndexDropTable(m[1]), atlas.Changes(changes).IndexAddTable(m[2])
		if drop >= 0 && add >= 0 {
			return []atlas.Change{&atlas.RenameTable{From: changes[drop].(*atlas.DropTable).T, To: changes[add].(*atlas.AddTable).T}}
		}
	}
	return changes
}

// withChecks adds the checks of the table to the columns that a change modifies. Atlas's analyzer
// looks there for a check "c IS NOT NULL" before it reports SET NOT NULL.
func withChecks(change atlas.Change, before *atlas.Schema) {
	m, ok := change.(*atlas.ModifyTable)
	if !ok {
		return
	}
	t, ok := before.Table(m.T.Name)
	if !ok {
		return
	}
	for _, inner := range m.Changes {
		if c, ok := inner.(*atlas.ModifyColumn); ok {
			for _, a := range t.Attrs {
				if check, ok := a.(*atlas.Check); ok {
					c.From.Attrs = append(c.From.Attrs, check)
				}
			}
		}
	}
}

// parser implements the questions of Atlas's analyzers about statements.
type parser struct{}

// CheckNotNullFor reports whether a check requires a column not to be null. (The watcher makes sure
// that the check is validated.)
func (parser) CheckNotNullFor(check *atlas.Check, column string) (bool, error) {
	m := notNull.FindStringSubmatch(check.Expr)
	return m != nil && m[1] == column, nil
}

// ColumnFilledBefore reports whether a statement before pos updates the column.
func (parser) ColumnFilledBefore(statements []*engine.Stmt, t *atlas.Table, c *atlas.Column, pos int) (bool, error) {
	return slices.ContainsFunc(statements, func(s *engine.Stmt) bool {
		m := update.FindStringSubmatch(s.Text)
		return s.Pos < pos && m != nil && m[1] == t.Name && m[2] == c.Name
	}), nil
}
