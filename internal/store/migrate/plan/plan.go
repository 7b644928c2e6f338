package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	engine "ariga.io/atlas/sql/migrate"
	atlas "ariga.io/atlas/sql/schema"
	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql/schema"

	"chairside/internal/store"
	"chairside/internal/store/migrate"
	"chairside/internal/store/migrate/lint"
)

// VersionLayout is the time layout of a file's version.
const VersionLayout = "20060102150405"

// Write returns the files that migrate a database with the files old to tables (migrate.Desired),
// or none if there is no difference, and the flags of the request that it used. db is an empty
// scratch database of the right kind.
func Write(ctx context.Context, db *store.DB, old []engine.File, tables []*schema.Table, request *Request) ([]engine.File, map[string]bool, error) {
	p := &planner{db: db, tables: tables, request: request, used: map[string]bool{}, reasons: map[string]reason{}, baseline: len(old) == 0, schema: "main"}
	if p.postgres() {
		p.schema = "public"
	}
	var err error
	if p.driver, err = migrate.Driver(db); err != nil {
		return nil, nil, err
	}
	for _, f := range old {
		if err := p.execute(ctx, f); err != nil {
			return nil, nil, err
		}
	}
	if p.counted, err = db.Counters.Counted(ctx); err != nil {
		return nil, nil, err
	}
	if p.want, err = migrate.Describe(ctx, db, tables); err != nil {
		return nil, nil, err
	}
	if err := p.write(ctx); err != nil {
		return nil, nil, err
	}
	files, err := p.format()
	return files, p.used, err
}

// planner writes the files of one database.
type planner struct {
	db       *store.DB
	driver   engine.Driver
	schema   string
	request  *Request
	baseline bool
	want     *atlas.Schema
	tables   []*schema.Table
	counted  []string // tables, before the migration

	used     map[string]bool   // flags of the request
	problems []string          // if there are any, nothing is written
	reasons  map[string]reason // by table.name; become nolint directives
	files    []*file
}

// reason is why a change is safe although analyzers would report it.
type reason struct {
	text      string
	analyzers []string
}

// file is a migration file that is being written.
type file struct {
	suffix     string
	repeatable bool
	statements []migrate.Statement
}

func (p *planner) postgres() bool { return p.db.Dialect == dialect.Postgres }

// execute applies a file to the scratch database.
func (p *planner) execute(ctx context.Context, f engine.File) error {
	statements, err := engine.FileStmtDecls(p.driver, f)
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name(), err)
	}
	var texts []string
	for _, s := range statements {
		texts = append(texts, s.Text)
	}
	if err := p.apply(ctx, migrate.Repeatable(f), texts); err != nil {
		return fmt.Errorf("%s: %w", f.Name(), err)
	}
	return nil
}

// apply executes statements on the scratch database as Up would: on PostgreSQL in a transaction,
// unless they are to be applied one by one.
func (p *planner) apply(ctx context.Context, single bool, texts []string) error {
	exec := p.db.SQL.ExecContext
	commit := func() error { return nil }
	if p.postgres() && !single {
		tx, err := p.db.SQL.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback() // after a commit it does nothing
		exec, commit = tx.ExecContext, tx.Commit
	}
	for _, text := range texts {
		if _, err := exec(ctx, text); err != nil {
			return fmt.Errorf("%w\n\t%s", err, text)
		}
	}
	return commit()
}

// add applies statements to the scratch database and appends them to the file
// with a suffix.
func (p *planner) add(ctx context.Context, suffix string, repeatable bool, statements ...migrate.Statement) error {
	if len(statements) == 0 {
		return nil
	}
	if !p.postgres() {
		suffix, repeatable = "", false
	}
	if len(p.files) == 0 || p.files[len(p.files)-1].suffix != suffix {
		p.files = append(p.files, &file{suffix: suffix, repeatable: repeatable})
	}
	last := p.files[len(p.files)-1]
	var texts []string
	for _, s := range statements {
		texts = append(texts, s.Text)
	}
	last.statements = append(last.statements, statements...)
	return p.apply(ctx, repeatable, texts)
}

func (p *planner) inspect(ctx context.Context) (*atlas.Schema, error) {
	return p.driver.InspectSchema(ctx, p.schema, &atlas.InspectOptions{Mode: atlas.InspectTables})
}

// changes returns the changes that the scratch database still needs.
func (p *planner) changes(ctx context.Context) ([]atlas.Change, error) {
	current, err := p.inspect(ctx)
	if err != nil {
		return nil, err
	}
	p.want.Attrs = current.Attrs
	return p.driver.SchemaDiff(current, p.want, atlas.DiffNormalized()) // compares checks by name and expression
}

// write writes all files, in the order of the steps.
func (p *planner) write(ctx context.Context) error {
	if err := p.rename(ctx); err != nil {
		return err
	}
	changes, err := p.changes(ctx)
	if err != nil {
		return err
	}
	for _, c := range changes {
		p.judge(c)
	}
	if len(p.problems) > 0 {
		return &RefusedError{p.problems}
	}
	functions, err := migrate.PlanFunctions(ctx, p.db)
	if err != nil {
		return err
	}
	if err := p.add(ctx, "", false, functions...); err != nil {
		return err
	}
	if err := p.dropViews(ctx, changes); err != nil {
		return err
	}
	if p.baseline || !p.postgres() {
		err = p.inOneFile(ctx)
	} else {
		err = p.inSteps(ctx)
	}
	if err != nil {
		return err
	}
	settings, err := migrate.PlanSettings(ctx, p.db)
	if err != nil {
		return err
	}
	suffix := "settings"
	if p.baseline {
		suffix = ""
	}
	if err := p.add(ctx, suffix, false, settings...); err != nil {
		return err
	}
	if p.baseline || !p.postgres() {
		if err := p.counters(ctx); err != nil { // SQLite drops the triggers of a table that is rebuilt
			return err
		}
		if err := p.feed(ctx); err != nil {
			return err
		}
	}
	if err := p.views(ctx); err != nil {
		return err
	}
	return p.complete(ctx)
}

// complete checks that the files result in the schema.
func (p *planner) complete(ctx context.Context) error {
	left, err := p.changes(ctx)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		plan, err := p.driver.PlanChanges(ctx, "", left, unqualified)
		if err != nil {
			return err
		}
		var texts []string
		for _, c := range plan.Changes {
			texts = append(texts, "\t"+c.Cmd)
		}
		return fmt.Errorf("no file can be written for the following; write it by hand, then diff -hash:\n%s", strings.Join(texts, "\n"))
	}
	return nil
}

// inOneFile writes all changes into one file: first with nullable columns, then the backfills,
// then the rest.
func (p *planner) inOneFile(ctx context.Context) error {
	if filled := p.backfills(); len(filled) > 0 {
		for _, b := range filled {
			b.column.Type.Null = true
		}
		if err := p.changeAll(ctx); err != nil {
			return err
		}
		for _, b := range filled {
			if err := p.add(ctx, "", false, b.plain()); err != nil {
				return err
			}
			b.column.Type.Null = b.nullable
		}
	}
	return p.changeAll(ctx)
}

// changeAll writes plain statements for all changes that are left.
func (p *planner) changeAll(ctx context.Context) error {
	changes, err := p.changes(ctx)
	if err != nil {
		return err
	}
	var others []atlas.Change // tables are created in the order of their keys
	for _, c := range changes {
		if _, ok := c.(*atlas.ModifyTable); !ok {
			others = append(others, c)
		}
	}
	if err := p.change(ctx, "", others...); err != nil {
		return err
	}
	for _, c := range changes {
		if _, ok := c.(*atlas.ModifyTable); ok {
			if err := p.change(ctx, "", c); err != nil {
				return err
			}
		}
	}
	return nil
}

func unqualified(o *engine.PlanOptions) { o.SchemaQualifier, o.Indent = new(string), "  " }

// change plans changes together and adds them to a file.
func (p *planner) change(ctx context.Context, suffix string, changes ...atlas.Change) error {
	if len(changes) == 0 {
		return nil
	}
	plan, err := p.driver.PlanChanges(ctx, "", changes, unqualified)
	if err != nil {
		return err
	}
	return p.add(ctx, suffix, suffix == "index", p.explain(plan.Changes)...)
}

// explain adds comments to planned statements. The reason for a change goes above the statement
// that names its object or, if SQLite rebuilds the table, above the first statement of that.
func (p *planner) explain(planned []*engine.Change) (statements []migrate.Statement) {
	for _, c := range planned {
		var allowed []string
		for _, key := range sortedKeys(p.reasons) {
			r := p.reasons[key]
			table, object, _ := strings.Cut(key, ".")
			mark := func(name string) bool {
				return strings.Contains(c.Cmd, `"`+name+`"`) || strings.Contains(c.Cmd, "`"+name+"`")
			}
			here := mark(table) && (object == "" || mark(object))
			if rebuild := "CREATE TABLE `new_"; strings.Contains(c.Cmd, rebuild) {
				here = strings.Contains(c.Cmd, rebuild+table+"`")
			} else if slices.ContainsFunc(planned, func(other *engine.Change) bool { return strings.Contains(other.Cmd, rebuild+table+"`") }) {
				here = here && strings.HasPrefix(c.Cmd, "CREATE UNIQUE INDEX")
			}
			if here {
				allowed = append(allowed, lint.Allow(r.text, r.analyzers...))
			}
		}
		comment := c.Comment
		if comment != "" {
			comment = strings.ToUpper(comment[:1]) + comment[1:]
		}
		statements = append(statements, migrate.Statement{Comment: strings.Join(append(allowed, comment), "\n"), Text: c.Cmd})
	}
	return statements
}

// format returns the files with their names and texts.
func (p *planner) format() (files []engine.File, err error) {
	version, err := time.Parse(VersionLayout, p.request.Version)
	if err != nil {
		return nil, fmt.Errorf("version %q: %w", p.request.Version, err)
	}
	for i, f := range p.files {
		name := version.Add(time.Duration(i) * time.Second).Format(VersionLayout)
		suffix := f.suffix
		if i == 0 && (p.request.Name == "" || !f.repeatable) {
			suffix = "" // the first file has the migration's name
		}
		for _, part := range []string{p.request.Name, suffix} {
			if part != "" {
				name += "_" + part
			}
		}
		var text strings.Builder
		if f.repeatable {
			text.WriteString(migrate.NotInTransaction + "\n\n")
		}
		for _, s := range f.statements {
			for line := range strings.SplitSeq(s.Comment, "\n") {
				if line != "" {
					text.WriteString("-- " + line + "\n")
				}
			}
			text.WriteString(s.Text + ";\n")
		}
		files = append(files, engine.NewLocalFile(name+".sql", []byte(text.String())))
	}
	return files, nil
}

// Next returns the version for the next file: that of now, or the one after the last file if that
// is later.
func Next(files []engine.File, now time.Time) (string, error) {
	version := now.UTC().Format(VersionLayout)
	if len(files) == 0 || files[len(files)-1].Version() < version {
		return version, nil
	}
	last, err := time.Parse(VersionLayout, files[len(files)-1].Version())
	if err != nil {
		return "", fmt.Errorf("%s: %w", files[len(files)-1].Name(), err)
	}
	if last.Sub(now) > time.Hour {
		return "", errors.New("the last migration, " + files[len(files)-1].Name() + ", is newer than this machine's clock")
	}
	return last.Add(time.Second).Format(VersionLayout), nil
}
