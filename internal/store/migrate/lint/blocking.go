package lint

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"chairside/internal/store/migrate"
)

// watcher applies the statements of a PostgreSQL file and observes, in the server's statistics,
// what each one locks, scans and rewrites. No existing table may be scanned or rewritten while
// the transaction holds a lock that blocks writers: on the empty scratch database that takes no
// time, but on a large table every client would wait.
type watcher struct {
	conn       *sql.Conn
	repeatable bool             // applied outside a transaction
	tables     map[int64]string // tables that existed before the file, by oid
	seen       map[int64]string // result of touchedQuery before the statement
}

// counters are the tables in which no client waits for a row.
var counters = []string{"counters", "counter_changes"}

const (
	tablesQuery = "SELECT oid, relname FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace"
	// lockedQuery selects the tables that writers cannot use until the transaction ends.
	lockedQuery = `SELECT DISTINCT relation, '' FROM pg_locks WHERE pid = pg_backend_pid() AND granted AND locktype = 'relation'
		AND mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')`
	// writtenQuery selects the tables whose rows have been updated or removed.
	writtenQuery = `SELECT relation, '' FROM pg_locks WHERE pid = pg_backend_pid() AND granted AND locktype = 'relation' AND mode = 'RowExclusiveLock'`
	// touchedQuery counts the scans of each table, and names its file: a table that
	// is rewritten gets another.
	touchedQuery = `SELECT c.oid, coalesce(s.seq_scan, 0) || ' ' || pg_relation_filenode(c.oid)
		FROM pg_class c LEFT JOIN pg_stat_xact_user_tables s ON s.relid = c.oid WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace`
)

// rule is a kind of statement that blocks, and what to write instead.
type rule struct {
	pattern *regexp.Regexp
	always  bool // report it even if it was not observed to block
	advice  string
}

func pattern(text string) *regexp.Regexp {
	return regexp.MustCompile(`(?is)^\s*` + strings.ReplaceAll(text, " ", `\s+`))
}

const inFileOfItsOwn = ` in a file of its own whose first line is "` + migrate.NotInTransaction + `"`

var rules = []rule{
	{pattern(`DROP INDEX (IF EXISTS )?[^cC]`), true, "write DROP INDEX CONCURRENTLY IF EXISTS" + inFileOfItsOwn},
	{pattern(`REINDEX\b`), true, "create a new index under another name, CONCURRENTLY, then drop the old one"},
	{pattern(`LOCK\b`), true, "leave it out: each statement takes the lock it needs"},
	{pattern(`CLUSTER\b`), true, "leave it out, or use pg_repack outside migrations"},
	{pattern(`VACUUM\b.*\bFULL\b`), true, "leave it out: autovacuum makes room for new rows"},
	{pattern(`CREATE (UNIQUE )?INDEX\b`), false, "write CREATE INDEX CONCURRENTLY" + inFileOfItsOwn},
	{pattern(`ALTER TABLE .*\bADD\b.*\b(UNIQUE|PRIMARY KEY)\b`), false, "create the unique index CONCURRENTLY" + inFileOfItsOwn + ", then ADD CONSTRAINT … USING INDEX"},
	{pattern(`ALTER TABLE .*\bADD\b.*\b(FOREIGN KEY|REFERENCES|CHECK)\b`), false, "add the constraint NOT VALID, and VALIDATE CONSTRAINT" + inFileOfItsOwn},
	{pattern(`ALTER TABLE .*\bSET NOT NULL\b`), false, "add CHECK (column IS NOT NULL) NOT VALID, VALIDATE it" + inFileOfItsOwn + ", then SET NOT NULL and drop the check"},
	{pattern(`ALTER TABLE .*\bALTER .*\bTYPE\b`), false, "add a column of the new type, fill it in batches, and drop the old one in a later release"},
	{pattern(`ALTER TABLE .*\bADD\b`), false, "add the column without a default, fill it in batches, then set the default"},
	{pattern(`ALTER TABLE .*\bVALIDATE\b`), false, "VALIDATE CONSTRAINT" + inFileOfItsOwn},
}

var (
	concurrently = pattern(`(CREATE (UNIQUE )?|DROP |RE)INDEX CONCURRENTLY\b`)
	vacuum       = pattern(`VACUUM\b`)
	block        = pattern(`DO\b`)
	commits      = regexp.MustCompile(`(?i)\bCOMMIT\s*;`)
	writes       = regexp.MustCompile(`(?i)\b(UPDATE|DELETE\s+FROM|MERGE)\b`)
	writesFirst  = pattern(`(UPDATE|DELETE|MERGE|WITH|DO)\b`)
	// repeatableStatement matches the statements that may be applied outside a transaction,
	// because they can be repeated after an interruption.
	repeatableStatement = pattern(`(CREATE (UNIQUE )?INDEX CONCURRENTLY|DROP INDEX CONCURRENTLY IF EXISTS|ALTER TABLE \S+ VALIDATE CONSTRAINT|ALTER INDEX IF EXISTS|DO)\b`)
)

// begin opens the transaction of a file that has one.
func (w *watcher) begin(ctx context.Context) (err error) {
	if w.tables, err = w.ask(ctx, tablesQuery); err != nil || w.repeatable {
		return err
	}
	if _, err = w.conn.ExecContext(ctx, "BEGIN"); err != nil {
		return err
	}
	w.seen, err = w.ask(ctx, touchedQuery)
	return err
}

func (w *watcher) end(ctx context.Context) error {
	if w.repeatable {
		return nil
	}
	_, err := w.conn.ExecContext(ctx, "COMMIT")
	return err
}

// exec applies a statement and returns how it would block clients.
func (w *watcher) exec(ctx context.Context, text string, exec func() error) (problems []string, err error) {
	for _, r := range rules {
		if r.always && r.pattern.MatchString(text) && !concurrently.MatchString(text) {
			problems = append(problems, "This keeps clients out: "+r.advice)
		}
	}
	switch {
	case w.repeatable && !repeatableStatement.MatchString(text):
		problems = append(problems, "Outside a transaction only what can be repeated after a break is allowed: CREATE INDEX CONCURRENTLY, DROP INDEX CONCURRENTLY IF EXISTS, VALIDATE CONSTRAINT, a DO block that commits in batches")
	case w.repeatable && block.MatchString(text) && writes.MatchString(text) && !commits.MatchString(text):
		problems = append(problems, "This holds the locks of all rows until it ends: COMMIT after each batch of about 1,000 rows")
	case !w.repeatable && concurrently.MatchString(text):
		return nil, fmt.Errorf("this must be%s\n\t%s", inFileOfItsOwn, firstLine(text))
	}
	if vacuum.MatchString(text) { // not possible in a transaction, and it changes no table
		return problems, nil
	}
	if w.repeatable && (concurrently.MatchString(text) || block.MatchString(text)) {
		return problems, exec()
	}
	if w.repeatable { // in a transaction of its own, to observe it
		if _, err := w.conn.ExecContext(ctx, "BEGIN"); err != nil {
			return nil, err
		}
		if w.seen, err = w.ask(ctx, touchedQuery); err != nil {
			return nil, err
		}
	}
	if err := exec(); err != nil {
		return nil, err
	}
	observed, err := w.observe(ctx, text)
	if err != nil {
		return nil, err
	}
	if len(problems) == 0 { // a rule above has already reported it
		problems = observed
	}
	if w.repeatable {
		_, err = w.conn.ExecContext(ctx, "COMMIT")
	}
	return problems, err
}

// observe compares the server's statistics with those before the statement.
func (w *watcher) observe(ctx context.Context, text string) (problems []string, err error) {
	locked, err := w.ask(ctx, lockedQuery)
	if err != nil {
		return nil, err
	}
	written, err := w.ask(ctx, writtenQuery)
	if err != nil {
		return nil, err
	}
	now, err := w.ask(ctx, touchedQuery)
	if err != nil {
		return nil, err
	}
	var touched, held, rows []string
	for _, oid := range slices.Sorted(maps.Keys(w.tables)) {
		table := w.tables[oid]
		if _, is := locked[oid]; is {
			held = append(held, table)
		}
		if state, is := now[oid]; is && scannedOrRewritten(w.seen[oid], state) && !slices.Contains(counters, table) {
			touched = append(touched, table)
		}
		if _, is := written[oid]; is && !slices.Contains(counters, table) {
			rows = append(rows, table)
		}
	}
	w.seen = now
	if len(held) > 0 && len(touched) > 0 {
		advice := "put it into a file of its own, so that the lock is released first"
		for _, r := range rules {
			if !r.always && r.pattern.MatchString(text) {
				advice = r.advice
				break
			}
		}
		problems = append(problems, fmt.Sprintf("This reads or rewrites all of %s while no one can write to %s: %s", strings.Join(touched, ", "), strings.Join(held, ", "), advice))
	}
	if len(rows) > 0 && writesFirst.MatchString(text) && writes.MatchString(text) {
		problems = append(problems, fmt.Sprintf("This holds the locks of all rows of %s that it changes until the file ends: write a DO block that commits after each 1,000 rows,%s", strings.Join(rows, ", "), inFileOfItsOwn))
	}
	return problems, nil
}

// scannedOrRewritten compares two results of touchedQuery for a table. A lower number of scans
// means nothing.
func scannedOrRewritten(before, after string) bool {
	oldScans, oldFile, _ := strings.Cut(before, " ")
	scans, file, _ := strings.Cut(after, " ")
	was, _ := strconv.Atoi(oldScans)
	is, _ := strconv.Atoi(scans)
	return file != oldFile || is > was
}

// ask runs a query for rows of a number and a text.
func (w *watcher) ask(ctx context.Context, query string) (map[int64]string, error) {
	rows, err := w.conn.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found := map[int64]string{}
	for rows.Next() {
		var key int64
		var value string
		if err := rows.Scan(&key, &value); err != nil {
			return nil, err
		}
		found[key] = value
	}
	return found, rows.Err()
}
