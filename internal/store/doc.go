// Package store opens the database, runs transactions and translates errors. Only it and the
// packages below it import the drivers; all other code uses the generated client.
//
//	db, err := store.Open(ctx, "sqlite:chairside.db")
//	applied, err := migrate.Up(ctx, db)
//	err = db.Tx(ctx, func(tx *ent.Client) error { … })
//	return store.APIError(ctx, err)
//
// The path of a statement:
//
//	DB.Ent, Tx, View            store.go, tx.go, view.go; ViewOf: one practice's rows, practice_only.go
//	   │    hooks               audit_log.go  the audit log
//	   │                        accounts.go   rules for every write of users and tokens
//	   │    queue.go, lock.go   transactions with the same lock wait here, without a connection
//	   ▼
//	gate                        gated.go, package admission: a fair share of the pool
//	   ▼
//	database/sql pool           postgres.go, sqlite.go, sqlite_journal.go
//	   ▼
//	drivers                     package dbconn: statements, deadlines, pipelined locks
//	   │
//	   └──▶ error ──▶ APIError  errors.go
//
// ready.go serves readiness probes, backup.go copies an embedded database, facts.go reads what
// operators want to know of it. Packages below store:
//
//	admission   who gets a connection
//	dbconn      between database/sql and the drivers
//	counters    counts of rows, maintained by triggers
//	bulk        thousands of rows at a time
//	migrate     versions of the schema: Up, Status, Check, Verify; plan, lint and diff write them
//	analyst     views and roles of analysts
//	rowsecurity roles, policies and privileges of PostgreSQL
//
// # Addresses and limits
//
// sqlite:PATH is an embedded database in a file, which is created readable by
// its owner alone. It runs in WAL mode with 2 connections per processor, at least 4, plus 3.
// A transaction waits up to 2 s for transactions of its own process, then up to 2 s for
// other processes. The first 128 MiB of the file are mapped into memory. Tools show this
// memory once for each connection, but the system reclaims it when needed. If the disk
// fails to read it, the process ends.
//
// postgres://USER:PASSWORD@HOST/DATABASE is a PostgreSQL server (15 or later). Its
// parameters are those of lib/pq, any setting of the server, and two of ours:
//
//	pool_size=20            connections of this process, at most; idle ones are
//	                        closed after 5 minutes, all after 30
//	statement_cache=off     the server is behind a pooler in transaction mode (PgBouncer), where
//	                        connections share prepared statements; on: it is not, or the
//	                        pooler keeps sessions. By default the program finds out
//
// Every connection sets statement_timeout=30s, lock_timeout=2s,
// idle_in_transaction_session_timeout=60s, jit=off, timezone=UTC and
// application_name=chairside, and connecting takes at most 5 s, each unless the
// URL says otherwise. PgBouncer must be configured to ignore the time limits and
// jit (ignore_startup_parameters); set them with ALTER ROLE instead. Migrations need a
// direct connection to the server, because they hold a session's advisory lock.
//
// # Admission
//
// Ent, Tx and View reach the pool through the gate. A request that waits for a connection is
// refused after 2 s, and no practice or kind of request can take the last connections. Of 20
// connections, one kind of one practice gets at most 14, and those beyond 10 only while no
// request with a smaller share waits. 2 connections are for probes and background work, which
// use DB.SQL. Where row-level security is on (serving.go), statements with a principal have this
// pool to themselves, and all others one of 8 connections with a gate of its own. A transaction that names its locks waits for them before it enters the gate, up
// to 2 s, so that clients booking the same practitioner do not hold connections.
//
// Ready reads every table over a connection of its own, within 2 s.
//
// # When to reach for it
//
// Use Tx for every write and View for a report. Use TxSingleStatement only where package
// dbconn recommends it, and DB.SQL only for statements that Ent cannot express, outside
// requests.
package store
