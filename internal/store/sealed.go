package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	entsql "entgo.io/ent/dialect/sql"
	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/practice"
	"chairside/internal/audit"
	"chairside/internal/entx"
	"chairside/internal/seal"
	"chairside/schema"
)

// sealedColumn is a sealed column of an entity.
type sealedColumn struct {
	seal.Place
	hash string // column with the keyed hash of the digits; "" without one
}

// sealedColumns are the sealed columns of each entity that has some. A column with a hash has the
// name of the sealed one and this ending.
var sealedColumns = func() map[string][]sealedColumn {
	all := map[string][]sealedColumn{}
	for _, t := range ent.Tables {
		for i := range t.Columns {
			c := &t.Columns[i]
			if !c.IsSealed() {
				continue
			}
			column := sealedColumn{Place: seal.Place{Table: t.Name, Column: c.Name}}
			if t.Has(c.Name + "_hash") {
				column.hash = c.Name + "_hash"
			}
			all[t.Type] = append(all[t.Type], column)
		}
	}
	return all
}()

// sealPlain seals the plain texts (seal.Plain) of a write, for the row's id and practice, and sets
// their hashes.
func (db *DB) sealPlain(ctx context.Context, m ent.Mutation) error {
	for _, c := range sealedColumns[m.Type()] {
		if c.hash != "" && m.FieldCleared(c.Column) {
			if err := replaceText(ctx, m, c.hash, ""); err != nil {
				return err
			}
		}
		if !slices.Contains(m.Fields(), c.Column) {
			continue
		}
		value, _ := m.Field(c.Column)
		plain, open := value.(seal.Value).ToSeal()
		if !open {
			continue
		}
		at := c.Place
		var err error
		if at.Row, err = idToSealFor(ctx, m); err != nil {
			return err
		}
		if at.Practice, err = practiceOf(ctx, m); err != nil {
			return err
		}
		sealed, err := db.Keys.Seal(at, plain)
		if err != nil {
			return fmt.Errorf("seal %s of %s: %w", at.Column, at.Table, err)
		}
		if err := m.SetField(at.Column, sealed); err != nil {
			return err
		}
		if c.hash != "" {
			if err := db.setHash(ctx, m, c.hash, at.Practice, schema.Digits(plain)); err != nil {
				return err
			}
		}
	}
	return nil
}

// setHash sets the column with the hash of a value's digits. If there are no digits it clears the column.
func (db *DB) setHash(ctx context.Context, m ent.Mutation, column string, practice uuid.UUID, digits string) error {
	if digits == "" {
		return replaceText(ctx, m, column, "")
	}
	key, err := db.HashKey(ctx, m.(interface{ Client() *ent.Client }).Client(), practice)
	if err != nil {
		return err
	}
	return replaceText(ctx, m, column, seal.Hash(key, digits))
}

// replaceText sets an optional text column, "" for null, unless the row has the text already,
// because the audit log would list the column as changed. The audit log does not say that the
// user has read the row.
func replaceText(ctx context.Context, m ent.Mutation, column, text string) error {
	old := new(string)
	if m.Op().Is(ent.OpUpdateOne) {
		quiet, _ := audit.With(ctx)
		v, err := m.OldField(quiet, column)
		switch s, _ := v.(*string); {
		case ent.IsNotFound(err): // then the write says so
			return nil
		case err != nil:
			return err
		case s != nil:
			old = s
		}
	}
	switch {
	case text == *old:
		return nil
	case text == "":
		return m.ClearField(column)
	}
	return m.SetField(column, text)
}

// HashKey returns the key of a practice's hashes in a transaction. The first use makes it.
func (db *DB) HashKey(ctx context.Context, tx *ent.Client, practiceID uuid.UUID) (string, error) {
	if key, err := db.SearchKey(ctx, tx, practiceID); key != "" || err != nil {
		return key, err
	}
	p, err := tx.Practice.Query().Where(practice.ID(practiceID), ForUpdate).Only(ctx)
	if err != nil {
		return "", err
	}
	if !p.SearchKey.IsNull() { // made by another transaction meanwhile
		return p.OpenSearchKey(db.Keys)
	}
	key := seal.NewHashKey()
	return key, tx.Practice.UpdateOne(p).SetSearchKey(seal.Plain(key)).Exec(ctx)
}

// SearchKey returns the key of a practice's hashes, by which sealed values are found, or "" if no
// value has a hash yet. It fails as seal.Keys.Open does.
func (db *DB) SearchKey(ctx context.Context, client *ent.Client, practiceID uuid.UUID) (string, error) {
	p, err := client.Practice.Query().Where(practice.ID(practiceID)).Select(practice.FieldID, practice.FieldSearchKey).Only(ctx)
	if err != nil {
		return "", err
	}
	return p.OpenSearchKey(db.Keys)
}

// idToSealFor returns the id of the row that m writes. A new row of a numbered table gets its id
// now, because the sealed value is bound to it.
func idToSealFor(ctx context.Context, m ent.Mutation) (string, error) {
	numbered, ok := m.(interface {
		ID() (int64, bool)
		SetID(int64)
		NextID(context.Context) (int64, error)
	})
	if !ok {
		return recordID(m)
	}
	if _, known := numbered.ID(); !known {
		id, err := numbered.NextID(ctx)
		if err != nil {
			return "", err
		}
		numbered.SetID(id)
	}
	return recordID(m)
}

// NextID reserves the id of a new row of a table, which its sealed values are bound to, for SQL.
// Ent does so itself.
func (db *DB) NextID(ctx context.Context, tx *sql.Tx, table string) (int64, error) {
	return entx.NextID(ctx, entsql.NewDriver(db.Dialect, entsql.Conn{ExecQuerier: tx}), table)
}

// openToHash opens the old value of a sealed column, because the audit log has the hash of its plain
// text. A value that does not open stays sealed, so that its row can still be changed.
func (db *DB) openToHash(practiceID uuid.UUID, m ent.Mutation, column string, value any) (any, error) {
	v, sealed := value.(seal.Value)
	if !sealed || db.AuditKey == nil {
		return value, nil
	}
	at := seal.Place{Practice: practiceID}
	for _, c := range sealedColumns[m.Type()] {
		if c.Column == column {
			at.Table, at.Column = c.Table, c.Column
		}
	}
	var err error
	if at.Row, err = recordID(m); err != nil {
		return nil, err
	}
	if err := db.Keys.Unseal(at, &v); err != nil && !errors.Is(err, seal.ErrLostKey) && !errors.Is(err, seal.ErrMoved) && !errors.Is(err, seal.ErrNoKeys) {
		return nil, err
	}
	return v, nil
}
