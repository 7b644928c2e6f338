package store

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"entgo.io/ent/dialect"
	"github.com/lib/pq"

	"chairside/internal/store/dbconn"
)

const (
	postgresPool        = 20 // connections, unless the URL's pool_size says otherwise
	postgresMaxIdleTime = 5 * time.Minute
	postgresMaxLifetime = 30 * time.Minute // lets a load balancer move us
	connectTimeout      = 5 * time.Second
)

// session are the settings of every connection, unless the URL has others. The time limits keep
// a request that hangs from holding a connection or a lock for longer than a client waits. JIT
// compilation takes longer than it saves: 13 s for a query of an audit log of 144 months, which
// without it takes 44 ms.
var session = map[string]string{
	"statement_timeout":                   "30s",
	"lock_timeout":                        "2s",
	"idle_in_transaction_session_timeout": "60s",
	"timezone":                            "UTC",
	"jit":                                 "off",
}

// maintenanceSession are the settings of connections for maintenance (migrations, verification,
// counters), whatever the URL says. Maintenance may take long but must not wait long for a lock,
// because all requests queue behind it. Migrations wait even less (package migrate, locks.go).
var maintenanceSession = map[string]string{
	"statement_timeout":                   "0",
	"lock_timeout":                        "10s",
	"idle_in_transaction_session_timeout": "0",
}

// access is how a pool connects, beyond its URL.
type access struct {
	role     string // that its connections take after they sign in; "" for none
	confined bool   // row-level security confines each statement to its principal's practice
	poolSize int    // unless the URL has one
	// fixedSize makes poolSize count even if the URL has one.
	fixedSize bool
	settings  map[string]string // of each connection, whatever the URL says
	check     *dbconn.Check     // of each connection; nil accepts all
}

// openPostgres returns a database whose pool SQL has that access. The probe and maintenance keep
// the role that signs in: only it may ask the server about all connections, and own tables.
func openPostgres(ctx context.Context, raw string, as access) (*DB, error) {
	config, options, err := postgresConfig(raw, as.poolSize)
	if err != nil {
		return nil, err
	}
	if as.fixedSize {
		options.poolSize = as.poolSize
	}
	probe, err := dbconn.NewProbe(config)
	if err != nil {
		return nil, err
	}
	direct, err := wayTo(ctx, probe, options)
	if err != nil {
		return nil, err
	}
	server := dbconn.NewServer(probe, direct)
	health, err := server.Probe(config)
	if err != nil {
		return nil, err
	}
	maintenance := config.Clone()
	maps.Copy(maintenance.Runtime, maintenanceSession)
	maintenanceConnector, err := server.Connector(maintenance)
	if err != nil {
		return nil, err
	}

	if direct == dbconn.Behind {
		config = config.Clone()
		config.DisablePreparedBinaryResult = true // parsed anew, a statement may return a column of another type after a migration
	}
	if as.role != "" {
		config = config.Clone()
		config.Runtime["role"] = as.role
	}
	if len(as.settings) > 0 {
		config = config.Clone()
		maps.Copy(config.Runtime, as.settings)
	}
	connector, err := server.Connector(config)
	if err != nil {
		return nil, err
	}
	connector.Check = as.check

	db := &DB{Dialect: dialect.Postgres, health: sql.OpenDB(health), pooled: direct == dbconn.Behind, limitSilence: server.LimitSilence}
	names := statementNames(db.Dialect)
	var pool driver.Connector
	switch {
	case direct != dbconn.Behind && as.confined:
		pool = dbconn.CachedConfined(connector, &db.roundTrips, names)
	case direct != dbconn.Behind:
		pool = dbconn.CachedPostgres(connector, &db.roundTrips, names)
	case as.confined:
		pool = dbconn.PooledConfined(connector, &db.roundTrips, names, columnTypes())
	default:
		pool = dbconn.Pooled(connector, &db.roundTrips, names, columnTypes())
	}
	db.SQL = sql.OpenDB(pool)
	db.SQL.SetMaxOpenConns(options.poolSize)
	db.SQL.SetMaxIdleConns(options.poolSize) // closing a connection loses its prepared statements
	db.SQL.SetConnMaxIdleTime(postgresMaxIdleTime)
	db.SQL.SetConnMaxLifetime(postgresMaxLifetime)
	db.Maintenance = func() *sql.DB {
		pool := sql.OpenDB(maintenanceConnector)
		pool.SetMaxOpenConns(3) // one holds the lock, one migrates, one to spare
		return pool
	}
	return db, nil
}

// wayTo returns whether a pooler is between us and the server, as the URL says or as the server
// shows.
func wayTo(ctx context.Context, probe *dbconn.Connector, options postgresOptions) (dbconn.Direct, error) {
	switch options.statementCache {
	case "on":
		return dbconn.Said, nil
	case "off":
		return dbconn.Behind, nil
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	direct, err := dbconn.Find(ctx, probe)
	if err != nil && strings.Contains(err.Error(), "unsupported startup parameter") {
		err = fmt.Errorf("%w: set ignore_startup_parameters in pgbouncer.ini to %q", err, ignoredByPooler())
	}
	if errors.Is(err, pq.ErrSSLNotSupported) {
		err = fmt.Errorf("%w: give the server a certificate, or add ?sslmode=disable to the database URL if the server is on this machine or in a private network", err)
	}
	if errors.As(err, new(*net.OpError)) {
		err = fmt.Errorf("the database does not answer: check that PostgreSQL is running and that the database URL names its host and port (%w)", err)
	}
	return direct, err
}

// ignoredByPooler is the setting with which PgBouncer accepts our connections: it knows no
// others than timezone.
func ignoredByPooler() string {
	names := append(slices.Collect(maps.Keys(session)), "default_transaction_read_only") // of replicas
	slices.Sort(names)
	return strings.Join(slices.DeleteFunc(names, func(name string) bool { return name == "timezone" }), ",")
}

// postgresOptions are the URL parameters that are ours, not the server's.
type postgresOptions struct {
	statementCache string // "on", "off", or "" to find out
	poolSize       int
}

// postgresConfig parses a URL. Errors do not repeat any part of it: if the password contains an
// unescaped "/" or "#", the parser takes parts of it for the host, the port or the path.
func postgresConfig(raw string, poolSize int) (pq.Config, postgresOptions, error) {
	options := postgresOptions{poolSize: cmp.Or(poolSize, postgresPool)}
	none := pq.Config{}
	u, err := url.Parse(raw)
	if err != nil {
		return none, options, errors.New("store: the PostgreSQL URL cannot be parsed (in the password, write special characters as %XX)")
	}
	query := u.Query()
	switch value := query.Get("statement_cache"); value {
	case "", "on", "off":
		options.statementCache = value
	default:
		return none, options, errors.New("store: statement_cache in the PostgreSQL URL must be on or off")
	}
	if value := query.Get("pool_size"); value != "" {
		if options.poolSize, err = strconv.Atoi(value); err != nil || options.poolSize < 2 {
			return none, options, errors.New("store: pool_size in the PostgreSQL URL must be a number of connections, at least 2")
		}
	}
	query.Del("statement_cache")
	query.Del("pool_size")
	u.RawQuery = query.Encode()

	config, err := pq.NewConfig(u.String())
	if err != nil {
		if password, _ := u.User.Password(); password != "" && strings.Contains(err.Error(), password) {
			return none, options, errors.New("store: the PostgreSQL URL has an invalid parameter")
		}
		return none, options, fmt.Errorf("store: the PostgreSQL URL: %w", err)
	}
	if config.BinaryParameters {
		return none, options, errors.New("store: binary_parameters cannot store JSON; leave it out")
	}
	if config.ApplicationName == "" {
		config.ApplicationName = "chairside"
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectTimeout
	}
	config = config.Clone() // its Runtime is never nil
	for name, value := range session {
		if _, given := config.Runtime[name]; !given && !strings.Contains(config.Options, name) {
			config.Runtime[name] = value
		}
	}
	return config, options, nil
}
