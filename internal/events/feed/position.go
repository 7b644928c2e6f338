package feed

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"chairside/internal/principal"
)

// maxBehind is the number of changes after a position that Since looks at.
const maxBehind = 2000

// Position returns the end of the feed when Run last looked, as a cursor; "" before the first
// look. It reads nothing. Everything that is committed later, by any process, comes after it.
func (f *Feed) Position() string {
	if position := f.position.Load(); position != nil {
		return *position
	}
	return ""
}

// lookTime is the time limit of look, even if its connection is lost.
const lookTime = 20 * time.Second

// look makes the current end the position.
func (f *Feed) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	var s state
	err := f.db.Pool(ctx).QueryRowContext(ctx, "SELECT "+stateColumns(f.db)+" FROM feed_state AS s").Scan(s.columns()...)
	if err == nil {
		err = s.complete(f.db)
	}
	if err != nil {
		return fmt.Errorf("feed: read the state: %w", err)
	}
	position := s.cursor(s.last)
	f.position.Store(&position)
	return nil
}

// Changed is what Since finds.
type Changed int

// The findings.
const (
	Nothing  Changed = iota // no change
	Perhaps                 // a change, or the position is from another database
	TooOften                // none of the first 2,000 changes is relevant; Since does not look further
)

// Since reports whether resources of the caller's practice have changed since a position,
// including changes that have no number yet.
func (f *Feed) Since(ctx context.Context, position string, resources []string) (Changed, error) {
	from, err := parseCursor(position)
	if err != nil {
		return Perhaps, nil
	}
	list, err := json.Marshal(resources)
	if err != nil {
		return Perhaps, err
	}
	watched := f.among("resource", 3)
	var s state
	var behind int
	var changed bool
	err = f.db.Pool(ctx).QueryRowContext(ctx, `
		WITH behind AS MATERIALIZED (SELECT resource FROM feed_changes WHERE practice_id = $1 AND seq > $2 ORDER BY seq LIMIT $4)
		SELECT `+stateColumns(f.db)+`, (SELECT count(*) FROM behind),
			EXISTS (SELECT * FROM behind WHERE `+watched+`) OR
			EXISTS (SELECT * FROM feed_changes WHERE seq IS NULL AND practice_id = $1 AND `+watched+`)
		FROM feed_state AS s`, principal.Must(ctx).PracticeID, from.seq, string(list), maxBehind).Scan(append(s.columns(), &behind, &changed)...)
	if err == nil {
		err = s.complete(f.db)
	}
	switch {
	case err != nil:
		return Perhaps, fmt.Errorf("feed: look behind a position: %w", err)
	case changed || s.check(from) != nil || from.seq > s.last:
		return Perhaps, nil
	case behind == maxBehind:
		return TooOften, nil
	}
	return Nothing, nil
}
