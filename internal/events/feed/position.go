package feed

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"entgo.io/ent/dialect"

	"chairside/internal/principal"
)

// maxBehind is the most changes that Since looks at.
const maxBehind = 2000

// Position returns the cursor that Run saw last; "" before the first one. It costs nothing. What
// is committed later, here or in other processes, is behind it.
func (f *Feed) Position() string {
	if position := f.position.Load(); position != nil {
		return *position
	}
	return ""
}

// look notes the current end as the position.
func (f *Feed) look(ctx context.Context, logger *slog.Logger) {
	var s state
	err := f.db.SQL.QueryRowContext(ctx, "SELECT "+stateColumns(f.db)+" FROM feed_state AS s").Scan(s.columns()...)
	if err == nil {
		err = s.complete(f.db)
	}
	switch {
	case err == nil:
		position := s.cursor(s.last)
		f.position.Store(&position)
	case ctx.Err() == nil:
		logger.Warn("cannot see how far the change feed is", "error", err)
	}
}

// Changed tells what has happened behind a position.
type Changed int

// What Since returns.
const (
	Nothing  Changed = iota
	Perhaps          // a change, or the position is of another database
	TooOften         // too many changes to look at: the position is worth nothing any more
)

// Since tells whether resources of the caller's practice have changed since a position, whether
// or not the changes are numbered.
func (f *Feed) Since(ctx context.Context, position string, resources []string) (Changed, error) {
	from, err := parseCursor(position)
	if err != nil {
		return Perhaps, nil
	}
	list, err := json.Marshal(resources)
	if err != nil {
		return Perhaps, err
	}
	watched := "SELECT jsonb_array_elements_text(CAST($3 AS jsonb))"
	if f.db.Dialect == dialect.SQLite {
		watched = "SELECT value FROM json_each($3)"
	}
	var s state
	var behind int
	var changed bool
	err = f.db.SQL.QueryRowContext(ctx, `
		WITH behind AS MATERIALIZED (SELECT resource FROM feed_changes WHERE practice_id = $1 AND seq > $2 ORDER BY seq LIMIT $4)
		SELECT `+stateColumns(f.db)+`, (SELECT count(*) FROM behind),
			EXISTS (SELECT * FROM behind WHERE resource IN (`+watched+`)) OR
			EXISTS (SELECT * FROM feed_changes WHERE seq IS NULL AND practice_id = $1 AND resource IN (`+watched+`))
		FROM feed_state AS s`, principal.Must(ctx).PracticeID, from.seq, string(list), maxBehind).Scan(append(s.columns(), &behind, &changed)...)
	if err == nil {
		err = s.complete(f.db)
	}
	switch {
	case err != nil:
		return Perhaps, fmt.Errorf("feed: look behind a position: %w", err)
	case changed || s.check(from) != nil:
		return Perhaps, nil
	case behind == maxBehind:
		return TooOften, nil
	}
	return Nothing, nil
}
