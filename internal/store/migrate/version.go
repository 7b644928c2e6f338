package migrate

import (
	"context"
	"database/sql"
	"fmt"
)

// oldestPostgres is the oldest major version of PostgreSQL that Chairside supports. Older ones print conditions of the
// schema in another form, which Verify takes for a difference.
const oldestPostgres = 15

// checkVersion returns an error that wraps ErrTooOld if the server is older than oldestPostgres.
func checkVersion(ctx context.Context, conn *sql.Conn) error {
	var number int // 150018 is 15.18
	if err := conn.QueryRowContext(ctx, "SELECT current_setting('server_version_num')::int").Scan(&number); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return supported(number)
}

func supported(number int) error {
	if major := number / 10000; major < oldestPostgres {
		return fmt.Errorf("migrate: %w: version %d, and Chairside needs %d or later", ErrTooOld, major, oldestPostgres)
	}
	return nil
}
