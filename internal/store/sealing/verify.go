package sealing

import (
	"context"
	"fmt"

	"chairside/internal/entx/table"
	"chairside/internal/seal"
	"chairside/internal/store"
)

// maxBroken is the most values that Verify names.
const maxBroken = 100

// Verify opens every sealed value, and returns how many opened and why others did not.
func Verify(ctx context.Context, db *store.DB) (opened int, broken []error, err error) {
	err = columns(func(t *table.Table, c *table.Column) error {
		for after := any(nil); ; {
			rows, err := others(ctx, db, t, c, noKey, after)
			if err != nil {
				return err
			}
			for _, r := range rows {
				switch _, err := db.Keys.Open(r.at, r.value); {
				case err == nil:
					opened++
				case len(broken) < maxBroken:
					broken = append(broken, fmt.Errorf("%s of %s %s: %w", c.Name, t.Name, r.at.Row, err))
				}
			}
			if len(rows) < batch {
				return nil
			}
			after = rows[len(rows)-1].id
		}
	})
	if err != nil {
		return opened, broken, fmt.Errorf("open the sealed values: %w", err)
	}
	return opened, broken, nil
}

// noKey is the id of no key.
const noKey = seal.KeyID(0)
