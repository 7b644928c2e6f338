package store

import (
	"context"
	"database/sql"

	"entgo.io/ent/dialect"

	"chairside/ent"
	"chairside/internal/store/dbconn"
)

const (
	SQLiteBusyTimeout = sqliteBusyTimeout
	StatementJournal  = statementJournal
	PrimaryPosition   = primaryPosition
)

var SQLiteDSN = sqliteDSN

// TxHolding is Tx with locks that are taken when it begins, like the ordinary transaction of
// TxSingleStatement.
func (db *DB) TxHolding(ctx context.Context, locks []Lock, work func(tx *ent.Client) error) (err error) {
	leave, err := db.enter(ctx, locks)
	if err != nil {
		return err
	}
	defer leave(&err)
	return db.tx(ctx, dbconn.TxOptions{Locks: locks}, work, nil)
}

// ViewThrough is View with a wrapper around the driver of the transaction.
func (db *DB) ViewThrough(ctx context.Context, through func(dialect.Driver) dialect.Driver, work func(client *ent.Client) error) error {
	return db.view(ctx, through, func(client *ent.Client, _ *sql.Tx) error { return work(client) })
}

// TxWith is Tx with options, without waiting for other transactions of this process.
func (db *DB) TxWith(ctx context.Context, options dbconn.TxOptions, work func(tx *ent.Client) error) error {
	return db.tx(ctx, options, work, nil)
}
