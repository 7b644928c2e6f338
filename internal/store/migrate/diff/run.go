package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	engine "ariga.io/atlas/sql/migrate"
	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql/schema"

	"chairside/internal/clock"
	"chairside/internal/store"
	"chairside/internal/store/analyst"
	"chairside/internal/store/migrate/lint"
	"chairside/internal/store/migrate/plan"
	"chairside/internal/test/localpg"
)

const root = "internal/store/migrate/migrations"

var errDiffers = errors.New("the schema differs from the migrations: go run ./internal/store/migrate/diff NAME")

// command is one run of diff.
type command struct {
	root        string // of the directories of migrations
	tables      func(dialectName string) ([]*schema.Table, error)
	check, hash bool
	postgres    string // URL of the database to use, "" for a server of its own
	request     *plan.Request
	out         io.Writer
}

// directory is the directory with the files of one database.
type directory struct {
	dialect, path string
	old, fresh    []engine.File
}

func (c *command) run(ctx context.Context) error {
	directories := []*directory{
		{dialect: dialect.Postgres, path: filepath.Join(c.root, "postgres")},
		{dialect: dialect.SQLite, path: filepath.Join(c.root, "sqlite")},
	}
	if c.hash {
		for _, d := range directories {
			if err := rehash(d.path); err != nil {
				return err
			}
		}
		return nil
	}
	for _, d := range directories {
		if err := c.read(d); err != nil {
			return fmt.Errorf("%s: %w", d.path, err)
		}
		// The files of both databases begin with the same version.
		version, err := plan.Next(d.old, clock.Now(ctx))
		if err != nil && !c.check {
			return fmt.Errorf("%s: %w", d.path, err)
		}
		c.request.Version = max(c.request.Version, version, plan.VersionLayout)
	}
	if err := c.plan(ctx, directories); err != nil {
		return err
	}
	return c.write(directories)
}

// read reads the existing files of a directory.
func (c *command) read(d *directory) error {
	if err := os.MkdirAll(d.path, 0o755); err != nil {
		return err
	}
	local, err := engine.NewLocalDir(d.path)
	if err != nil {
		return err
	}
	if d.old, err = local.Files(); err != nil || len(d.old) == 0 {
		return err
	}
	// A missing file was deleted to be rewritten, which is fine. An edited one may be a mistake.
	var sum *engine.ChecksumError
	if err := engine.Validate(local); err != nil && !(errors.As(err, &sum) && sum.Reason == engine.ReasonRemoved && !c.check) {
		return fmt.Errorf("%w (after editing a file: diff -hash)", err)
	}
	return nil
}

// plan plans the new files of all directories and judges them with the old ones.
func (c *command) plan(ctx context.Context, directories []*directory) error {
	databases := &scratch{postgres: c.postgres}
	defer databases.close()
	var problems, refusals, findings []string
	var used []map[string]bool
	for _, d := range directories {
		err := databases.use(ctx, d.dialect, func(db *store.DB) error {
			tables, err := c.tables(d.dialect)
			if err != nil {
				return err
			}
			fresh, flags, err := plan.Write(ctx, db, d.old, tables, c.request)
			d.fresh, used = fresh, append(used, flags)
			return err
		})
		var refused *plan.RefusedError
		if errors.As(err, &refused) {
			for _, problem := range refused.Problems {
				if !slices.Contains(problems, problem) { // most problems are the same for both databases
					problems = append(problems, problem)
				}
			}
			refusals = append(refusals, d.path)
		} else if err != nil {
			return fmt.Errorf("%s: %w", d.path, err)
		}
	}
	if len(refusals) > 0 {
		return fmt.Errorf("%s: %w", strings.Join(refusals, ", "), &plan.RefusedError{Problems: problems})
	}
	if unused := plan.Unused(c.request, used...); len(unused) > 0 {
		return fmt.Errorf("no change of the schema matches these flags:\n\t%s", strings.Join(unused, "\n\t"))
	}
	for _, d := range directories {
		err := databases.use(ctx, d.dialect, func(db *store.DB) error {
			found, err := lint.Check(ctx, db, append(d.old[:len(d.old):len(d.old)], d.fresh...))
			for _, f := range found {
				findings = append(findings, filepath.Join(d.path, f.String()))
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("%s: %w", d.path, err)
		}
	}
	if len(findings) > 0 {
		return fmt.Errorf("unsafe migrations:\n\n%s\n\nChange them, or write above the statement:\n-- atlas:nolint ANALYZER\n-- Because: …", strings.Join(findings, "\n"))
	}
	return nil
}

// write writes the planned files, or with -check fails because of them.
func (c *command) write(directories []*directory) error {
	changed := false
	for _, d := range directories {
		for _, f := range d.fresh {
			changed = true
			path := filepath.Join(d.path, f.Name())
			if c.check {
				fmt.Fprintf(c.out, "-- would write %s:\n%s\n", path, f.Bytes())
				continue
			}
			if err := os.WriteFile(path, f.Bytes(), 0o644); err != nil {
				return err
			}
			fmt.Fprintln(c.out, "wrote", path)
		}
		if len(d.fresh) > 0 && !c.check {
			if err := rehash(d.path); err != nil {
				return err
			}
		}
	}
	switch {
	case changed && c.check:
		return errDiffers
	case !changed:
		fmt.Fprintln(c.out, "no changes")
	}
	return nil
}

// rehash writes a directory's atlas.sum.
func rehash(path string) error {
	dir, err := engine.NewLocalDir(path)
	if err != nil {
		return err
	}
	sum, err := dir.Checksum()
	if err != nil {
		return err
	}
	return engine.WriteSumFile(dir, sum)
}

// scratch provides empty databases.
type scratch struct {
	postgres string // URL
	server   *localpg.Server
}

// use calls work with an empty database of a dialect, and empties that again.
func (s *scratch) use(ctx context.Context, dialectName string, work func(db *store.DB) error) error {
	if dialectName == dialect.SQLite {
		dir, err := os.MkdirTemp("", "chairside-diff-*")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		return open(ctx, "sqlite:"+filepath.Join(dir, "scratch.db"), work)
	}
	address := s.postgres
	if address == "" {
		if s.server == nil {
			server, err := localpg.Start(ctx)
			if err != nil {
				return err
			}
			s.server = server
		}
		address = s.server.URL("postgres")
	}
	address, err := withoutNestedLoops(address)
	if err != nil {
		return err
	}
	return open(ctx, address, func(db *store.DB) (err error) {
		var tables int
		if err := db.SQL.QueryRowContext(ctx, "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace").Scan(&tables); err != nil {
			return err
		}
		if tables > 0 {
			return errors.New("the database at -postgres is not empty")
		}
		defer func() {
			_, emptied := db.SQL.ExecContext(context.WithoutCancel(ctx), "DROP SCHEMA IF EXISTS "+analyst.Schema+" CASCADE; DROP SCHEMA public CASCADE; CREATE SCHEMA public")
			err = errors.Join(err, emptied)
		}()
		return work(db)
	})
}

// withoutNestedLoops speeds up the inspection of a schema of many tables: PostgreSQL would
// group all constraints once for each index.
func withoutNestedLoops(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", fmt.Errorf("-postgres: %w", err)
	}
	query := u.Query()
	query.Set("enable_nestloop", "off")
	u.RawQuery = query.Encode()
	return u.String(), nil
}

func (s *scratch) close() {
	if s.server != nil {
		s.server.Stop()
	}
}

func open(ctx context.Context, url string, work func(db *store.DB) error) error {
	db, err := store.Open(ctx, url)
	if err != nil {
		return err
	}
	return errors.Join(work(db), db.Close())
}
