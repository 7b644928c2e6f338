package lint

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	engine "ariga.io/atlas/sql/migrate"
	"ariga.io/atlas/sql/postgres"
	_ "ariga.io/atlas/sql/postgres/postgrescheck" // registers the analyzers
	atlas "ariga.io/atlas/sql/schema"
	"ariga.io/atlas/sql/sqlcheck"
	"ariga.io/atlas/sql/sqlclient"
	"ariga.io/atlas/sql/sqlite"
	_ "ariga.io/atlas/sql/sqlite/sqlitecheck" // registers the analyzers
	"entgo.io/ent/dialect"

	"chairside/internal/store"
	"chairside/internal/store/migrate"
)

// The names of analyzers in nolint directives.
const (
	Destructive  = "destructive"
	DataDepend   = "data_depend"
	Incompatible = "incompatible"
	Dropped      = "condrop"
	Narrowed     = "narrowed"
	Blocking     = "blocking"
)

const (
	nolint  = "nolint"
	because = "-- Because: "
)

// Allow returns the comment lines that suppress the findings of analyzers for a statement.
func Allow(reason string, analyzers ...string) string {
	return "atlas:" + nolint + " " + strings.Join(analyzers, " ") + "\n" + strings.TrimPrefix(because, "-- ") + reason
}

// Finding is a problem with a statement of a file.
type Finding struct {
	File      string
	Line      int
	Analyzer  string
	Text      string
	Statement string
}

// String returns the finding, and below it the beginning of the statement.
func (f Finding) String() string {
	return fmt.Sprintf("%s:%d: %s [%s]\n\t%s", f.File, f.Line, f.Text, f.Analyzer, firstLine(f.Statement))
}

func firstLine(text string) string {
	line, rest, _ := strings.Cut(text, "\n")
	if rest != "" {
		line += " …"
	}
	return line
}

// Check applies files to db, an empty database, and returns the problems of all files but the
// first.
func Check(ctx context.Context, db *store.DB, files []engine.File) ([]Finding, error) {
	conn, err := db.SQL.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("lint: %w", err)
	}
	defer func() { _ = conn.Close() }() // the database is thrown away
	c := &checker{conn: conn, dialect: db.Dialect, schema: "main"}
	if db.Dialect == dialect.Postgres {
		c.schema = "public"
	} else if _, err := conn.ExecContext(ctx, "PRAGMA foreign_keys = off"); err != nil { // as migrations are applied
		return nil, fmt.Errorf("lint: %w", err)
	}
	if c.driver, err = migrate.DriverOn(conn, db.Dialect); err != nil {
		return nil, err
	}
	for i, f := range files {
		if err := c.file(ctx, f, i > 0); err != nil {
			return c.findings, fmt.Errorf("%s: %w", f.Name(), err)
		}
	}
	return c.findings, nil
}

// checker applies files on one connection.
type checker struct {
	conn     *sql.Conn
	driver   engine.Driver
	dialect  string
	schema   string
	findings []Finding

	catalog     string            // of PostgreSQL, when the schema was last inspected
	tables      []*atlas.Table    // of SQLite, as last inspected
	definitions map[string]string // of these tables
}

// catalog describes the rows of PostgreSQL's catalogs about the tables of the schema $1: a change of a table
// writes new ones.
const catalog = `WITH relations AS (SELECT oid, xmin, ctid FROM pg_class WHERE relnamespace = CAST(CAST($1 AS text) AS regnamespace))
	SELECT md5(string_agg(kind || ' ' || CAST(xmin AS text) || ' ' || CAST(ctid AS text), ',' ORDER BY kind, ctid)) FROM (
		SELECT 'class' AS kind, xmin, ctid FROM relations
		UNION ALL SELECT 'attribute', xmin, ctid FROM pg_attribute WHERE attrelid IN (SELECT oid FROM relations)
		UNION ALL SELECT 'default', xmin, ctid FROM pg_attrdef WHERE adrelid IN (SELECT oid FROM relations)
		UNION ALL SELECT 'index', xmin, ctid FROM pg_index WHERE indexrelid IN (SELECT oid FROM relations)
		UNION ALL SELECT 'constraint', xmin, ctid FROM pg_constraint WHERE conrelid IN (SELECT oid FROM relations)
		UNION ALL SELECT 'partition', xmin, ctid FROM pg_partitioned_table WHERE partrelid IN (SELECT oid FROM relations)
		UNION ALL SELECT 'child', xmin, ctid FROM pg_inherits WHERE inhrelid IN (SELECT oid FROM relations)
		UNION ALL SELECT 'sequence', xmin, ctid FROM pg_sequence WHERE seqrelid IN (SELECT oid FROM relations)
		UNION ALL SELECT 'comment', xmin, ctid FROM pg_description WHERE objoid IN (SELECT oid FROM relations)
		UNION ALL SELECT 'type', xmin, ctid FROM pg_type WHERE typnamespace = CAST(CAST($1 AS text) AS regnamespace)
		UNION ALL SELECT 'enum', xmin, ctid FROM pg_enum
	) AS catalogs`

// file applies a file, and judges it unless it is the baseline.
func (c *checker) file(ctx context.Context, f engine.File, judge bool) error {
	statements, err := engine.FileStmtDecls(c.driver, f)
	if err != nil {
		return err
	}
	if !judge {
		for _, s := range statements {
			if _, err := c.conn.ExecContext(ctx, s.Text); err != nil {
				return fmt.Errorf("%w\n\t%s", err, firstLine(s.Text))
			}
		}
		return nil
	}
	before, err := c.inspect(ctx, nil)
	if err != nil {
		return err
	}
	checked := &sqlcheck.File{File: f, From: realm(before), Parser: parser{}}
	watch := &watcher{conn: c.conn, repeatable: migrate.Repeatable(f)}
	if c.dialect == dialect.Postgres {
		if err := watch.begin(ctx); err != nil {
			return err
		}
	}
	report := func(s *engine.Stmt, analyzer, text string) { c.report(f, s, analyzer, text) }
	for _, s := range statements {
		exec := func() error {
			if _, err := c.conn.ExecContext(ctx, s.Text); err != nil {
				return fmt.Errorf("%w\n\t%s", err, firstLine(s.Text))
			}
			return nil
		}
		if c.dialect == dialect.Postgres {
			problems, err := watch.exec(ctx, s.Text, exec)
			if err != nil {
				return err
			}
			for _, problem := range problems {
				report(s, Blocking, problem)
			}
		} else if err := exec(); err != nil {
			return err
		}
		after, err := c.inspect(ctx, before)
		if err != nil {
			return err
		}
		var changes []atlas.Change
		if after != before {
			changes, err = c.driver.SchemaDiff(before, after, atlas.DiffNormalized()) // compares checks by name and expression
		}
		if err != nil {
			return err
		}
		for _, change := range changes {
			withChecks(change, before)
		}
		checked.Changes = append(checked.Changes, &sqlcheck.Change{Changes: Simplify(renames(s.Text, changes)), Stmt: s})
		if truncate.MatchString(s.Text) {
			report(s, Destructive, "TRUNCATE removes all rows")
		}
		c.directives(f, s)
		before = after
	}
	if c.dialect == dialect.Postgres {
		if err := watch.end(ctx); err != nil {
			return err
		}
	}
	checked.To = realm(before)
	return c.analyze(ctx, checked, statements)
}

var truncate = regexp.MustCompile(`(?i)^\s*TRUNCATE\b`)

func realm(s *atlas.Schema) *atlas.Realm { return &atlas.Realm{Schemas: []*atlas.Schema{s}} }

// inspect returns the current schema, or last, the one of the call before, if no table has changed since:
// inspecting takes much longer than a statement about a view. On SQLite, where each table takes several
// statements, it inspects only tables whose definition has changed.
func (c *checker) inspect(ctx context.Context, last *atlas.Schema) (*atlas.Schema, error) {
	options := &atlas.InspectOptions{Mode: atlas.InspectTables}
	if c.dialect == dialect.Postgres {
		var now string
		if err := c.conn.QueryRowContext(ctx, catalog, c.schema).Scan(&now); err != nil {
			return nil, err
		}
		if last != nil && now == c.catalog {
			return last, nil
		}
		c.catalog = now
		return c.driver.InspectSchema(ctx, c.schema, options)
	}
	definitions, err := c.define(ctx)
	if err != nil {
		return nil, err
	}
	if last != nil && maps.Equal(c.definitions, definitions) {
		return last, nil
	}
	for table := range definitions {
		if c.definitions[table] != definitions[table] {
			options.Tables = append(options.Tables, table)
		}
	}
	now := &atlas.Schema{Name: c.schema}
	if len(options.Tables) > 0 { // or all would be inspected
		if now, err = c.driver.InspectSchema(ctx, c.schema, options); err != nil {
			return nil, err
		}
	}
	for _, t := range c.tables {
		if c.definitions[t.Name] == definitions[t.Name] {
			again := *t // analyzers rename tables
			now.Tables = append(now.Tables, &again)
		}
	}
	c.tables, c.definitions = now.Tables, definitions
	return now, nil
}

// define returns the definition of each of SQLite's tables, with those of its indexes.
func (c *checker) define(ctx context.Context) (map[string]string, error) {
	rows, err := c.conn.QueryContext(ctx, `SELECT tbl_name, sql FROM sqlite_master
		WHERE type IN ('table', 'index') AND sql IS NOT NULL AND tbl_name NOT LIKE 'sqlite_%' ORDER BY tbl_name, type DESC, name`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	definitions := map[string]string{}
	for rows.Next() {
		var table, definition string
		if err := rows.Scan(&table, &definition); err != nil {
			return nil, err
		}
		definitions[table] += definition + ";"
	}
	return definitions, rows.Err()
}

// analyze runs the analyzers over a file.
func (c *checker) analyze(ctx context.Context, file *sqlcheck.File, statements []*engine.Stmt) error {
	name := postgres.DriverName
	if c.dialect == dialect.SQLite {
		name = sqlite.DriverName
	}
	analyzers, err := sqlcheck.AnalyzerFor(name, nil)
	if err != nil {
		return err
	}
	if len(analyzers) < 4 {
		return fmt.Errorf("lint: %d analyzers of Atlas for %s; want destructive, data_depend, condrop and incompatible", len(analyzers), name)
	}
	analyzers = append(analyzers, own{c.dialect, Narrowed, narrowed}, own{c.dialect, DataDepend, constrained})
	client := &sqlclient.Client{Name: name, Driver: c.driver}
	for i, a := range analyzers {
		reported := false
		pass := &sqlcheck.Pass{File: file, Dev: client, Reporter: sqlcheck.ReportWriterFunc(func(r sqlcheck.Report) {
			for _, d := range r.Diagnostics {
				reported = true
				for _, s := range statements {
					if s.Pos == d.Pos {
						c.report(file.File, s, a.(sqlcheck.NamedAnalyzer).Name(), d.Text)
					}
				}
			}
		})}
		// An analyzer that is configured to fail also returns the problems that it reported.
		if err := a.Analyze(ctx, pass); err != nil && !reported {
			return err
		}
		if c.dialect == dialect.SQLite && i == 0 { // it has joined the statements that rebuild a table
			for _, change := range file.Changes {
				change.Changes = Simplify(change.Changes)
			}
		}
	}
	return nil
}

// report adds a finding unless the statement allows it.
func (c *checker) report(f engine.File, s *engine.Stmt, analyzer, text string) {
	if slices.Contains(allowed(s), analyzer) {
		return
	}
	c.note(f, s, analyzer, text)
}

func (c *checker) note(f engine.File, s *engine.Stmt, analyzer, text string) {
	line := 1 + strings.Count(string(f.Bytes()[:min(s.Pos, len(f.Bytes()))]), "\n")
	c.findings = append(c.findings, Finding{f.Name(), line, analyzer, text, s.Text})
}

// allowed returns the analyzers that a statement's directives suppress; none without a reason.
func allowed(s *engine.Stmt) (names []string) {
	if !slices.ContainsFunc(s.Comments, hasReason) {
		return nil
	}
	for _, d := range s.Directive(nolint) {
		names = append(names, strings.Fields(d)...)
	}
	return names
}

func hasReason(comment string) bool {
	for line := range strings.Lines(comment) {
		if reason, ok := strings.CutPrefix(strings.TrimSpace(line), strings.TrimSpace(because)); ok && len(strings.Fields(reason)) > 1 {
			return true
		}
	}
	return false
}

// directives refuses a nolint without names or reason.
func (c *checker) directives(f engine.File, s *engine.Stmt) {
	for _, d := range s.Directive(nolint) {
		if strings.TrimSpace(d) == "" {
			c.note(f, s, nolint, "-- atlas:nolint must name the analyzers")
		}
		if !slices.ContainsFunc(s.Comments, hasReason) {
			c.note(f, s, nolint, `-- atlas:nolint needs a reason: a line "`+because+`…" below it`)
		}
	}
}
