package main

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/google/uuid"

	"chairside/internal/audit/chain"
	"chairside/internal/audit/trail"
	"chairside/internal/config"
	"chairside/internal/dump"
	"chairside/internal/importer"
	"chairside/internal/principal"
	"chairside/internal/report"
	"chairside/internal/store"
	"chairside/internal/store/sealing"
)

// errOnlyPractice refuses flags that another import would ignore.
var errOnlyPractice = errors.New("--id-map, --slug and --email are for an export of one practice")

// errNoMappingUsed refuses --explain for an export of this program.
var errNoMappingUsed = errors.New("--explain is for CSV files with a mapping: an export of this program needs none")

type importCommand struct{ config.ImportFlags }

// Help is the text of --help.
func (importCommand) Help() string {
	return `An export goes into an empty database, in full or not at all.

An export of one practice ("chairside export --practice") goes into any database, in full or not at all. Ids that the database already uses get new ones, and every reference follows; --id-map lists them. Its users have no passwords: set them with "chairside user reset-password". If another practice has the short name or an e-mail address, the command lists all such conflicts and writes nothing: choose others with --slug and --email. The audit log is imported only if no id changes; otherwise keep the export, whose files are the evidence.

CSV files from another system go into a practice. A mapping.yaml beside them maps their columns:

  source: oldsoft
  dates: [DD/MM/YYYY]
  files:
    - file: patients.csv
      entity: patients
      id: PatNo
      columns: {Surname: last_name, DOB: date_of_birth, Sex: gender}
      constants: {payment_plan_id: Private, ethnicity: "99"}

For the files of well-known systems there are ready mappings: --mapping opendental. "chairside mapping" lists them.

From a server with an API like Chairside's, --from-api downloads the records that the token may read into CSV files, and imports them:

  chairside import --from-api https://dental.example.com --token-file token.txt --practice bright download

The files hold patients' data, and only their owner can read them. The token comes from a file or from the environment variable CHAIRSIDE_TOKEN, never from an argument. An interrupted download continues when the same command runs again. Pauses of the server's rate limit are waited for. What changes during the download may be missing: a second download into another directory updates it.

Prints the number of rows created, updated and rejected per file. The exit status is 0 if all rows were imported, and 1 if some were rejected (the others are imported) or the import failed.

` + helpText(importer.Guide)
}

// helpText turns Markdown into the format of help texts (go/doc), which knows neither fences nor
// lists without indentation.
func helpText(markdown string) string {
	var text strings.Builder
	fenced := false
	for line := range strings.Lines(markdown) {
		fence := strings.HasPrefix(line, "```")
		switch {
		case fence:
			fenced = !fenced
			continue
		case fenced && line != "\n", strings.HasPrefix(line, "- "), strings.HasPrefix(line, "  "):
			text.WriteString("  ")
		case strings.HasPrefix(line, "#"):
			line = "# " + strings.TrimLeft(line, "# ")
		}
		text.WriteString(line)
	}
	return text.String()
}

// Run imports the files in the directory.
func (i *importCommand) Run(c *console) error {
	flags, err := i.Read()
	if err != nil {
		return err
	}
	native := flags.Mapping == "" && flags.FromAPI == "" && dump.IsExport(flags.Dir)
	if flags.Mapping == "" && flags.FromAPI == "" && !native {
		if flags.Mapping, err = importer.FindMapping(flags.Dir); err != nil {
			return err
		}
	}
	practice := false
	if native {
		if practice, err = dump.IsOfPractice(flags.Dir); err != nil {
			return err
		}
	}
	if !practice && (flags.IDMap != "" || flags.Slug != "" || len(flags.Email) > 0) {
		return errOnlyPractice
	}
	if native && flags.Explain {
		return errNoMappingUsed
	}
	tuneGarbageCollector(importGCPercent)
	open := c.withDatabase // CSV files need a practice
	if native {
		open = c.withNewDatabase
	}
	return open(flags.Database, func(db *store.DB) error {
		if flags.FromAPI != "" {
			if err := c.downloadFor(db, flags); err != nil {
				return err
			}
		}
		switch {
		case practice:
			return c.importPractice(db, flags)
		case native:
			return c.restore(db, flags)
		case flags.Explain:
			return c.explainFiles(db, flags)
		}
		return c.importFiles(db, flags)
	})
}

// downloadFor downloads the records of an API into the directory, once the practice for them is clear.
// A mapping in the directory may name the practice.
func (c *console) downloadFor(db *store.DB, flags config.ImportFlags) error {
	if _, err := importer.FindMapping(flags.Dir); errors.Is(err, importer.ErrNoMapping) {
		if err := importer.CheckPractice(c, db, flags.Practice); err != nil {
			return err
		}
	}
	return c.download(flags.API, flags.Dir)
}

// restore imports an export of this program.
func (c *console) restore(db *store.DB, flags config.ImportFlags) error {
	show, finish := c.progressBar()
	defer finish()
	done, err := dump.Restore(c, db, flags.Dir, dump.RestoreOptions{DryRun: flags.DryRun, Progress: show})
	switch {
	case err != nil:
		return err
	case done.Already:
		fmt.Fprintln(c.err, "nothing to do: this export is already imported")
		return nil
	}
	if !flags.DryRun {
		if err := chain.SealRestored(c, db); err != nil {
			return err
		}
		if err := c.audited(c, db, trail.Entry{Action: "import", Record: filepath.Base(flags.Dir)}); err != nil {
			return err
		}
		if err := sealing.Check(c, db); err != nil { // the rows are imported all the same
			fmt.Fprintf(c.err, "before you start a server: %v\n", err)
		}
	}
	finish()
	if err := printJSON(c.out, map[string]int64{"rows": done.Rows}); err != nil {
		return err
	}
	c.sayImported(done.Rows, flags)
	return nil
}

// sayImported says what an import of an export did.
func (c *console) sayImported(rows int64, flags config.ImportFlags) {
	if flags.DryRun {
		fmt.Fprintf(c.err, "checked %s of %s, and imported nothing\n", count(rows, "row"), flags.Dir)
		return
	}
	fmt.Fprintf(c.err, "imported %s of %s\n", count(rows, "row"), flags.Dir)
}

// importPractice imports an export of one practice.
func (c *console) importPractice(db *store.DB, flags config.ImportFlags) error {
	show, finish := c.progressBar()
	defer finish()
	done, err := dump.ImportPractice(c, db, flags.Dir, dump.PracticeOptions{
		Slug: flags.Slug, Emails: flags.Email, IDMap: flags.IDMap, DryRun: flags.DryRun, Progress: show,
	})
	switch {
	case err != nil:
		return err
	case done.Already:
		fmt.Fprintln(c.err, "nothing to do: this export is already imported")
		return nil
	}
	if !flags.DryRun {
		if done.Audit {
			if err := chain.SealRestored(c, db); err != nil {
				return err
			}
		}
		if err := c.auditImport(db, flags, done.ID); err != nil {
			return err
		}
	}
	if !done.Audit {
		fmt.Fprintln(c.err, "the audit log is not imported, because its hashes cover ids that change: keep the export as evidence")
	}
	finish()
	if err := printJSON(c.out, done); err != nil {
		return err
	}
	c.sayImported(done.Rows, flags)
	return nil
}

// auditImport notes an import in the audit log of the practice.
func (c *console) auditImport(db *store.DB, flags config.ImportFlags, practice string) error {
	id, err := uuid.Parse(practice)
	if err != nil {
		return err
	}
	ctx := principal.With(c, &principal.Principal{PracticeID: id})
	return c.audited(ctx, db, trail.Entry{Action: "import", Record: filepath.Base(flags.Dir)})
}

// explainFiles prints how CSV files from another system will be read.
func (c *console) explainFiles(db *store.DB, flags config.ImportFlags) error {
	files, err := importer.Explain(c, db, flags.Dir, importer.Options{Mapping: flags.Mapping, Practice: flags.Practice})
	if err != nil {
		return err
	}
	for i, f := range files {
		if i > 0 {
			fmt.Fprintln(c.out)
		}
		fmt.Fprintf(c.out, "%s: %s (%s)\n", f.File, f.Entity, f.Format)
		table := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
		for _, field := range f.Fields {
			for j := range field {
				field[j] = report.Printable(strings.ReplaceAll(field[j], "\n", " "))
			}
			fmt.Fprintln(table, "  "+strings.Join(field, "\t"))
		}
		if err := table.Flush(); err != nil {
			return err
		}
		if len(f.Ignored) > 0 {
			fmt.Fprintf(c.out, "  not imported: %s\n", strings.Join(f.Ignored, ", "))
		}
		if len(f.Missing) > 0 {
			fmt.Fprintf(c.out, "  not in the file: %s\n", strings.Join(f.Missing, ", "))
		}
	}
	return nil
}

// importFiles imports CSV files from another system.
func (c *console) importFiles(db *store.DB, flags config.ImportFlags) error {
	show, finish := c.progressBar()
	defer finish()
	result, err := importer.Import(c, db, flags.Dir, importer.Options{
		Mapping: flags.Mapping, Practice: flags.Practice, Rejects: flags.Rejects, DryRun: flags.DryRun, Progress: show,
		Downloaded: flags.FromAPI != "",
	})
	if err != nil {
		return err
	}
	if !flags.DryRun {
		if err := c.auditImport(db, flags, result.Practice); err != nil {
			return err
		}
	}
	if result.Resumed {
		fmt.Fprintln(c.err, "resumed an interrupted import of the same files")
	}
	if len(result.Missing) > 0 {
		fmt.Fprintf(c.err, "files of the mapping that are not there: %s\n", strings.Join(result.Missing, ", "))
	}
	for _, file := range slices.Sorted(maps.Keys(result.Ignored)) {
		fmt.Fprintf(c.err, "%s: columns not imported: %s\n", file, strings.Join(result.Ignored[file], ", "))
	}
	table := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "FILE\tRECORDS\tROWS\tCREATED\tUPDATED\tUNCHANGED\tREJECTED")
	for _, f := range result.Files {
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%d\t%d\t%d\n", f.File, f.Entity, f.Rows, f.Created, f.Updated, f.Unchanged, f.Rejected)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	out := flags.Rejects
	if out == "" {
		out = filepath.Join(flags.Dir, "rejects")
	}
	if result.Warnings+result.Differences > 0 {
		fmt.Fprintf(c.err, "see %s: warnings: %d, totals that differ from the source: %d\n", filepath.Join(out, importer.Findings), result.Warnings, result.Differences)
	}
	if n := result.Rejected(); n > 0 {
		return fmt.Errorf("rows rejected: %d; see the reasons in %s", n, out)
	}
	return nil
}
