// Command diff writes the next migration files from the difference between the
// schema, its kept totals included, and the files there are. Run it from the root of the repository:
//
//	go run ./internal/store/diff NAME      write VERSION_NAME.sql for each database that changed
//	go run ./internal/store/diff -check    write nothing; fail when there is a difference
//	go run ./internal/store/diff -hash     bring atlas.sum up to date after editing a file by hand
//
// An unreleased migration is written anew by deleting its files first, then NAME
// again.
//
// It replays the files on a throw-away database of each kind, so PostgreSQL's
// server programs must be installed, or -postgres URL name an empty database.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"ariga.io/atlas/sql/migrate"
	atlas "ariga.io/atlas/sql/schema"
	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"entgo.io/ent/dialect/sql/schema"

	"chairside/internal/clock"
	"chairside/internal/localpg"
	"chairside/internal/store"
)

const root = "internal/migrations"

// versionLayout is how a time becomes the version of a file.
const versionLayout = "20060102150405"

// directories are where each database's files are.
var directories = []struct{ dialect, path string }{
	{dialect.Postgres, filepath.Join(root, "postgres")},
	{dialect.SQLite, filepath.Join(root, "sqlite")},
}

var (
	errDiffers = errors.New("the schema differs from the migrations: go run ./internal/store/diff NAME")
	validName  = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
)

func main() {
	check := flag.Bool("check", false, "write nothing, fail when there is a difference")
	hash := flag.Bool("hash", false, "bring atlas.sum up to date")
	postgres := flag.String("postgres", "", "`URL` of an empty database to replay on, instead of a throw-away server")
	flag.Parse()
	named := flag.NArg() == 1 && validName.MatchString(flag.Arg(0))
	if *check == *hash && !named || (*check || *hash) && flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "usage: diff [-postgres URL] NAME | -check | -hash     (NAME of lower-case letters, digits and _)")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, flag.Arg(0), *postgres, *check, *hash); err != nil {
		fmt.Fprintln(os.Stderr, err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, name, postgres string, check, hash bool) error {
	if hash {
		for _, d := range directories {
			if err := rehash(d.path); err != nil {
				return err
			}
		}
		return nil
	}
	// The files of both databases get the same version.
	version := clock.Now(ctx).Format(versionLayout)
	changed := false
	for _, d := range directories {
		files, err := diff(ctx, d.dialect, d.path, postgres, version, name)
		if err != nil {
			return fmt.Errorf("%s: %w", d.path, err)
		}
		for _, f := range files {
			changed = true
			if check {
				fmt.Printf("-- %s would get:\n%s\n", d.path, f.Bytes())
				continue
			}
			path := filepath.Join(d.path, f.Name())
			if err := os.WriteFile(path, f.Bytes(), 0o644); err != nil {
				return err
			}
			if err := rehash(d.path); err != nil {
				return err
			}
			fmt.Println("wrote", path)
		}
	}
	switch {
	case changed && check:
		return errDiffers
	case !changed:
		fmt.Println("no changes")
	}
	return nil
}

// diff gives the files that bring the directory's migrations to the schema, none
// where they are there already.
func diff(ctx context.Context, dialectName, path, postgres, version, name string) ([]migrate.File, error) {
	local, err := migrate.NewLocalDir(path)
	if err != nil {
		return nil, err
	}
	old, err := local.Files()
	if err != nil {
		return nil, err
	}
	if len(old) > 0 {
		// A file that is gone was deleted to be written anew; one that has been
		// edited needs a second thought.
		var sum *migrate.ChecksumError
		if err := migrate.Validate(local); err != nil && !(errors.As(err, &sum) && sum.Reason == migrate.ReasonRemoved && name != "") {
			return nil, fmt.Errorf("%w (after editing a file: diff -hash)", err)
		}
		if last := old[len(old)-1].Version(); last >= version {
			return nil, fmt.Errorf("the last migration, %s, is newer than this machine's clock", last)
		}
	}
	// The engine writes into a copy in memory.
	copied := &migrate.MemDir{}
	if err := copied.CopyFiles(old); err != nil {
		return nil, err
	}
	sum, err := copied.Checksum()
	if err != nil {
		return nil, err
	}
	if err := migrate.WriteSumFile(copied, sum); err != nil {
		return nil, err
	}

	tables, err := store.Desired(dialectName)
	if err != nil {
		return nil, err
	}
	db, release, err := scratch(ctx, dialectName, postgres)
	if err != nil {
		return nil, err
	}
	defer release()
	options := []schema.MigrateOption{
		schema.WithDir(copied),
		schema.WithMigrationMode(schema.ModeReplay),
		schema.WithDialect(dialectName),
		schema.WithFormatter(formatter(version)),
		schema.WithIndent("  "),
		schema.WithDropColumn(true),
		schema.WithDropIndex(true),
		schema.WithErrNoPlan(true),
	}
	if dialectName == dialect.Postgres {
		options = append(options, schema.WithDiffHook(store.Expressions))
	}
	engine, err := schema.NewMigrate(entsql.OpenDB(dialectName, db.SQL), options...)
	if err != nil {
		return nil, err
	}
	if err := engine.NamedDiff(ctx, name, tables...); err != nil && !errors.Is(err, migrate.ErrNoPlan) {
		return nil, err
	}
	if err := addTotals(ctx, db, copied, version, name); err != nil {
		return nil, err
	}
	all, err := copied.Files()
	if err != nil {
		return nil, err
	}
	return all[len(old):], nil
}

// addTotals adds the steps that keep the totals: the first to the file that the
// engine has written, or to one of its own; each further one to a file with the
// next version. They come last: SQLite drops the triggers of a table that is
// rebuilt.
func addTotals(ctx context.Context, db *store.DB, dir *migrate.MemDir, version, name string) error {
	driver, err := db.Atlas()
	if err != nil {
		return err
	}
	executor, err := migrate.NewExecutor(driver, dir, migrate.NopRevisionReadWriter{})
	if err != nil {
		return err
	}
	var steps []store.Step
	_, err = executor.Replay(ctx, migrate.StateReaderFunc(func(ctx context.Context) (*atlas.Realm, error) {
		steps, err = db.PlanTotals(ctx)
		return &atlas.Realm{}, err
	}))
	if err != nil {
		return err
	}
	for _, s := range steps {
		file := fileName(version, name)
		if s.Name != "" {
			if version, err = following(version); err != nil {
				return err
			}
			file = fileName(version, strings.TrimPrefix(name+"_"+s.Name, "_"))
		}
		text, err := fs.ReadFile(dir, file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, statement := range s.Statements {
			text = append(text, statement+";\n"...)
		}
		if err := dir.WriteFile(file, text); err != nil {
			return err
		}
	}
	return nil
}

func fileName(version, name string) string {
	if name == "" {
		return version + ".sql"
	}
	return version + "_" + name + ".sql"
}

// following is the version of the next file of a migration: a second later.
func following(version string) (string, error) {
	t, err := time.Parse(versionLayout, version)
	return t.Add(time.Second).Format(versionLayout), err
}

// formatter is the usual format with a given version.
type formatter string

func (version formatter) Format(plan *migrate.Plan) ([]migrate.File, error) {
	plan.Version = string(version)
	return migrate.DefaultFormatter.Format(plan)
}

// scratch gives an empty database of a dialect, on PostgreSQL the one at the URL
// postgres if there is one, and what removes it.
func scratch(ctx context.Context, dialectName, postgres string) (*store.DB, func(), error) {
	if dialectName == dialect.SQLite {
		dir, err := os.MkdirTemp("", "chairside-diff-*")
		if err != nil {
			return nil, nil, err
		}
		return open(ctx, "sqlite:"+filepath.Join(dir, "scratch.db"), func() { os.RemoveAll(dir) })
	}
	if postgres != "" {
		return open(ctx, postgres, func() {})
	}
	server, err := localpg.Start(ctx)
	if err != nil {
		return nil, nil, err
	}
	return open(ctx, server.URL("postgres"), func() { server.Stop() })
}

func open(ctx context.Context, url string, remove func()) (*store.DB, func(), error) {
	db, err := store.Open(ctx, url)
	if err != nil {
		remove()
		return nil, nil, err
	}
	return db, func() {
		db.Close()
		remove()
	}, nil
}

// rehash writes a directory's atlas.sum.
func rehash(path string) error {
	dir, err := migrate.NewLocalDir(path)
	if err != nil {
		return err
	}
	sum, err := dir.Checksum()
	if err != nil {
		return err
	}
	return migrate.WriteSumFile(dir, sum)
}
