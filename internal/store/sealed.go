package store

import (
	"context"
	"fmt"
	"slices"

	"chairside/ent"
	"chairside/internal/seal"
)

// sealedColumns are the sealed columns of each entity that has some.
var sealedColumns = func() map[string][]seal.Place {
	all := map[string][]seal.Place{}
	for _, t := range ent.Tables {
		for i := range t.Columns {
			if c := &t.Columns[i]; c.IsSealed() {
				all[t.Type] = append(all[t.Type], seal.Place{Table: t.Name, Column: c.Name})
			}
		}
	}
	return all
}()

// sealPlain seals the plain texts (seal.Plain) of a write, for the row's id and practice.
func (db *DB) sealPlain(ctx context.Context, m ent.Mutation) error {
	for _, at := range sealedColumns[m.Type()] {
		if !slices.Contains(m.Fields(), at.Column) {
			continue
		}
		value, _ := m.Field(at.Column)
		plain, open := value.(seal.Value).ToSeal()
		if !open {
			continue
		}
		var err error
		if at.Practice, err = practiceOf(ctx, m); err != nil {
			return err
		}
		if at.Row, err = recordID(m); err != nil {
			return err
		}
		sealed, err := db.Keys.Seal(at, plain)
		if err != nil {
			return fmt.Errorf("seal %s of %s: %w", at.Column, at.Table, err)
		}
		if err := m.SetField(at.Column, sealed); err != nil {
			return err
		}
	}
	return nil
}
