// Package sealing looks after the values of sealed columns (package seal) in the database: which
// keys sealed them, and sealing them with another key.
package sealing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/internal/entx/table"
	"chairside/internal/seal"
	"chairside/internal/store"
)

// Use is how many values of a column a key has sealed.
type Use struct {
	Table, Column string
	Key           seal.KeyID
	Values        int64
}

// columns calls visit for each sealed column.
func columns(visit func(t *table.Table, c *table.Column) error) error {
	for _, t := range ent.Tables {
		for i := range t.Columns {
			if c := &t.Columns[i]; c.IsSealed() {
				if err := visit(t, c); err != nil {
					return fmt.Errorf("%s of %s: %w", c.Name, t.Name, err)
				}
			}
		}
	}
	return nil
}

// Uses returns which keys sealed the values of each column.
func Uses(ctx context.Context, db *store.DB) (uses []Use, err error) {
	err = columns(func(t *table.Table, c *table.Column) error {
		rows, err := db.SQL.QueryContext(ctx, fmt.Sprintf("SELECT %[1]s, count(*) FROM %[2]s WHERE %[3]s IS NOT NULL GROUP BY 1 ORDER BY 1",
			seal.KeyIDExpression(table.Quote(c.Name)), table.Quote(t.Name), table.Quote(c.Name)))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			use, id := Use{Table: t.Name, Column: c.Name}, ""
			if err := rows.Scan(&id, &use.Values); err != nil {
				return err
			}
			if use.Key, err = seal.ParseKeyID(id); err != nil {
				return err
			}
			uses = append(uses, use)
		}
		return rows.Err()
	})
	return uses, err
}

// Check returns a LostKeysError for the keys that sealed values and that db.Keys lack.
func Check(ctx context.Context, db *store.DB) error {
	uses, err := Uses(ctx, db)
	if err != nil {
		return fmt.Errorf("check the keys: %w", err)
	}
	var lost []string
	have := db.Keys.IDs()
	for _, u := range uses {
		if id := u.Key.String(); !slices.Contains(have, u.Key) && !slices.Contains(lost, id) {
			lost = append(lost, id)
		}
	}
	switch {
	case len(lost) == 0:
		return nil
	case len(have) == 0:
		return LostKeysError(fmt.Sprintf("the database holds secrets that are sealed with the key %s, and there are no keys: name the file that belongs to the database with --keys-file", strings.Join(lost, ", ")))
	}
	return LostKeysError(fmt.Sprintf("the database holds secrets that are sealed with the key %s, which the keys do not include: name the file that belongs to the database with --keys-file", strings.Join(lost, ", ")))
}

// LostKeysError names keys that values of the database need, and what to do.
type LostKeysError string

func (e LostKeysError) Error() string { return string(e) }

// batch is how many values are sealed again in one pass.
const batch = 500

// Reseal seals again, with the first of db.Keys, all values that other keys sealed, while servers
// run. It may be interrupted and repeated. A value that a server replaces meanwhile stays as the
// server wrote it. The error names each value that does not open; all others are sealed again.
func Reseal(ctx context.Context, db *store.DB) (resealed int, err error) {
	ids := db.Keys.IDs()
	if len(ids) == 0 {
		return 0, seal.ErrNoKeys
	}
	var broken []error
	err = columns(func(t *table.Table, c *table.Column) error {
		for after := any(nil); ; {
			rows, err := others(ctx, db, t, c, ids[0], after)
			if err != nil {
				return err
			}
			for _, r := range rows {
				switch done, err := r.reseal(ctx, db, t, c); {
				case errors.Is(err, seal.ErrMoved), errors.Is(err, seal.ErrLostKey):
					broken = append(broken, fmt.Errorf("%s of %s %s: %w", c.Name, t.Name, r.at.Row, err))
				case err != nil:
					return err
				case done:
					resealed++
				}
			}
			if len(rows) < batch {
				return nil
			}
			after = rows[len(rows)-1].id
		}
	})
	if err != nil {
		err = fmt.Errorf("seal again: %w", err)
	}
	return resealed, errors.Join(append(broken, err)...)
}

// row is a value that another key sealed.
type row struct {
	id    any
	at    seal.Place
	value seal.Value
}

// others returns the next values that keys other than the given one sealed, in order of the id.
func others(ctx context.Context, db *store.DB, t *table.Table, c *table.Column, key seal.KeyID, after any) (found []row, err error) {
	owner := "practice_id"
	if !t.Has(owner) {
		owner = "id" // of the practice itself
	}
	query, args := fmt.Sprintf("SELECT id, %[4]s, %[1]s FROM %[2]s WHERE %[1]s IS NOT NULL AND %[3]s <> $1",
		table.Quote(c.Name), table.Quote(t.Name), seal.KeyIDExpression(table.Quote(c.Name)), owner), []any{key.String()}
	if after != nil {
		query += " AND id > $2"
		args = append(args, after)
	}
	rows, err := db.SQL.QueryContext(ctx, fmt.Sprintf("%s ORDER BY id LIMIT %d", query, batch), args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var r row
		var practice uuid.UUID
		if err := rows.Scan(&r.id, &practice, &r.value); err != nil {
			return nil, err
		}
		id, _, err := t.Columns[0].Stored.Format(r.id)
		if err != nil {
			return nil, err
		}
		if raw, ok := r.id.([]byte); ok {
			r.id = string(raw)
		}
		r.at = seal.Place{Practice: practice, Table: t.Name, Column: c.Name, Row: id}
		found = append(found, r)
	}
	return found, rows.Err()
}

// reseal seals one value with the first key. It reports false if the value has changed meanwhile.
func (r row) reseal(ctx context.Context, db *store.DB, t *table.Table, c *table.Column) (done bool, err error) {
	plain, err := db.Keys.Open(r.at, r.value)
	if err != nil {
		return false, err
	}
	sealed, err := db.Keys.Seal(r.at, plain)
	if err != nil {
		return false, err
	}
	result, err := db.SQL.ExecContext(ctx, fmt.Sprintf("UPDATE %[1]s SET %[2]s = $1 WHERE id = $2 AND %[2]s = $3", table.Quote(t.Name), table.Quote(c.Name)), sealed, r.id, r.value)
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n == 1, err
}
