package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"chairside/ent/appointment"
	"chairside/ent/patient"
	"chairside/ent/practice"
	"chairside/internal/audit"
	"chairside/internal/audit/chain"
	"chairside/internal/config"
	"chairside/internal/store"
	"chairside/internal/store/migrate"
	"chairside/internal/store/sealing"
)

type restoreCheckCommand struct {
	config.RestoreCheckFlags
	listing
}

// Help is the text of --help.
func (restoreCheckCommand) Help() string {
	return `Answers whether a copy is whole, such as a restored PostgreSQL database before a server uses it, or the file of a backup. It changes nothing, and reads every row. Checks:

  file           an embedded database: SQLite's integrity check
  migrations     the database has exactly the migrations of this program
  schema         tables, columns, indexes, triggers and functions are those of the schema
  foreign keys   no row names a row that does not exist
  totals         list totals match the rows
  audit log      no event was changed or is missing
  sealed values  the keys open every sealed value
  rows           there is data: the number of rows, with --format=json of each table, and the time of the newest

Prints each check with what was found and what mends it. The exit status is 1 if any failed or could not be run. On a read-only replica, and while the recovery of a restored database is paused, all checks but "schema" run. For PostgreSQL, sign in as the owner of the tables. The keys of a copy are those of its database: name them with --keys-file.`
}

// The results of a check.
const (
	passed  = "ok"
	failed  = "failed"
	skipped = "not checked"
)

// finding is the result of one check of a copy.
type finding struct {
	check, result, found, mend string
	rows                       map[string]int64 // of each table; nil for other checks
}

// Run prints the results and fails if a check does.
func (r *restoreCheckCommand) Run(c *console) (err error) {
	var public []audit.PublicKey
	for _, text := range r.PublicKey {
		key, err := audit.ParsePublicKey(text)
		if err != nil {
			return err
		}
		public = append(public, key)
	}
	db, err := store.OpenReadOnly(c, r.URL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := loadKeysBeside(db, r.Database(), db.File); err != nil {
		return err
	}
	findings, problems, left := c.checkCopy(db, public), 0, 0
	var cells [][]any
	lines := [][]string{{"CHECK", "RESULT", "FOUND"}}
	for _, f := range findings {
		switch f.result {
		case failed:
			problems++
		case skipped:
			left++
		}
		cells = append(cells, []any{f.check, f.result, f.found, f.mend, f.rows})
		lines = append(lines, []string{f.check, f.result, strings.TrimSuffix(f.found+": "+f.mend, ": ")})
	}
	if r.Format == "json" {
		err = r.print(c, []string{"CHECK", "RESULT", "FOUND", "TO DO", "ROWS"}, cells)
	} else {
		err = printWrapped(c.out, lines)
	}
	if err != nil {
		return err
	}
	if problems > 0 {
		return fmt.Errorf("the copy is not whole: %s failed", count(problems, "check"))
	}
	if left > 0 {
		return fmt.Errorf("no check failed, but %s could not be run", count(left, "check"))
	}
	fmt.Fprintln(c.err, "the copy is whole")
	return nil
}

// copyCheck returns what was found, the problems, and what mends them. After a problem of a grave
// one, the later checks mean nothing.
type copyCheck struct {
	name  string
	grave bool
	run   func(*console, *store.DB, []audit.PublicKey) (found string, problems []string, mend string, err error)
}

var copyChecks = []copyCheck{
	{"file", true, checkCopyFile},
	{"migrations", true, checkCopyMigrations},
	{"schema", true, checkCopySchema},
	{"foreign keys", false, checkCopyKeys},
	{"totals", false, checkCopyTotals},
	{"audit log", false, checkCopyAudit},
	{"sealed values", false, checkCopySealed},
}

// checkCopy runs all checks. public are further keys that may have signed cuts of the audit log.
func (c *console) checkCopy(db *store.DB, public []audit.PublicKey) (all []finding) {
	after := ""
	for _, check := range copyChecks {
		if after != "" {
			all = append(all, finding{check: check.name, result: skipped, found: "means nothing while this fails: " + after})
			continue
		}
		found, problems, mend, err := check.run(c, db, public)
		f := finding{check: check.name, result: passed, found: found}
		switch {
		case errors.Is(err, store.ErrReplica):
			f.result, f.found, f.mend = skipped, "it creates tables to compare, and "+store.ErrReplica.Error(), `promote the restored database with "SELECT pg_promote()", or check the primary`
		case err != nil:
			f.result, f.found, f.mend = failed, "cannot be checked: "+plainLine(err), mend
		case len(problems) > 0:
			f.result, f.found, f.mend = failed, summary(problems), mend
		}
		if all = append(all, f); f.result == failed && check.grave {
			after = check.name
		}
	}
	if after != "" {
		return append(all, finding{check: "rows", result: skipped, found: "means nothing while this fails: " + after})
	}
	return append(all, c.countCopy(db))
}

// shownProblems is the most problems of a check that are printed.
const shownProblems = 3

// summary joins problems on one line.
func summary(problems []string) string {
	text := oneLine(strings.Join(problems[:min(len(problems), shownProblems)], "; "))
	if more := len(problems) - shownProblems; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// plainLine returns the message of an error on one line, without the name of a Go package.
func plainLine(err error) string { return oneLine(packageName.ReplaceAllString(err.Error(), "")) }

func checkCopyFile(c *console, db *store.DB, _ []audit.PublicKey) (string, []string, string, error) {
	if db.File == "" {
		return "PostgreSQL checks pages as it reads them, if the cluster has checksums", nil, "", nil
	}
	problems, err := db.Damage(c)
	return "SQLite finds no damage", problems, "use another copy", err
}

func checkCopyMigrations(c *console, db *store.DB, _ []audit.PublicKey) (string, []string, string, error) {
	const found = "exactly those of this program"
	switch err := migrate.Check(c, db); {
	case err == nil:
		return found, nil, "", nil
	case errors.Is(err, migrate.ErrPending):
		return found, []string{err.Error()}, `run "chairside migrate up", then check again`, nil
	case errors.Is(err, migrate.ErrNewer):
		return found, []string{err.Error()}, "use the version of the program that wrote the copy", nil
	default:
		return found, []string{err.Error()}, "use another copy, or the program that wrote this one", nil
	}
}

func checkCopySchema(c *console, db *store.DB, _ []audit.PublicKey) (string, []string, string, error) {
	err := migrate.Verify(c, db)
	if drift := (*migrate.DriftError)(nil); errors.As(err, &drift) {
		return "", drift.Differences, "use another copy: objects are missing or were changed by hand", nil
	}
	if errors.Is(err, migrate.ErrTooOld) {
		return "", nil, "restore the copy to a newer PostgreSQL server", err
	}
	return "tables, columns, indexes, triggers and functions are those of the schema", nil, "sign in as the owner of the tables, who may create schemas", err
}

func checkCopyKeys(c *console, db *store.DB, _ []audit.PublicKey) (string, []string, string, error) {
	problems, err := db.DanglingKeys(c)
	return "each row that is named exists", problems, "use another copy: rows are missing", err
}

func checkCopyTotals(c *console, db *store.DB, _ []audit.PublicKey) (string, []string, string, error) {
	differences, err := db.Counters.Check(c)
	var problems []string
	for _, d := range differences {
		problems = append(problems, d.String())
	}
	return "list totals match the rows", problems, `rows are missing or were added without triggers: use another copy, or accept the rows with "chairside counters repair"`, err
}

func checkCopyAudit(c *console, db *store.DB, public []audit.PublicKey) (string, []string, string, error) {
	if db.AuditKey != nil {
		public = append(slices.Clone(public), db.AuditKey.Public())
	}
	r, err := chain.Verify(c, db, chain.VerifyOptions{Public: public})
	if err != nil {
		return "", nil, "", err
	}
	var problems []string
	for _, p := range r.Problems {
		problems = append(problems, p.String())
	}
	mend := `use another copy; "chairside audit verify" prints all problems`
	if r.Cuts > 0 && len(public) == 0 {
		mend = "old events were deleted: name the key that signed the cuts with --audit-key or --public-key"
	}
	return fmt.Sprintf("%s in %s; not sealed yet: %d", count(r.Entries, "event"), count(r.Blocks, "block"), r.Unsealed), problems, mend, nil
}

func checkCopySealed(c *console, db *store.DB, _ []audit.PublicKey) (string, []string, string, error) {
	if err := sealing.Check(c, db); err != nil {
		if lost := sealing.LostKeysError(""); errors.As(err, &lost) {
			return "", []string{string(lost)}, "", nil
		}
		return "", nil, "", err
	}
	opened, broken, err := sealing.Verify(c, db)
	var problems []string
	for _, b := range broken {
		problems = append(problems, packageName.ReplaceAllString(b.Error(), ""))
	}
	return "the keys open all " + count(opened, "value"), problems, "use another copy: these values were moved or changed", err
}

// countCopy counts the rows. A database without a practice is hardly the right one.
func (c *console) countCopy(db *store.DB) finding {
	f := finding{check: "rows", result: passed, rows: map[string]int64{}}
	tables, err := db.Rows(c)
	if err != nil {
		f.result, f.found = failed, "cannot be counted: "+plainLine(err)
		return f
	}
	total, newest := int64(0), store.TableRows{}
	for _, t := range tables {
		f.rows[t.Table] = t.Rows
		total += t.Rows
		if t.Newest.After(newest.Newest) {
			newest = t
		}
	}
	if f.rows[practice.Table] == 0 {
		f.result, f.found, f.mend = failed, "there is no practice", "is this the right database?"
		return f
	}
	f.found = fmt.Sprintf("%d in all; patients: %d, appointments: %d", total, f.rows[patient.Table], f.rows[appointment.Table])
	if !newest.Newest.IsZero() {
		f.found += fmt.Sprintf("; the newest is of %s, in %s", newest.Newest.Format(time.RFC3339), newest.Table)
	}
	return f
}
