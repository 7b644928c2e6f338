package store

import (
	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"
)

// ForUpdate locks the rows of a query until the transaction ends. On SQLite a
// transaction of DB.Tx holds the one write lock from its beginning.
func ForUpdate(s *sql.Selector) {
	if s.Dialect() == dialect.Postgres {
		s.ForUpdate()
	}
}
