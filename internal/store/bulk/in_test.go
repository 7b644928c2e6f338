package bulk_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"chairside/internal/civil"
	"chairside/internal/store"
	"chairside/internal/store/bulk"
	"chairside/internal/store/storetest"
)

// createParts creates the table parts, with two rows of one practice and one of another.
func createParts(t *testing.T, db *store.DB, ours, theirs uuid.UUID) {
	t.Helper()
	types := "id integer NOT NULL PRIMARY KEY, practice_id uuid, name text, at datetime, day date, flag bool, token uuid, words json, bytes blob"
	if storetest.Postgres(db) {
		types = "id bigint PRIMARY KEY, practice_id uuid, name text, at timestamptz, day date, flag boolean, token uuid, words jsonb, bytes bytea"
	}
	storetest.Exec(t, db, "CREATE TABLE parts ("+types+")")
	for i, practice := range []uuid.UUID{ours, ours, theirs} {
		if _, err := db.SQL.ExecContext(t.Context(), "INSERT INTO parts (id, practice_id, name) VALUES ($1, $2, $3)", i+1, practice, []string{`a "b", {c}\`, "é", "é"}[i]); err != nil {
			t.Fatal(err)
		}
	}
}

// idsWhere returns the ids of the rows of parts for which a condition holds.
func idsWhere(t *testing.T, db *store.DB, condition string, args ...any) (ids []int64) {
	t.Helper()
	rows, err := db.SQL.QueryContext(t.Context(), "SELECT id FROM parts WHERE "+condition+" ORDER BY id", args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			t.Error(err)
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		t.Error(err)
	}
	return ids
}

func TestBulkIn(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := storetest.Open(t, url)
		ours, theirs := uuid.New(), uuid.New()
		createParts(t, db, ours, theirs)
		err := bulk.Load(t.Context(), db, func(b *bulk.Tx) error {
			for _, test := range []struct {
				column string
				values []any
				want   []int64
			}{
				{"id", []any{int64(2), int64(3), int64(7)}, []int64{2, 3}},
				{"name", []any{`a "b", {c}\`, "none", `"`}, []int64{1}},
				{"name", []any{"é", "é"}, []int64{2, 3}},
				{"practice_id", []any{theirs.String()}, []int64{3}},
				{"name", []any{"NULL", ""}, nil},
			} {
				condition, list := b.In(test.column, 1, test.values)
				if got := idsWhere(t, db, condition, list); !slices.Equal(got, test.want) {
					t.Errorf("%s in %q: %v, want %v", test.column, test.values, got, test.want)
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// TestBulkUpdate checks that values of every type, and nulls, are set in more rows than one
// statement takes, and only in rows of the practice.
func TestBulkUpdate(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := storetest.Open(t, url)
		ours, theirs := uuid.New(), uuid.New()
		createParts(t, db, ours, theirs)
		now, day, token := time.Date(2026, 7, 1, 9, 15, 0, 123e6, time.UTC), civil.MustParse("2026-07-01"), uuid.New()
		columns := []bulk.SetColumn{
			{"id", "bigint"}, {"name", "text"}, {"at", "timestamptz"}, {"day", "date"}, {"flag", "boolean"}, {"token", "uuid"}, {"words", "jsonb"}, {"bytes", "bytea"},
		}
		rows := [][]any{
			{int64(1), `x "y", {z}\`, now, day.String(), true, token.String(), `["a, b"]`, []byte{0, 1, '\\', '"'}},
			{int64(2), nil, nil, nil, false, nil, nil, nil},
			{int64(3), "not ours", now, day.String(), true, token.String(), `{}`, nil},
		}
		for id := int64(10); id < bulk.SQLiteVariables/4; id++ { // more rows than one statement of SQLite takes; the table has none of them
			rows = append(rows, []any{id, "none", nil, nil, nil, nil, nil, nil})
		}
		err := bulk.Load(t.Context(), db, func(b *bulk.Tx) error { return b.Update(t.Context(), "parts", ours.String(), columns, rows) })
		if err != nil {
			t.Fatal(err)
		}
		if got := idsWhere(t, db, "name = $1 AND at = $2 AND day = $3 AND flag AND token = $4 AND bytes = $5", `x "y", {z}\`, now, day, token, []byte{0, 1, '\\', '"'}); !slices.Equal(got, []int64{1}) {
			t.Errorf("all values: rows %v", got)
		}
		if got := idsWhere(t, db, "name IS NULL AND at IS NULL AND day IS NULL AND NOT flag AND token IS NULL AND words IS NULL AND bytes IS NULL"); !slices.Equal(got, []int64{2}) {
			t.Errorf("no values: rows %v", got)
		}
		if got := idsWhere(t, db, "name = 'é' AND at IS NULL AND practice_id = $1", theirs); !slices.Equal(got, []int64{3}) {
			t.Errorf("a row of another practice was changed: %v", got)
		}
	})
}
