package seed

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sync/errgroup"

	"chairside/internal/civil"
	"chairside/internal/seal"
	"chairside/internal/store"
	"chairside/internal/store/bulk"
)

// Options set the size of the data. Zero numbers mean the defaults.
type Options struct {
	Patients   int        // of the main practice; DefaultPatients
	Years      int        // of history before AsOf; DefaultYears
	RandomSeed int64      // the same seed generates the same data
	AsOf       civil.Date // last day of the history, which ends at ten o'clock in the morning; or
	Now        time.Time  // the minute at which the history ends
	Progress   io.Writer  // shows a progress bar if it is a terminal; nil for none
}

// The size of the demo.
const (
	DefaultPatients = groupPatients
	DefaultYears    = 1
)

// The administrators of the practices. All users have the same password.
const (
	Password    = "demo-password"
	DemoAdmin   = "admin@demo.chairside.test"
	SecondAdmin = "admin@second.chairside.test"
)

// The slugs of the practices.
const (
	DemoSlug   = "demo"
	SecondSlug = "second"
)

// ErrExists means that the database has one of the practices.
var ErrExists = errors.New("the demo practice already exists: use another database")

// ErrOptions means invalid options.
var ErrOptions = errors.New("patients and years must be positive, and either the date or the time is required")

const (
	batchPatients    = 1000 // patients per batch
	unindexedFrom    = 1000 // patients from which an empty database is loaded without indexes
	secondPatients   = 24
	practiceTimeZone = "Europe/London"
)

// Run creates the practices in one transaction. It fails with ErrExists and ErrOptions.
func Run(ctx context.Context, db *store.DB, o Options) error {
	if o.Patients == 0 {
		o.Patients = DefaultPatients
	}
	if o.Years == 0 {
		o.Years = DefaultYears
	}
	if o.Patients < 0 || o.Years < 0 || o.AsOf.IsZero() == o.Now.IsZero() {
		return ErrOptions
	}
	empty, err := hasNoPractices(ctx, db.SQL)
	if err != nil {
		return err
	}
	zone, err := time.LoadLocation(practiceTimeZone)
	if err != nil {
		return fmt.Errorf("create the demo data: %w", err)
	}
	if o.Now.IsZero() {
		o.Now = morning(zone, o.AsOf)
	}
	tables, numbered := tableNames()
	bar := newProgress(o.Progress, o.Patients+secondPatients)
	defer bar.finish()
	return bulk.Load(ctx, db, func(bulk *bulk.Tx) error {
		load := func() error { return fill(ctx, bulk, db.Keys, zone, o, numbered, bar) }
		if empty && o.Patients >= unindexedFrom {
			if err := bulk.Unindexed(ctx, tables, load); err != nil {
				return err
			}
		} else {
			if err := bulk.Lock(ctx, numbered...); err != nil {
				return err
			}
			if err := load(); err != nil {
				return err
			}
		}
		if err := bulk.ResetSequences(ctx, numbered...); err != nil {
			return err
		}
		return bulk.Analyze(ctx, tables...)
	})
}

// hasNoPractices reports whether the database holds no practice. It fails with ErrExists.
func hasNoPractices(ctx context.Context, db *sql.DB) (bool, error) {
	var all, ours int
	err := db.QueryRowContext(ctx, "SELECT count(*), count(CASE WHEN slug IN ('"+DemoSlug+"', '"+SecondSlug+"') THEN 1 END) FROM practices").Scan(&all, &ours)
	switch {
	case err != nil:
		return false, fmt.Errorf("find the practices: %w", err)
	case ours > 0:
		return false, ErrExists
	}
	return all == 0, nil
}

// fill generates both practices. Two batches take turns: while one is written, the other
// is filled with the next rows.
func fill(ctx context.Context, bulk *bulk.Tx, keys *seal.Keys, zone *time.Location, o Options, numbered []string, bar *progress) error {
	last, err := lastIDs(ctx, bulk, numbered)
	if err != nil {
		return err
	}
	full, empty := make(chan *batch), make(chan *batch, 2)
	empty <- new(batch)
	empty <- new(batch)
	work, ctx := errgroup.WithContext(ctx)
	work.Go(func() error {
		defer close(full)
		return generate(ctx, newCalendar(zone, o.Now, o.Years), o, last, empty, full)
	})
	work.Go(func() error {
		for b := range full {
			patients := len(b.patients)
			if err := b.write(ctx, bulk, keys); err != nil {
				return err
			}
			bar.add(patients)
			empty <- b
		}
		bar.describe("indexes")
		return nil
	})
	return work.Wait()
}

// lastIDs returns the highest integer id of each table.
func lastIDs(ctx context.Context, bulk *bulk.Tx, tables []string) (map[string]int64, error) {
	last := map[string]int64{}
	for _, table := range tables {
		id, err := bulk.LastID(ctx, table)
		if err != nil {
			return nil, err
		}
		last[table] = id
	}
	return last, nil
}

// generate fills empty batches with the practices in turn.
func generate(ctx context.Context, c *calendar, o Options, last map[string]int64, empty <-chan *batch, full chan<- *batch) error {
	r := newRandom(o.RandomSeed)
	ids := newIDs(o.RandomSeed, last)
	hash := hashPassword(r)
	for _, b := range []blueprint{demoPractice(o.Patients), secondPractice()} {
		var g *generator
		for g == nil || g.remaining > 0 {
			out, err := receive(ctx, empty)
			if err != nil {
				return err
			}
			if g == nil {
				g = newGenerator(r, ids, c, b, hash, out)
			}
			g.out = out
			g.populate(batchPatients)
			if err := send(ctx, full, out); err != nil {
				return err
			}
		}
	}
	return nil
}

// receive receives a value, unless ctx ends first.
func receive[T any](ctx context.Context, from <-chan T) (value T, err error) {
	select {
	case value = <-from:
		return value, nil
	case <-ctx.Done():
		return value, ctx.Err()
	}
}

// send sends a value, unless ctx ends first.
func send[T any](ctx context.Context, to chan<- T, value T) error {
	select {
	case to <- value:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
