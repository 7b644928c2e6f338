package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"

	"chairside/internal/principal"
	"chairside/internal/store/dbconn"
	"chairside/internal/store/rowsecurity"
)

// Reads that may be a moment old run on replicas: streaming standbys of a PostgreSQL database.
//
//	OnReplica ─▶ choose ─▶ work, whose context has a visit ─▶ check
//	   │           replica_choice.go   │                        replica_check.go
//	   │                               ├── a query with a principal runs on the replica
//	   │                               └── a transaction, a write, or a statement without a principal runs on the primary
//	   └── false: the primary must answer, because no replica may, or because the work failed there
//
// A replica may answer a client if it has replayed everything that the client has written or seen
// (position.go), and is at most maxReplicaLag behind.

const (
	// replicaWait is how long a read waits for a replica to replay what its client has seen.
	replicaWait = 50 * time.Millisecond
	// reportWait is replicaWait for a report, which must show everything up to its beginning.
	reportWait = time.Second
	// replicaTime bounds a read on a replica, so that the primary can still answer in time.
	replicaTime = 1500 * time.Millisecond
	// maxReplicaLag is how far behind a replica may be that answers.
	maxReplicaLag = 2 * time.Second

	reportPool      = 4     // connections to each replica for reports
	reportStatement = "20s" // statement_timeout of a report on a replica
	// replicaSilence is LimitSilence of a replica: a report on one that freezes is left with enough of its 25 s to run
	// on the primary.
	replicaSilence = 5 * time.Second
)

var (
	errReplicasEmbedded = errors.New("store: an embedded database has no replicas: they need PostgreSQL")

	// errMoved is the error of a read on a replica that was restarted or promoted meanwhile.
	errMoved = errors.New("store: the replica was restarted or promoted during the read")
)

// WroteOnReplicaError is a statement that writes in a read that runs on a replica. It is a bug: reads
// write in transactions, which run on the primary.
type WroteOnReplicaError struct{ error }

func (e WroteOnReplicaError) Error() string {
	return "store: a read wrote on a replica: " + e.error.Error()
}

// replicas are the replicas of a database.
type replicas struct {
	db      *DB
	log     *slog.Logger
	all     []*replica
	clients clients
	primary atomic.Int64 // reads that no replica could answer
	next    atomic.Uint64
	used    atomic.Int64 // when a replica was last looked for, on clock.Uptime
	waiting atomic.Int64 // reads that wait for a replica
	asking  chan struct{}
	stop    context.CancelFunc
	running sync.WaitGroup

	mu       sync.Mutex
	changed  chan struct{} // closed when a replica or the primary has answered
	samples  []sample      // positions of the primary, the oldest first
	identity string        // of the database
	// incarnation of the primary, which may be named as a replica, too: after a failover it is one.
	incarnation int64
}

// replica is one of them.
type replica struct {
	name     string // host and port
	url      string
	ask      chan struct{}
	answered atomic.Int64 // reads
	failed   atomic.Int64 // reads that the primary answered after all
	pools    atomic.Pointer[replicaPools]
	seen     atomic.Pointer[sight]
	// current is when it had last caught up with the primary to within maxReplicaLag, in ns since 1970; 0 for never.
	current atomic.Int64
	logged  logged // only for the goroutine that watches it
}

// logged is the last state of a replica that was written to the log.
type logged struct {
	reason string // why it is left out; "" if it answers reads
	next   string // the current reason, until it has settled
	since  time.Time
}

// replicaPools are the connections to a replica: all to one server, since it was last started. Its position is asked
// over one connection and counts for all of them.
type replicaPools struct {
	reads, reports *DB
	gates          map[bool]*gated // by whether it is a report
	incarnation    int64           // of the server
	replayed       atomic.Uint64   // the furthest that the server has said
	mixedUntil     atomic.Int64    // Unix time in ns: see errSeveral
}

var (
	// errSeveral is why a replica is left out whose URL leads to several servers, such as that of a load balancer.
	errSeveral = errors.New("its URL leads to different servers: name each server with a URL of its own")
	// errRestarted is why it is left out for a moment.
	errRestarted = errors.New("it was restarted, or another server has its address")
	// errReplaysAgain is why it is left out after a crash of one of its processes, which ends all connections.
	errReplaysAgain = errors.New("it replays again what it had shown before a crash")
)

// mixedTime is how long a replica is left out after one of its connections led to another server.
const mixedTime = 30 * time.Second

// admitQuery is SQL for what admit needs.
const admitQuery = `SELECT ` + incarnation + ` || ' ' || coalesce(CAST(pg_last_wal_replay_lsn() - '0/0' AS bigint), 0)`

// admit refuses a connection to another server than that of the pools, and to one that shows less than it did.
func (p *replicaPools) admit(answer string) error {
	var found int64
	var replayed uint64
	if _, err := fmt.Sscan(answer, &found, &replayed); err != nil {
		return fmt.Errorf("store: a replica's start and position: %w", err)
	}
	switch {
	case found != p.incarnation:
		p.mixedUntil.Store(time.Now().Add(mixedTime).UnixNano())
		return errSeveral
	case replayed < p.replayed.Load():
		return errReplaysAgain
	}
	return nil
}

// saw notes that the server has replayed a place.
func (p *replicaPools) saw(at lsn) {
	for {
		before := p.replayed.Load()
		if uint64(at) <= before || p.replayed.CompareAndSwap(before, uint64(at)) {
			return
		}
	}
}

// UseReplicas makes reads use the replicas at these URLs (OnReplica). It does not wait for them, and one that
// is down, behind, or no replica of this database is left out until that changes. Where row-level security is
// on, their URLs sign in as the database's URL does. It is called before the database is used.
func (db *DB) UseReplicas(urls []string, log *slog.Logger) error {
	if len(urls) == 0 {
		return nil
	}
	if !db.postgres() {
		return errReplicasEmbedded
	}
	s := &replicas{db: db, log: log, asking: make(chan struct{}, 1), changed: make(chan struct{})}
	s.clients.known = map[uuid.UUID]progress{}
	s.clients.forget() // what was written before this process began
	for _, raw := range urls {
		u, err := url.Parse(raw)
		if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
			return errors.New("store: the URL of a replica must be postgres://USER:PASSWORD@HOST/DATABASE")
		}
		if _, _, err := postgresConfig(raw, 0); err != nil {
			return err
		}
		if slices.ContainsFunc(s.all, func(r *replica) bool { return r.name == u.Host }) {
			return fmt.Errorf("store: the replica %s is named twice", u.Host)
		}
		r := &replica{name: u.Host, url: raw, ask: make(chan struct{}, 1), logged: logged{reason: notAsked}}
		r.seen.Store(&sight{reason: notAsked})
		s.all = append(s.all, r)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.stop = cancel
	s.running.Go(func() { s.watchPrimary(ctx) })
	for _, r := range s.all {
		s.running.Go(func() { s.watch(ctx, r) })
	}
	db.replicas = s
	return nil
}

// close stops the watching and closes the pools.
func (s *replicas) close() (err error) {
	if s == nil {
		return nil
	}
	s.stop()
	s.running.Wait()
	for _, r := range s.all {
		if p := r.pools.Load(); p != nil {
			err = errors.Join(err, p.close())
		}
	}
	return err
}

// roundTrips returns how many statements were sent to the replicas.
func (s *replicas) roundTrips() (trips int64) {
	if s == nil {
		return 0
	}
	for _, r := range s.all {
		if p := r.pools.Load(); p != nil {
			trips += p.reads.roundTrips.Load() + p.reports.roundTrips.Load()
		}
	}
	return trips
}

func (p *replicaPools) close() (err error) {
	for _, db := range []*DB{p.reads, p.reports} {
		if db != nil {
			err = errors.Join(err, db.SQL.Close(), db.health.Close())
		}
	}
	return err
}

// Reading is what a read needs of a replica.
type Reading struct {
	After  Position // that its client has seen elsewhere
	Report bool     // it is long, has connections of its own, and shows everything up to its beginning
}

// visit is a read on a replica.
type visit struct {
	pools *replicaPools
	pool  *sql.DB // one of them
	gated *gated
	wrote atomic.Pointer[pq.Error]
}

type visitKey struct{}

func visitOf(ctx context.Context) *visit {
	v, _ := ctx.Value(visitKey{}).(*visit)
	if v == nil {
		return nil
	}
	if _, err := principal.From(ctx); err != nil {
		return nil
	}
	return v
}

// OnPrimary returns a context whose reads do not run on a replica, for what outlives the request.
func OnPrimary(ctx context.Context) context.Context {
	if visitOf(ctx) == nil {
		return ctx
	}
	return context.WithValue(ctx, visitKey{}, (*visit)(nil))
}

// VisitsReplica reports whether ctx is that of a read on a replica.
func VisitsReplica(ctx context.Context) bool { return visitOf(ctx) != nil }

// HasReplicas reports whether UseReplicas has been called.
func (db *DB) HasReplicas() bool { return db.replicas != nil }

// OnReplica runs work on a replica: the queries of its context that have a principal. It returns false if the
// primary must do the work instead, either because no replica can or because work failed: err is then
// the error of work, nil if it did not run. An error is final if done is true.
//
// The client of ctx sees everything that it has written or seen before, through this process or up to
// q.After.
func (db *DB) OnReplica(ctx context.Context, q Reading, work func(context.Context) error) (done bool, err error) {
	s := db.replicas
	client, ok := clientOf(ctx)
	if s == nil || !ok {
		return false, nil
	}
	r, need := s.choose(ctx, client, q)
	if r == nil {
		s.primary.Add(1)
		return false, nil
	}
	v, limit := r.visit(q.Report), replicaTime
	if v == nil {
		s.primary.Add(1)
		return false, nil
	}
	if q.Report {
		limit = maxReport
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	leave, err := holdSoon(ctx, v)
	if err != nil {
		s.primary.Add(1)
		return false, nil
	}
	defer leave()
	before := r.seen.Load()
	if !need.metBy(r, before) { // it was restarted since it was chosen
		s.primary.Add(1)
		return false, nil
	}
	err = work(context.WithValue(ctx, visitKey{}, v))
	if wrote := v.wrote.Load(); wrote != nil {
		return true, WroteOnReplicaError{wrote}
	}
	if err == nil {
		var replayed, within lsn
		if replayed, within, err = r.check(ctx, v, before); err == nil {
			s.clients.showed(client, replayed, within, r, before.incarnation)
			r.answered.Add(1)
			return true, nil
		}
	}
	r.failed.Add(1)
	s.primary.Add(1)
	return false, err
}

// maxReport bounds a report on a replica.
const maxReport = 15 * time.Minute

// holdSoon takes a place at the replica for the whole read. A replica that is busy is not waited for.
func holdSoon(ctx context.Context, v *visit) (leave func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, replicaWait)
	defer cancel()
	return v.gated.gate.Hold(ctx)
}

// visit begins a read on a replica. It returns nil if the replica has lost its pools since it was chosen.
func (r *replica) visit(report bool) *visit {
	p := r.pools.Load()
	if p == nil {
		return nil
	}
	g := p.gates[report]
	pool := p.reads.SQL
	if report {
		pool = p.reports.SQL
	}
	return &visit{pools: p, pool: pool, gated: g}
}

// query runs a statement of a visit.
func (v *visit) query(ctx context.Context, text string, args, result any) error {
	err := v.gated.Query(ctx, text, args, result)
	var refused *pq.Error
	if refusedAsReadOnly(err, &refused) {
		v.wrote.Store(refused)
	}
	return err
}

// refusedAsReadOnly reports whether err is the refusal of a write by a server that only reads.
func refusedAsReadOnly(err error, refused **pq.Error) bool {
	return errors.As(err, refused) && (*refused).Code == pqerror.ReadOnlySQLTransaction
}

// Reached notes that the client of ctx has seen what the primary shows now, or has written it. After the failure
// of a primary that does not answer, it does not ask: the client would wait, and what it wrote is unknown. Without
// replicas it does nothing.
func (db *DB) Reached(ctx context.Context, failure error) {
	s := db.replicas
	client, ok := clientOf(ctx)
	if s == nil || !ok {
		return
	}
	if dbconn.Unavailable(failure) && !errors.Is(failure, dbconn.ErrLocked) {
		s.clients.forget()
		return
	}
	at, err := s.askPosition(ctx)
	if err != nil {
		s.clients.forget()
		return
	}
	s.clients.reached(client, at.at)
}

// PositionOf returns the position up to which the client of ctx has seen the database through this
// process; "" if it is not known.
func (db *DB) PositionOf(ctx context.Context) string {
	if client, ok := clientOf(ctx); ok && db.replicas != nil {
		if p, timeline, known := db.replicas.clients.of(client); known && p.after > 0 {
			return Position{timeline, p.after}.String()
		}
	}
	return ""
}

// askPosition returns the position up to which the primary has written its log: that of every commit which
// can be seen now or is behind it.
func (s *replicas) askPosition(ctx context.Context) (at Position, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askPositionTime)
	defer cancel()
	err = s.db.SQL.QueryRowContext(ctx, "SELECT "+primaryPosition).Scan(&at.at, &at.timeline)
	if err == nil {
		err = s.notice(at)
	}
	if err != nil {
		return at, fmt.Errorf("store: read the primary's position: %w", err)
	}
	return at, nil
}

// askPositionTime bounds askPosition.
const askPositionTime = time.Second

// openPools connects to a replica. It fails if row-level security is on and does not confine its role.
func (s *replicas) openPools(ctx context.Context, r *replica) (_ *replicaPools, err error) {
	as := s.db.servingAccess
	as.settings = map[string]string{"default_transaction_read_only": "on"}
	p := &replicaPools{gates: map[bool]*gated{}}
	as.check = &dbconn.Check{Query: admitQuery, Accept: p.admit}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close())
		}
	}()
	if p.reads, err = openPostgres(ctx, r.url, as); err != nil {
		return nil, err
	}
	seen, _, err := look(ctx, p.reads.health)
	if err != nil {
		return nil, err
	}
	p.incarnation = seen.incarnation
	as.poolSize, as.fixedSize = reportPool, true
	as.settings = map[string]string{"default_transaction_read_only": "on", "statement_timeout": reportStatement}
	if p.reports, err = openPostgres(ctx, r.url, as); err != nil {
		return nil, err
	}
	for report, db := range map[bool]*DB{false: p.reads, true: p.reports} {
		db.health.SetMaxOpenConns(1)
		db.LimitSilence(replicaSilence)
		p.gates[report] = newGated(db.Dialect, db.SQL)
	}
	if !as.confined {
		return p, nil
	}
	tables, err := rowsecurity.Tables(s.db.tables)
	if err != nil {
		return nil, err
	}
	state, err := rowsecurity.Inspect(ctx, p.reads.SQL, tables)
	if err != nil {
		return nil, err
	}
	if state.Bypasses || state.User != state.Roles.Serving { // as checkRoles
		return nil, fmt.Errorf("its URL signs in as %s: it must be %s, which row-level security confines", state.User, state.Roles.Serving)
	}
	return p, nil
}

// reasonOf returns an error as the reason why a replica is left out, without the parts that package names add.
func reasonOf(err error) string { return strings.TrimPrefix(err.Error(), "store: ") }
