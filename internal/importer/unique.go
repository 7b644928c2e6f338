package importer

import (
	"fmt"
	"slices"
	"strings"

	"chairside/internal/entx/table"
)

// valuesOf returns the values of a key as one text, or "" if the key does not apply to the row.
func (b *batch) valuesOf(key table.Key, get func(column string) any) string {
	if key.Unless != "" && get(key.Unless) != nil {
		return ""
	}
	var values strings.Builder
	for _, column := range key.Columns {
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

// adopt finds the existing row with the same unique key as a record, which the record then updates:
// the user with its e-mail address, the account of its patient.
func (b *batch) adopt() {
	type adoption struct {
		*record
		key table.Key
	}
	e := b.plan.entity
	adopted := map[string]adoption{} // by id
	var ids []any
	take := func(key table.Key, r *record, found row) {
		id := asText(found["id"])
		before, taken := adopted[id]
		switch {
		case found["practice_id"] != b.practice.id:
			r.refuse(key.Columns[0], "is taken")
		case taken:
			r.refuse(key.Last(), isThatOf(before.record))
		case !b.comparing && lineIn(b.written, id) != "": // another reference to the same
			r.refuse(key.Last(), "is that of "+lineIn(b.written, id))
		default:
			r.existing, r.id = found, found["id"]
			adopted[id] = adoption{r, key}
			if r.legacy != "" {
				ids = append(ids, id)
			}
		}
	}
	for _, key := range e.Unique {
		wanted := map[string][]*record{}
		for _, r := range b.records {
			if r.existing != nil || r.id != nil || len(r.problems) > 0 {
				continue
			}
			if values := b.valuesOf(key, r.get); values != "" {
				wanted[values] = append(wanted[values], r)
			}
		}
		b.rowsWith(key, wanted, func(found row) {
			for _, r := range wanted[b.valuesOf(key, func(column string) any { return found[column] })] {
				take(key, r, found)
			}
		})
	}
	for id, l := range b.legacyIDs(e, ids) {
		adopted[id].refuse(adopted[id].key.Last(), "is that of the record with the legacy id "+l)
	}
}

// isThatOf is the message for a value that an earlier line has.
func isThatOf(r *record) string { return fmt.Sprintf("is that of line %d", r.line) }

// rowsWith reads rows by the key's most selective column among the records. They include the rows
// that have the values of a key, and others.
func (b *batch) rowsWith(key table.Key, wanted map[string][]*record, take func(found row)) {
	e := b.plan.entity
	var telling string
	var among []any
	for _, column := range key.Columns {
		seen := map[any]bool{}
		for _, same := range wanted {
			seen[same[0].get(column)] = true
		}
		if column != "practice_id" && len(seen) > len(among) {
			telling, among = column, keysOf(seen)
		}
	}
	if len(among) == 0 {
		return
	}
	condition, list := b.bulk.In(telling, 1, among)
	args := []any{list}
	if slices.Contains(key.Columns, "practice_id") {
		condition += " AND practice_id = $2"
		args = append(args, b.practice.id)
	}
	if key.Unless != "" {
		condition += " AND " + table.Quote(key.Unless) + " IS NULL"
	}
	b.rows(selectFrom(e, e.Names())+condition, args, func(values []any) {
		if found := b.stored(e, e.Names(), values); b.err == nil {
			take(found)
		}
	})
}

// refuseTwins refuses new records with the same unique key as an earlier record.
func (b *batch) refuseTwins() {
	for _, key := range b.plan.entity.Unique {
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
				r.refuse(key.Last(), "is that of the record with the legacy id "+twin.legacy)
			default:
				r.refuse(key.Last(), isThatOf(twin))
			}
		}
	}
}

// recall fills im.written before a file is read: the rows that this import has written or found for
// the files of its entity, if any of them has no ids. A resumed import reads the files again to find
// them.
func (im *importer) recall(p *plan) error {
	same := func(other *plan) bool { return other.entity == p.entity }
	if im.writtenOf != p.entity {
		im.writtenOf, im.written = p.entity, nil
	}
	if len(p.entity.Unique) == 0 || !slices.ContainsFunc(im.plans, func(other *plan) bool { return same(other) && other.withoutIDs() }) {
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
			if err := im.readAgain(other, rows, func(b *batch) { im.keep(b.records) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// keep remembers the rows of accepted records, if files of the entity have no ids. It takes about
// 20 bytes for each.
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

// keysOf returns the keys of a set as arguments of a query.
func keysOf[K comparable](set map[K]bool) []any {
	keys := make([]any, 0, len(set))
	for key := range set {
		keys = append(keys, key)
	}
	return keys
}
