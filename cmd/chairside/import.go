package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"chairside/internal/config"
	"chairside/internal/dump"
	"chairside/internal/importer"
	"chairside/internal/store"
)

type importCommand struct{ config.ImportFlags }

// Help is the text of --help.
func (importCommand) Help() string {
	return `An export of this program's goes into an empty database, whole or not at all.

CSV files of another system go into a practice, as mapping.yaml beside them says:

  source: oldsoft
  dates: [DD/MM/YYYY]
  files:
    - file: patients.csv
      entity: patients
      id: PatNo
      columns: {Surname: last_name, DOB: date_of_birth, Sex: gender}
      constants: {payment_plan_id: Private, ethnicity: "99"}

Prints what became of the rows of each file. The exit status is 0 when all rows went in, and 1 when some were refused (the others are in), or the import failed.

` + importer.Guide
}

// Run imports what there is in the directory.
func (i *importCommand) Run(c *console) error {
	flags, err := i.Read()
	if err != nil {
		return err
	}
	native := flags.Mapping == "" && dump.IsExport(flags.Dir)
	if flags.Mapping == "" && !native {
		if flags.Mapping, err = importer.FindMapping(flags.Dir); err != nil {
			return err
		}
	}
	useMemory(importGarbage)
	open := c.withDatabase // files of another system need a practice to go into
	if native {
		open = c.withNewDatabase
	}
	return open(flags.Database, func(db *store.DB) error {
		if native {
			return c.restore(db, flags)
		}
		return c.importFiles(db, flags)
	})
}

// restore reads an export of this program's.
func (c *console) restore(db *store.DB, flags config.ImportFlags) error {
	show, finish := c.bar()
	defer finish()
	done, err := dump.Restore(c, db, flags.Dir, dump.RestoreOptions{DryRun: flags.DryRun, Progress: show})
	switch {
	case err != nil:
		return err
	case done.Already:
		fmt.Fprintln(c.err, "this export has been imported already; nothing to do")
		return nil
	}
	return printJSON(c.out, map[string]int64{"rows": done.Rows})
}

// importFiles reads the files of another system.
func (c *console) importFiles(db *store.DB, flags config.ImportFlags) error {
	show, finish := c.bar()
	defer finish()
	report, err := importer.Import(c, db, flags.Dir, importer.Options{
		Mapping: flags.Mapping, Practice: flags.Practice, Rejects: flags.Rejects, DryRun: flags.DryRun, Progress: show,
	})
	if err != nil {
		return err
	}
	if report.Resumed {
		fmt.Fprintln(c.err, "went on where an import of the same files was stopped")
	}
	for _, file := range slices.Sorted(maps.Keys(report.Ignored)) {
		fmt.Fprintf(c.err, "%s: columns that go nowhere: %s\n", file, strings.Join(report.Ignored[file], ", "))
	}
	table := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "FILE\tRECORDS\tROWS\tCREATED\tUPDATED\tUNCHANGED\tREJECTED")
	for _, f := range report.Files {
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%d\t%d\t%d\n", f.File, f.Entity, f.Rows, f.Created, f.Updated, f.Unchanged, f.Rejected)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	out := flags.Rejects
	if out == "" {
		out = filepath.Join(flags.Dir, "rejects")
	}
	if report.Warnings+report.Differences > 0 {
		fmt.Fprintf(c.err, "in %s: warnings %d, totals that differ from the source's %d\n", filepath.Join(out, importer.Findings), report.Warnings, report.Differences)
	}
	if n := report.Rejected(); n > 0 {
		return fmt.Errorf("rows refused: %d; they are in %s, each with its reason", n, out)
	}
	return nil
}
