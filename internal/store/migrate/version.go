package migrate

import (
	"context"
	"database/sql"
	"fmt"
)

// oldestPostgres is the oldest major version of PostgreSQL that Chairside supports. Older ones print conditions of the
// schema in another form, which Verify takes for a difference.
const oldestPostgres = 15

// checkVersion returns an error that wraps ErrTooOld if the server is too old.
func (m *migrator) checkVersion(ctx context.Context, pool *sql.DB) error {
	var number int // 150018 is 15.18
	if err := pool.QueryRowContext(ctx, "SELECT current_setting('server_version_num')::int").Scan(&number); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	if major := number / 10000; major < m.oldest {
		return fmt.Errorf("migrate: %w: version %d, and Chairside needs %d or later", ErrTooOld, major, m.oldest)
	}
	return nil
}
