package seed

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"time"

	"chairside/internal/civil"
	"chairside/internal/store"
)

// Options say how much to make up. The zero value of each number is replaced
// by its default.
type Options struct {
	Patients   int   // of the main practice; DefaultPatients
	Years      int   // of history before AsOf; DefaultYears
	RandomSeed int64 // the same one makes the same data
	AsOf       civil.Date
	Progress   io.Writer // shows a bar while it is a terminal; nil for none
}

// The size of the demo.
const (
	DefaultPatients = 200
	DefaultYears    = 2
)

// Who signs in to the practices.
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

// ErrExists is returned by Run where the database has one of the practices.
var ErrExists = errors.New("the demo practice exists already")

// ErrOptions is returned by Run for options that make no sense.
var ErrOptions = errors.New("seed: patients and years must be positive, and the date must be given")

const (
	batchPatients    = 1000 // whose rows are held at a time
	unindexedFrom    = 3000 // patients from which an empty database is loaded without its indexes
	secondPatients   = 24
	practiceTimeZone = "Europe/London"
)

// Run fills db with the practices, in one transaction.
func Run(ctx context.Context, db *store.DB, o Options) error {
	if o.Patients == 0 {
		o.Patients = DefaultPatients
	}
	if o.Years == 0 {
		o.Years = DefaultYears
	}
	if o.Patients < 0 || o.Years < 0 || o.AsOf.IsZero() {
		return ErrOptions
	}
	empty, err := vacant(ctx, db.SQL)
	if err != nil {
		return err
	}
	zone, err := time.LoadLocation(practiceTimeZone)
	if err != nil {
		return fmt.Errorf("seed: %w", err)
	}
	all := new(batch).tables()
	names := make([]string, len(all))
	var numbered []string
	for i, t := range all {
		names[i] = t.name
		if t.numbered() {
			numbered = append(numbered, t.name)
		}
	}
	return db.BulkLoad(ctx, func(bulk *store.Bulk) error {
		load := func() error { return fill(ctx, bulk, zone, o, numbered) }
		if empty && o.Patients >= unindexedFrom {
			if err := bulk.Unindexed(ctx, names, load); err != nil {
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
		return bulk.Analyze(ctx, names...)
	})
}

// vacant reports whether there is no practice at all, and refuses a database
// that has one of ours.
func vacant(ctx context.Context, db *sql.DB) (bool, error) {
	var all, ours int
	err := db.QueryRowContext(ctx, "SELECT count(*), count(CASE WHEN slug IN ('"+DemoSlug+"', '"+SecondSlug+"') THEN 1 END) FROM practices").Scan(&all, &ours)
	switch {
	case err != nil:
		return false, fmt.Errorf("seed: look for practices: %w", err)
	case ours > 0:
		return false, ErrExists
	}
	return all == 0, nil
}

// fill makes up both practices. One goroutine makes up patients while the
// other writes those before.
func fill(ctx context.Context, bulk *store.Bulk, zone *time.Location, o Options, numbered []string) error {
	r := newRandom(o.RandomSeed)
	calendar := newCalendar(zone, o.AsOf, o.Years)
	ids := &ids{random: r, last: map[string]int64{}, epoch: uint64(calendar.at(0, 0).UnixMilli())}
	for _, table := range numbered {
		last, err := bulk.LastID(ctx, table)
		if err != nil {
			return err
		}
		ids.last[table] = last
	}
	bar := newProgress(o.Progress, o.Patients+secondPatients)
	defer bar.finish()

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	filled, emptied := make(chan *batch), make(chan *batch, 2)
	emptied <- new(batch)
	emptied <- new(batch)
	go func() {
		defer close(filled)
		swap := func(full *batch) (*batch, bool) {
			select {
			case filled <- full:
			case <-ctx.Done():
				return nil, false
			}
			select {
			case b := <-emptied:
				return b, true
			case <-ctx.Done():
				return nil, false
			}
		}
		out, ok := <-emptied, true
		hash := hashPassword(r)
		for _, b := range []blueprint{demoPractice(o.Patients), secondPractice()} {
			g := newGenerator(r, ids, calendar, b, hash, out)
			for g.remaining > 0 {
				g.populate(batchPatients)
				if g.out, ok = swap(g.out); !ok {
					return
				}
			}
			out = g.out
		}
	}()
	for b := range filled {
		patients := len(b.patients)
		if _, err := b.write(ctx, bulk); err != nil {
			return err
		}
		bar.add(patients)
		emptied <- b
	}
	return ctx.Err()
}
