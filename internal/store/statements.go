package store

import (
	"context"
	"slices"

	"chairside/internal/store/dbconn"
	"chairside/internal/store/rowsecurity"
)

// Statements records the names and times of the statements of one request.
type Statements = dbconn.Statements

// StatementTime adds up the statements of one name.
type StatementTime = dbconn.StatementTime

// Names of waits in Statements.
const (
	WaitConnection = dbconn.WaitConnection
	WaitLock       = dbconn.WaitLock
	WaitTurn       = dbconn.WaitTurn
)

// WithStatements returns a context whose statements and waits are recorded in s.
func WithStatements(ctx context.Context, s *Statements) context.Context {
	return dbconn.WithStatements(ctx, s)
}

// statementNames returns the names of statements about the tables of a database.
func statementNames(dialect string) dbconn.Names {
	names := []string{MigrationsTable, rowsecurity.SearchView}
	for _, t := range Tables(dialect) {
		names = append(names, t.Name)
	}
	slices.Sort(names)
	return dbconn.NewNames(names)
}
