package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"chairside/internal/civil"
	"chairside/internal/seal"
	"chairside/internal/test/localpg"
)

// settings are the settings of the benchmark's own PostgreSQL server, for a machine that it
// shares with the measured program. All others are defaults, so commits reach the disk.
var settings = []string{
	"shared_buffers=1GB", "effective_cache_size=4GB", "maintenance_work_mem=512MB", "max_wal_size=8GB", "checkpoint_timeout=15min", "random_page_cost=1.1",
}

// cluster is a PostgreSQL server with the seeded databases.
type cluster struct {
	own        *localpg.Server // nil with --postgres
	dir        string          // of the data, including SQLite's
	temporary  bool            // remove dir at the end
	address    *url.URL
	admin      *pgx.Conn
	version    string
	postmaster int                              // 0 if the server is on another machine
	program    string                           // path of the Chairside program that migrates and seeds
	say        func(format string, args ...any) // prints progress
}

// openCluster connects to the server at where, or starts one on the data in dir, or else in
// a temporary directory, with the settings and further ones.
func openCluster(c *console, where, dir, program string, further ...string) (*cluster, error) {
	k := &cluster{dir: dir, program: program, say: c.say}
	var err error
	if dir == "" {
		k.temporary = true
		if k.dir, err = os.MkdirTemp("", "chairside-bench-*"); err != nil {
			return nil, err
		}
		if err := os.Chmod(k.dir, 0o755); err != nil { // PostgreSQL may run as another user
			return nil, errors.Join(err, k.close())
		}
	}
	keys := k.keysFile()
	if err := seal.Create(keys); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, errors.Join(err, k.close())
	}
	if err := os.Setenv("CHAIRSIDE_KEYS_FILE", keys); err != nil { // for the programs that are measured
		return nil, errors.Join(err, k.close())
	}
	if err := k.connect(c, where, further); err != nil {
		return nil, errors.Join(err, k.close())
	}
	return k, nil
}

// keysFile is the file of the keys of all databases' sealed columns.
func (k *cluster) keysFile() string { return filepath.Join(k.dir, "chairside.keys") }

// connect connects to the server at the URL where, or starts a server if where is empty.
func (k *cluster) connect(ctx context.Context, where string, further []string) (err error) {
	if where == "" {
		if k.own, err = localpg.StartIn(ctx, filepath.Join(k.dir, "postgres"), append(slices.Clone(settings), further...)...); err != nil {
			return err
		}
		where = k.own.URL("postgres")
	}
	if k.address, err = url.Parse(where); err != nil {
		return errors.New("--postgres must be a URL") // the cause could repeat it
	}
	if k.admin, err = pgx.Connect(ctx, where); err != nil {
		return err
	}
	if err := k.admin.QueryRow(ctx, "SHOW server_version").Scan(&k.version); err != nil {
		return err
	}
	if k.postmaster, err = postmaster(ctx, k.admin); err != nil {
		k.say("the database's processor time is not measured: %v", err)
	}
	return nil
}

// close disconnects, stops a server that connect started, and removes temporary files.
func (k *cluster) close() error {
	var err error
	if k.admin != nil {
		err = k.admin.Close(context.Background())
	}
	if k.own != nil {
		err = errors.Join(err, k.own.Stop())
	}
	if k.temporary {
		err = errors.Join(err, os.RemoveAll(k.dir))
	}
	return err
}

// url returns the URL of a database.
func (k *cluster) url(database string) string {
	u := *k.address
	u.Path = "/" + database
	return u.String()
}

// seeded describes a seeded database. It is stored with it.
type seeded struct {
	Patients   int        `json:"patients"`
	Years      int        `json:"years"`
	AsOf       civil.Date `json:"as_of"`
	OwnNumbers bool       `json:"own_numbers"` // see assignDistinctNumbers
	Seconds    float64    `json:"seconds"`     // duration of seeding, with distinct numbers
}

// current reports whether the data have this size and still have future bookings.
func (s seeded) current(z size, today civil.Date) bool {
	const lasts = 60 // days
	return s.Patients == z.Patients && s.Years == z.Years && s.OwnNumbers && !s.AsOf.AddDays(lasts).Before(today)
}

// seed fills a database.
func (k *cluster) seed(ctx context.Context, z size, today civil.Date, databaseURL string) (seeded, error) {
	environment := "CHAIRSIDE_DATABASE_URL=" + databaseURL
	k.say("seeding %d patients, %d years", z.Patients, z.Years)
	start := time.Now()
	if _, err := output(ctx, []string{k.program, "migrate", "up"}, environment); err != nil {
		return seeded{}, err
	}
	if _, err := output(ctx, []string{k.program, "seed", "--patients", fmt.Sprint(z.Patients), "--years", fmt.Sprint(z.Years), "--as-of", today.String()}, environment); err != nil {
		return seeded{}, err
	}
	err := assignDistinctNumbers(ctx, databaseURL)
	return seeded{Patients: z.Patients, Years: z.Years, AsOf: today, OwnNumbers: true, Seconds: time.Since(start).Seconds()}, err
}

// working returns the name of the database that a run works on: a copy of a kept one, or
// the seeded database itself.
func (k *cluster) working(z size) string {
	if k.temporary {
		return z.database()
	}
	return z.copy()
}

// prepare creates the database that a run works on, with the current migrations.
func (k *cluster) prepare(ctx context.Context, z size, today civil.Date, again bool) (databaseURL string, about seeded, err error) {
	var comment string
	err = k.admin.QueryRow(ctx, "SELECT coalesce(shobj_description(oid, 'pg_database'), '') FROM pg_database WHERE datname = $1", z.database()).Scan(&comment)
	exists := !errors.Is(err, pgx.ErrNoRows)
	if err != nil && exists {
		return "", about, err
	}
	// A database without the comment is incomplete.
	if again || k.temporary || !exists || json.Unmarshal([]byte(comment), &about) != nil || !about.current(z, today) {
		if about, err = k.fill(ctx, z, today); err != nil {
			return "", about, err
		}
	}
	if k.temporary {
		return k.url(z.database()), about, nil
	}
	if err := k.copy(ctx, z); err != nil {
		return "", about, err
	}
	databaseURL = k.url(z.copy())
	_, err = output(ctx, []string{k.program, "migrate", "up"}, "CHAIRSIDE_DATABASE_URL="+databaseURL)
	if err != nil {
		err = fmt.Errorf("%w (if a migration was rewritten, use --reseed)", err)
	}
	return databaseURL, about, err
}

// copy copies a seeded database.
func (k *cluster) copy(ctx context.Context, z size) error {
	if err := k.drop(ctx, z.copy()); err != nil {
		return err
	}
	statement := "CREATE DATABASE " + quote(z.copy()) + " TEMPLATE " + quote(z.database()) + " STRATEGY FILE_COPY" // the default logs every page
	k.say("copying %s", z.database())
	for _, s := range []string{statement, "CHECKPOINT"} {
		if _, err := k.admin.Exec(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// fill seeds a new database, and vacuums it, so that all pages are known to be visible, as
// in a database that has been in use for years.
func (k *cluster) fill(ctx context.Context, z size, today civil.Date) (seeded, error) {
	if err := k.drop(ctx, z.database()); err != nil {
		return seeded{}, err
	}
	if _, err := k.admin.Exec(ctx, "CREATE DATABASE "+quote(z.database())+" TEMPLATE template0"); err != nil {
		return seeded{}, err
	}
	about, err := k.seed(ctx, z, today, k.url(z.database()))
	if err != nil {
		return about, err
	}
	db, err := pgx.Connect(ctx, k.url(z.database()))
	if err != nil {
		return about, err
	}
	_, err = db.Exec(ctx, "VACUUM (FREEZE, ANALYZE)")
	if err = errors.Join(err, db.Close(ctx)); err != nil {
		return about, err
	}
	comment, err := json.Marshal(about)
	if err != nil {
		return about, err
	}
	_, err = k.admin.Exec(ctx, "COMMENT ON DATABASE "+quote(z.database())+" IS '"+strings.ReplaceAll(string(comment), "'", "''")+"'")
	return about, err
}

func (k *cluster) drop(ctx context.Context, database string) error {
	_, err := k.admin.Exec(ctx, "DROP DATABASE IF EXISTS "+quote(database)+" WITH (FORCE)")
	return err
}

// quote quotes an SQL identifier.
func quote(name string) string { return pgx.Identifier{name}.Sanitize() }

// prepareSQLite is prepare for an embedded database.
func (k *cluster) prepareSQLite(ctx context.Context, z size, today civil.Date, again bool) (databaseURL string, err error) {
	path := filepath.Join(k.dir, z.database()+".db")
	note := path + ".json"
	var about seeded
	text, err := os.ReadFile(note)
	if again || err != nil || json.Unmarshal(text, &about) != nil || !about.current(z, today) || about.AsOf != today { // both databases must hold the same data
		for _, name := range []string{note, path, path + "-wal", path + "-shm"} {
			if err := os.RemoveAll(name); err != nil {
				return "", err
			}
		}
		if about, err = k.seed(ctx, z, today, "sqlite:"+path); err != nil {
			return "", err
		}
		if text, err = json.Marshal(about); err != nil {
			return "", err
		}
		if err := os.WriteFile(note, text, 0o600); err != nil {
			return "", err
		}
	}
	if k.temporary {
		return "sqlite:" + path, nil
	}
	run := filepath.Join(k.dir, z.copy()+".db")
	for _, name := range []string{run, run + "-wal", run + "-shm"} {
		if err := os.RemoveAll(name); err != nil {
			return "", err
		}
	}
	// The program's backup is a complete copy, including the write-ahead log.
	_, err = output(ctx, []string{k.program, "backup", run}, "CHAIRSIDE_DATABASE_URL=sqlite:"+path)
	return "sqlite:" + run, err
}

// dropSQLite removes prepareSQLite's database.
func (k *cluster) dropSQLite(z size) error {
	var err error
	for _, suffix := range []string{"", "-wal", "-shm"} {
		err = errors.Join(err, os.RemoveAll(filepath.Join(k.dir, k.working(z)+".db"+suffix)))
	}
	return err
}
