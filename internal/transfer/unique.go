package transfer

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"chairside/internal/store/bulk"

	entschema "entgo.io/ent/dialect/sql/schema"
)

// uniqueKey is some columns of a table that no two rows have the same values in.
type uniqueKey struct {
	columns []string
	without string // a column that has to be empty for that; "" for none
}

// uniqueKeyOf is the key of a unique index.
func uniqueKeyOf(i *entschema.Index) (key uniqueKey, err error) {
	for _, c := range i.Columns {
		key.columns = append(key.columns, c.Name)
	}
	if i.Annotation == nil || i.Annotation.Where == "" {
		return key, nil
	}
	if column, ok := strings.CutSuffix(i.Annotation.Where, " IS NOT NULL"); ok && slices.Contains(key.columns, column) {
		return key, nil // rows without a value of the key are never the same
	}
	column, ok := strings.CutSuffix(i.Annotation.Where, " IS NULL")
	if !ok || strings.Contains(column, " ") {
		return key, fmt.Errorf("cannot tell which rows are unique where %s", i.Annotation.Where)
	}
	key.without = column
	return key, nil
}

// last is the column by which people tell such rows apart.
func (k uniqueKey) last() string { return k.columns[len(k.columns)-1] }

// valuesOf are the values of a key as one text, "" where it is not about the row.
func (b *batch) valuesOf(key uniqueKey, get func(column string) any) string {
	if key.without != "" && get(key.without) != nil {
		return ""
	}
	var values strings.Builder
	for _, column := range key.columns {
		v := get(column)
		if column == "practice_id" {
			v = b.practice.id
		}
		if v == nil {
			return ""
		}
		values.WriteString(asText(v) + "\x00")
	}
	return values.String()
}

// adopt finds rows that a record has to be, because some of its columns may be
// there only once: the user with its e-mail address, the account of its patient.
func (b *batch) adopt() error {
	type adoption struct {
		*record
		key uniqueKey
	}
	e := b.plan.entity
	adopted := map[string]adoption{} // by id
	var ids []any
	take := func(key uniqueKey, r *record, row map[string]any) {
		id := asText(row["id"])
		before, taken := adopted[id]
		switch {
		case row["practice_id"] != b.practice.id:
			r.refuse(key.columns[0], "is taken")
		case taken:
			r.refuse(key.last(), fmt.Sprintf("is that of line %d", before.line))
		case !b.comparing && lineIn(b.written, id) != "": // another reference to the same
			r.refuse(key.last(), "is that of "+lineIn(b.written, id))
		default:
			r.existing, r.id = row, row["id"]
			adopted[id] = adoption{r, key}
			if r.legacy != "" {
				ids = append(ids, id)
			}
		}
	}
	for _, key := range e.unique {
		wanted := map[string][]*record{}
		for _, r := range b.records {
			if r.existing != nil || r.id != nil || len(r.problems) > 0 {
				continue
			}
			if values := b.valuesOf(key, r.get); values != "" {
				wanted[values] = append(wanted[values], r)
			}
		}
		err := b.rowsWith(key, wanted, func(row map[string]any) {
			for _, r := range wanted[b.valuesOf(key, func(column string) any { return row[column] })] {
				take(key, r, row)
			}
		})
		if err != nil {
			return err
		}
	}
	legacy, err := b.legacyIDs(e, ids)
	for id, l := range legacy {
		adopted[id].refuse(adopted[id].key.last(), "is that of the record with the legacy id "+l)
	}
	return err
}

// recall makes written what it has to be before a file is read: the rows that this
// import has written or found for the files of its entity, where some have no ids. One
// that goes on where it was stopped finds them again.
func (im *importer) recall(p *plan) error {
	same := func(other *plan) bool { return other.entity == p.entity }
	if im.writtenOf != p.entity {
		im.writtenOf, im.written = p.entity, nil
	}
	if len(p.entity.unique) == 0 || !slices.ContainsFunc(im.plans, func(other *plan) bool { return same(other) && other.withoutIDs() }) {
		return nil
	}
	known := len(im.written)
	for i, other := range im.plans[:slices.Index(im.plans, p)+1] {
		if !same(other) {
			continue
		}
		if known--; known >= 0 {
			continue
		}
		im.written = append(im.written, sightings{other.name, map[fingerprint]int32{}})
		if rows := im.note.Files[i].Rows; rows > 0 {
			if err := im.readAgain(other, rows, func(records []*record) error { return im.recallBatch(other, records) }); err != nil {
				return err
			}
		}
	}
	return nil
}

func (im *importer) recallBatch(p *plan, records []*record) error {
	return im.inTx(func(tx *sql.Tx, bulk *bulk.Tx) error {
		b := &batch{importer: im, plan: p, tx: tx, bulk: bulk, comparing: true, records: records}
		err := b.findAgain()
		im.keep(b.records)
		return err
	})
}

// keep remembers which rows records are that went in: 20 bytes of memory for each,
// where files of the entity have no ids.
func (im *importer) keep(records []*record) {
	if len(im.written) == 0 {
		return
	}
	for _, r := range records {
		if r.id != nil && len(r.problems) == 0 {
			im.written[len(im.written)-1].lines[fingerprintOf(asText(r.id))] = int32(r.line)
		}
	}
}

// rowsWith reads the rows that have the values of a key, and others that have
// the same in the column that tells most of the records apart.
func (b *batch) rowsWith(key uniqueKey, wanted map[string][]*record, take func(row map[string]any)) error {
	e := b.plan.entity
	var telling string
	var among []any
	for _, column := range key.columns {
		seen := map[any]bool{}
		var values []any
		for _, same := range wanted {
			if v := same[0].get(column); column != "practice_id" && !seen[v] {
				seen[v] = true
				values = append(values, v)
			}
		}
		if len(values) > len(among) {
			telling, among = column, values
		}
	}
	where, args := "true", []any{}
	if slices.Contains(key.columns, "practice_id") {
		where, args = "practice_id = $1", []any{b.practice.id}
	}
	if key.without != "" {
		where += " AND " + quote(key.without) + " IS NULL"
	}
	var failed error
	err := b.query("SELECT "+quoteAll(e.columnNames())+" FROM "+quote(e.table)+" WHERE "+where, args, telling, among, func(values []any) {
		row, err := e.stored(e.columnNames(), values)
		if err != nil {
			failed = err
			return
		}
		take(row)
	})
	return errors.Join(err, failed)
}

// refuseTwins refuses new records that are the same as one before them where
// there can be one only.
func (b *batch) refuseTwins() error {
	for _, key := range b.plan.entity.unique {
		first := map[string]*record{}
		for _, r := range b.records {
			if r.existing != nil || r.gone || len(r.problems) > 0 {
				continue
			}
			values := b.valuesOf(key, r.get)
			switch twin := first[values]; {
			case values == "":
			case twin == nil:
				first[values] = r
			case twin.legacy != "":
				r.refuse(key.last(), "is that of the record with the legacy id "+twin.legacy)
			default:
				r.refuse(key.last(), fmt.Sprintf("is that of line %d", twin.line))
			}
		}
	}
	return nil
}
