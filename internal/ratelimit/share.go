package ratelimit

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"entgo.io/ent/dialect"
	"github.com/google/uuid"
)

const (
	// shareTime is the longest time that sharing may take.
	shareTime = time.Second
	// cleanEvery is the number of statements after which buckets that are long full are
	// deleted.
	cleanEvery = 1000
)

// Database returns a function for Options.Share that keeps the buckets in table rate_buckets.
// It passes errors to failed.
func Database(db *sql.DB, name string, failed func(error)) func([]Spending) ([]time.Time, error) {
	statements := 0 // only one goroutine shares at a time
	return func(spent []Spending) (fullAt []time.Time, err error) {
		ctx, cancel := context.WithTimeout(context.Background(), shareTime)
		defer cancel()
		if fullAt, err = upsert(ctx, db, name, spent); err != nil {
			err = fmt.Errorf("share rate limits: %w", err)
			failed(err)
			return nil, err
		}
		if statements++; statements%cleanEvery == 0 {
			if err := clean(ctx, db, name, spent[0].Since); err != nil {
				failed(fmt.Errorf("delete old rate limits: %w", err))
			}
		}
		return fullAt, nil
	}
}

// upsert adds to the shared buckets and returns when they are full. As in setBack, a time that is too far
// ahead is from before the clock was set back.
func upsert(ctx context.Context, db *sql.DB, name string, spent []Spending) ([]time.Time, error) {
	// In order of the id, so that two processes do not wait for each other in a circle.
	ordered := slices.SortedFunc(slices.Values(spent), func(a, b Spending) int { return bytes.Compare(a.ID[:], b.ID[:]) })
	var rows strings.Builder
	var args []any
	for i, s := range ordered {
		if i > 0 {
			rows.WriteString(", ")
		}
		fmt.Fprintf(&rows, "(%s, %s, %s)", placeholder(name, 3*i+1), placeholder(name, 3*i+2), placeholder(name, 3*i+3))
		args = append(args, s.ID, s.Since.Add(s.Cost).UnixMicro(), s.Cost.Microseconds())
	}
	now := spent[0].Now
	args = append(args, now.Add(mostDebt).UnixMicro(), now.Add(period).UnixMicro())
	result, err := db.QueryContext(ctx, fmt.Sprintf(`INSERT INTO rate_buckets (id, full_at, cost) VALUES %s
ON CONFLICT (id) DO UPDATE SET cost = excluded.cost, full_at = excluded.cost + CASE
WHEN rate_buckets.full_at > CAST(%s AS bigint) THEN CAST(%s AS bigint)
WHEN rate_buckets.full_at > excluded.full_at - excluded.cost THEN rate_buckets.full_at
ELSE excluded.full_at - excluded.cost END
RETURNING id, full_at`, rows.String(), placeholder(name, len(args)-1), placeholder(name, len(args))), args...)
	if err != nil {
		return nil, err
	}
	defer result.Close()
	fullAt := make([]time.Time, len(spent))
	for result.Next() {
		var id uuid.UUID
		var micros int64
		if err := result.Scan(&id, &micros); err != nil {
			return nil, err
		}
		i := slices.IndexFunc(spent, func(s Spending) bool { return s.ID == id })
		if i < 0 {
			return nil, fmt.Errorf("bucket %s was not spent", id)
		}
		fullAt[i] = time.UnixMicro(micros)
	}
	return fullAt, result.Err()
}

// clean deletes the buckets that were full an hour ago.
func clean(ctx context.Context, db *sql.DB, name string, now time.Time) error {
	_, err := db.ExecContext(ctx, "DELETE FROM rate_buckets WHERE full_at < "+placeholder(name, 1), now.Add(-time.Hour).UnixMicro())
	return err
}

// placeholder returns the nth parameter of a statement.
func placeholder(name string, n int) string {
	if name == dialect.Postgres {
		return fmt.Sprintf("$%d", n)
	}
	return fmt.Sprintf("?%d", n)
}
