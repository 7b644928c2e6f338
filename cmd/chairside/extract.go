package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"chairside/ent"
	"chairside/internal/audit/trail"
	"chairside/internal/config"
	"chairside/internal/events/extract"
	"chairside/internal/events/feed"
	"chairside/internal/server"
	"chairside/internal/store"
	"chairside/ogent"
)

type extractCommand struct{ config.ExtractFlags }

// Help is the text of --help.
func (extractCommand) Help() string {
	return `Writes one practice's records for other programs, such as a data warehouse: a Parquet or NDJSON file for each resource, with a JSON Schema. The first run writes all records. Each later run with the same folder writes the records that have changed since, and which were deleted, to new files: run it every night. Files of earlier runs never change. Safe while the server runs.

Prints the number of the run, its rows and the cursor at which the next run begins; a manifest in the folder has the same. If a run is interrupted, run it again. If more than the changes' retention has passed (14 days, see "chairside serve --changes-retention"), or the database was restored, extract everything again into an empty folder.

The folder holds patients' data, and only its owner can read it. The audit log records each run. See the guide "Files for a data warehouse". For "chairside import", use "chairside export".`
}

// extracted is what "extract" prints.
type extracted struct {
	Run     int    `json:"run"`
	Records int64  `json:"records"`
	Deleted int64  `json:"deleted"`
	Cursor  string `json:"cursor"`
}

// Run writes the files of one run.
func (e *extractCommand) Run(c *console) error {
	if err := checkResources(e.Resources); err != nil {
		return err
	}
	return c.withDatabase(e.Database, func(db *store.DB) (err error) {
		p, err := e.practice(c, db)
		if err != nil {
			return err
		}
		ctx, err := c.actFor(p)
		if err != nil {
			return err
		}
		folder, err := extract.Open(e.Dir)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, folder.Close()) }()
		last := folder.Last()
		show, finish := c.progressBar()
		defer finish()
		options := extract.Options{
			Practice: extract.Practice{ID: p.ID.String(), Name: p.Name, Slug: p.Slug},
			Format:   extract.Format(e.Format), Resources: e.Resources, Since: e.Since, Unsealed: e.Unsealed,
		}
		if show != nil {
			options.Progress = func(resource string, rows int64) { show(resource, rows, 0) }
		}
		unsealed := e.Unsealed || last != nil && last.Unsealed
		if err := c.audited(ctx, db, trail.Entry{Action: "export", Record: "extract", Details: map[string]any{"unsealed": unsealed}}); err != nil {
			return err
		}
		m, err := extract.Run(ctx, folder, feed.New(db), server.Reads(db), options)
		if errors.Is(err, extract.ErrCursor) {
			return config.Mistakes{"--since: " + err.Error()}
		}
		if err != nil {
			return err
		}
		finish()
		records, deleted := m.Rows()
		return printJSON(c.out, extracted{m.Run, records, deleted, m.Cursor})
	})
}

// practice finds the practice before the folder is created, so that a mistake leaves none.
func (e *extractCommand) practice(c *console, db *store.DB) (*ent.Practice, error) {
	if e.Practice != "" {
		return c.practice(db, e.Practice)
	}
	last, err := extract.ReadLast(e.Dir)
	switch {
	case err != nil:
		return nil, err
	case last == nil:
		return c.practice(db, "")
	}
	return c.practice(db, last.Practice.ID)
}

// checkResources reports names that are not resources of the change feed.
func checkResources(names []string) error {
	known := slices.Sorted(maps.Keys(ogent.Resources))
	for _, name := range names {
		if !slices.Contains(known, name) {
			return config.Mistakes{fmt.Sprintf("--resources: there is no %q: must be some of %s", name, strings.Join(known, ", "))}
		}
	}
	return nil
}
