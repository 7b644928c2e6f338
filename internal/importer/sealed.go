package importer

import (
	"errors"
	"fmt"

	"github.com/google/uuid"

	"chairside/internal/entx/table"
	"chairside/internal/seal"
	"chairside/schema"
)

// Records and rows have the plain texts of sealed columns. They are opened when rows are read and
// sealed when rows are written.

// place returns where a sealed value stands.
func (b *batch) place(e *entity, column string, id any) seal.Place {
	return seal.Place{Practice: uuid.MustParse(b.practice.id), Table: e.Name, Column: column, Row: asText(id)}
}

// open opens the sealed columns of a row.
func (b *batch) open(e *entity, r row) {
	for name, v := range r {
		text, isText := v.(string)
		if !e.Column(name).IsSealed() || !isText || b.err != nil {
			continue
		}
		value, err := seal.Parse(text)
		if r["id"] == nil && err == nil {
			err = errors.New("is read without the id of its row")
		}
		if err == nil {
			r[name], err = b.db.Keys.Open(b.place(e, name, r["id"]), value)
		}
		if err != nil {
			b.fail(fmt.Errorf("%s.%s: %w", e.Name, name, err))
		}
	}
}

// toStore returns the stored form of a value: sealed, if its column is.
func (b *batch) toStore(e *entity, column string, id, v any) any {
	text, isText := v.(string)
	if !isText || !e.Column(column).IsSealed() {
		return v
	}
	sealed, err := b.db.Keys.Seal(b.place(e, column, id), text)
	b.fail(err)
	return sealed.String()
}

// hashSealed sets the keyed hashes of sealed columns, by which search finds their values.
func (im *importer) hashSealed(e *entity, r *record) {
	for i := range e.Columns {
		column := e.Columns[i].Name
		hash := column + "_hash"
		if !e.Columns[i].IsSealed() || !e.Has(hash) {
			continue
		}
		r.values[hash] = nil
		if digits := schema.Digits(r.text(column)); digits != "" {
			r.values[hash] = seal.Hash(im.searchKey, digits)
		}
	}
}

// readSearchKey reads the key of the practice's hashes. If the practice has none, it makes one.
func (b *batch) readSearchKey() {
	practices := entityOf("practices")
	const column = "search_key"
	at := b.place(practices, column, b.practice.id)
	made := b.toStore(practices, column, b.practice.id, seal.NewHashKey())
	if b.err != nil {
		return
	}
	result, err := b.tx.ExecContext(b.ctx, "UPDATE practices SET search_key = $1 WHERE id = $2 AND search_key IS NULL", made, b.practice.id)
	if b.fail(err); err != nil {
		return
	}
	if n, err := result.RowsAffected(); err == nil && n > 0 {
		b.logChanges(practices, []change{{nil, b.practice.id, "update", fieldList([]string{column})}})
	}
	var stored seal.Value
	b.queryRow("SELECT "+table.Quote(column)+" FROM practices WHERE id = $1", []any{b.practice.id}, &stored)
	if b.err == nil {
		b.importer.searchKey, err = b.db.Keys.Open(at, stored)
		b.fail(err)
	}
}
