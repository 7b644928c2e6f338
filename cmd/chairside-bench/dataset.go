package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"chairside/cmd/chairside-bench/load"
	"chairside/internal/civil"
	"chairside/internal/scope"
	"chairside/internal/seed"
)

// The servers of a dataset.
const (
	chairside       = "chairside"
	handWritten     = "floor"
	equalPromises   = "floor, equal promises" // for writing workloads
	chairsideSQLite = "chairside on SQLite"
)

// entry is a server with its token.
type entry struct {
	*server
	token  string
	sqlite bool // whether its database is SQLite's
	// replica is the process ID of its replica's postmaster, 0 without a replica.
	replica int
}

// dataset is a database of one size and the servers on it.
type dataset struct {
	size     size
	about    seeded
	cluster  *cluster
	url      string // of the database
	db       *pgx.Conn
	practice pgtype.UUID
	entries  []entry // Chairside first

	// reads holds the requests of each reading workload. They are prepared before any
	// booking, because the SQLite database does not get the bookings made here.
	reads map[string][]load.Request
	diary futureSlots
}

// allScopes are the scopes of the servers' tokens: all, because plans are judged for every list.
var allScopes = strings.Join(scope.Families, " ")

// open prepares the database of a size and starts the servers on it.
func (k *cluster) open(c *console, z size, o *runCommand) (*dataset, error) {
	d, err := k.openDatabase(c, z, o.Reseed)
	if err != nil {
		return nil, err
	}
	err = func() error {
		token, err := k.token(c, d.url)
		if err != nil {
			return err
		}
		if err := d.startChairside(c, chairside, k.program, d.url, token); err != nil {
			return err
		}
		environment := []string{envPrefix + "_DATABASE_URL=" + d.url, envPrefix + "_KEYS_FILE=" + k.keysFile()}
		if err := d.start(c, handWritten, token, c.floor, environment...); err != nil {
			return err
		}
		if err := d.start(c, equalPromises, token, append(slices.Clone(c.floor), "--equal"), environment...); err != nil {
			return err
		}
		if !o.SQLite || z.Name != o.sqliteSize() {
			return nil
		}
		embedded, err := k.prepareSQLite(c, z, d.about.AsOf, o.Reseed)
		if err != nil {
			return err
		}
		if token, err = k.token(c, embedded); err != nil {
			return err
		}
		return d.startChairside(c, chairsideSQLite, k.program, embedded, token)
	}()
	if err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

// openDatabase prepares the PostgreSQL database of a size, with no server on it yet.
func (k *cluster) openDatabase(ctx context.Context, z size, reseed bool) (*dataset, error) {
	where, about, err := k.prepare(ctx, z, civil.Of(time.Now()), reseed)
	if err != nil {
		return nil, err
	}
	d := &dataset{size: z, about: about, cluster: k, url: where, reads: map[string][]load.Request{}}
	if d.db, err = pgx.Connect(ctx, where); err == nil {
		err = d.db.QueryRow(ctx, "SELECT id FROM practices WHERE slug = $1", seed.DemoSlug).Scan(&d.practice)
	}
	if err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

// token creates a token of the practice's administrator.
func (k *cluster) token(ctx context.Context, databaseURL string) (string, error) {
	return output(ctx, []string{k.program, "token", "create", "--user", seed.DemoAdmin, "--name", "benchmark", "--scopes", allScopes}, "CHAIRSIDE_DATABASE_URL="+databaseURL)
}

func (d *dataset) start(ctx context.Context, name, token string, program []string, environment ...string) error {
	s, err := start(ctx, name, program, environment...)
	if err == nil {
		d.entries = append(d.entries, entry{server: s, token: token})
	}
	return err
}

// startChairside starts a build of the program on a database.
func (d *dataset) startChairside(ctx context.Context, name, program, databaseURL, token string, flags ...string) error {
	err := d.start(ctx, name, token, append([]string{program, "serve", "--rate-limit", "0", "--drain", "0"}, flags...), "CHAIRSIDE_DATABASE_URL="+databaseURL)
	if err == nil {
		d.entries[len(d.entries)-1].sqlite = strings.HasPrefix(databaseURL, "sqlite:")
	}
	return err
}

// close stops the servers and drops their database.
func (d *dataset) close() error {
	var err error
	for _, e := range d.entries {
		err = errors.Join(err, e.stop())
	}
	if slices.ContainsFunc(d.entries, func(e entry) bool { return e.sqlite }) {
		err = errors.Join(err, d.cluster.dropSQLite(d.size))
	}
	if d.db != nil {
		err = errors.Join(err, d.db.Close(context.Background()))
	}
	return errors.Join(err, d.cluster.drop(context.Background(), d.cluster.working(d.size)))
}

// entry returns a server by name.
func (d *dataset) entry(name string) entry {
	for _, e := range d.entries {
		if e.name == name {
			return e
		}
	}
	return entry{}
}

// fixedRandom returns a random source that is the same in every run.
func fixedRandom() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// column reads the first column of a query.
func column[T any](ctx context.Context, d *dataset, query string, args ...any) ([]T, error) {
	rows, err := d.db.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	values, err := pgx.CollectRows(rows, pgx.RowTo[T])
	if err == nil && len(values) == 0 {
		err = fmt.Errorf("the database of size %s has no rows for: %s", d.size.Name, query)
	}
	return values, err
}

// randomIDs returns IDs from all over a table.
func (d *dataset) randomIDs(ctx context.Context, table string) ([]int64, error) {
	const wanted = 5000
	var most int64
	if err := d.db.QueryRow(ctx, "SELECT max(id) FROM "+quote(table)).Scan(&most); err != nil {
		return nil, err
	}
	random, ids := fixedRandom(), make([]int64, wanted)
	for i := range ids {
		ids[i] = 1 + random.Int64N(most)
	}
	found, err := column[int64](ctx, d, "SELECT id FROM "+quote(table)+" WHERE practice_id = $1 AND id = ANY($2)", d.practice, ids)
	random.Shuffle(len(found), func(i, j int) { found[i], found[j] = found[j], found[i] })
	return found, err
}

// requests returns the reading requests of a workload, the same in every run.
func (d *dataset) requests(ctx context.Context, w workload) ([]load.Request, error) {
	if w.requests == nil {
		return nil, nil
	}
	if made, ok := d.reads[w.ID]; ok {
		return made, nil
	}
	made, err := w.requests(ctx, d)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", w.ID, err)
	}
	d.reads[w.ID] = made
	return made, nil
}

// getRequests returns GET requests for the paths of values.
func getRequests[T any](values []T, path func(T) string) []load.Request {
	requests := make([]load.Request, len(values))
	for i, v := range values {
		requests[i] = load.Request{Method: "GET", Path: path(v)}
	}
	return requests
}

// futureSlots hands out free times after the last seeded appointment.
type futureSlots struct {
	practitioners, patients []int64
	first                   time.Time
	next                    int // next slot to hand out
}

const (
	slotEvery  = 30 * time.Minute
	slotLength = 15 * time.Minute
)

// openDiary prepares the free times.
func (d *dataset) openDiary(ctx context.Context) (err error) {
	if d.diary.practitioners, err = column[int64](ctx, d, "SELECT id FROM practitioners WHERE practice_id = $1 AND active ORDER BY id", d.practice); err != nil {
		return err
	}
	if d.diary.patients, err = d.randomIDs(ctx, "patients"); err != nil {
		return err
	}
	err = d.db.QueryRow(ctx, "SELECT max(finish_time) FROM appointments WHERE practice_id = $1", d.practice).Scan(&d.diary.first)
	d.diary.first = d.diary.first.UTC().Truncate(24*time.Hour).AddDate(0, 0, 1)
	return err
}

// row rounds a slot up to the next slot of the first practitioner.
func (f *futureSlots) row(slot int) int {
	n := len(f.practitioners)
	return (slot + n - 1) / n * n
}

// at returns the start of a slot.
func (f *futureSlots) at(slot int) time.Time {
	return f.first.Add(slotEvery * time.Duration(slot/len(f.practitioners)))
}

// bookings returns requests for the next n free times, one practitioner after another.
func (f *futureSlots) bookings(n int) (requests []load.Request) {
	f.next = f.row(f.next)
	for range n {
		start := f.at(f.next)
		requests = append(requests, load.Request{Method: "POST", Path: "/v1/appointments", Body: fmt.Sprintf(
			`{"appointment":{"start_time":"%s","finish_time":"%s","practitioner_id":%d,"patient_id":%d,"reason":"Exam"}}`,
			start.Format(timestamp), start.Add(slotLength).Format(timestamp), f.practitioners[f.next%len(f.practitioners)], f.patients[f.next%len(f.patients)])})
		f.next++
	}
	return requests
}

// timestamp is the format of times in requests.
const timestamp = "2006-01-02T15:04:05.000Z"

// isASCIIName reports whether a name has only ASCII letters and spaces. Both servers find
// those; the hand-written one does not fold accents.
func isASCIIName(name string) bool {
	return name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz ") == ""
}
