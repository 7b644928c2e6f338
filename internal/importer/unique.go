package importer

import (
	"fmt"
	"slices"
	"strings"

	"chairside/internal/entx/table"
)

// uniqueMatch is a record that was matched with an existing row by a unique key.
type uniqueMatch struct {
	*record
	key table.Key
}

// matchByUniqueKey matches records without a row with existing rows that have the same unique
// key, which the records then update: the user with the e-mail address, the account of the
// patient.
func (b *batch) matchByUniqueKey() {
	matches := map[string]uniqueMatch{} // by ID of the row
	for _, key := range b.plan.entity.Unique {
		wanted := map[string][]*record{} // by the values of the key
		for _, r := range b.records {
			if r.existing != nil || r.id != nil || r.rejected() {
				continue
			}
			if values := b.keyValues(key, r.get); values != "" {
				wanted[values] = append(wanted[values], r)
			}
		}
		b.forRowsWithKey(key, wanted, func(found row) {
			for _, r := range wanted[b.keyValues(key, func(column string) any { return found[column] })] {
				b.match(matches, uniqueMatch{r, key}, found)
			}
		})
	}
	var ids []any
	for id, m := range matches {
		if m.legacyID != "" {
			ids = append(ids, id)
		}
	}
	for id, other := range b.legacyIDs(b.plan.entity, ids) {
		matches[id].reject(matches[id].key.Last(), usedBy(other))
	}
}

// match gives a record the row that was found for it, or rejects the record if it may not have
// it.
func (b *batch) match(matches map[string]uniqueMatch, m uniqueMatch, found row) {
	id := asText(found["id"])
	before, taken := matches[id]
	switch {
	case found["practice_id"] != b.practice.id:
		m.reject(m.key.Columns[0], "is taken")
	case taken:
		m.reject(m.key.Last(), duplicatesLine(before.record))
	case !b.rereading && b.written.find(id) != "": // the row names what it refers to in another way
		m.reject(m.key.Last(), "duplicates "+b.written.find(id))
	default:
		m.existing, m.id = found, found["id"]
		matches[id] = m
	}
}

func duplicatesLine(r *record) string { return fmt.Sprintf("duplicates line %d", r.source.line) }

func usedBy(legacyID string) string {
	return "is already used by the record with the legacy id " + legacyID
}

// keyValues returns the values of a key as one text, or "" if the key does not apply to the row.
func (b *batch) keyValues(key table.Key, get func(column string) any) string {
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

// forRowsWithKey reads the rows that have the wanted values of a key, and some others: those
// with the same value in the column of the key that differs most among the records.
func (b *batch) forRowsWithKey(key table.Key, wanted map[string][]*record, each func(found row)) {
	var selective string
	var values []any
	for _, column := range key.Columns {
		distinct := map[any]bool{}
		for _, records := range wanted {
			distinct[records[0].get(column)] = true
		}
		if column != "practice_id" && len(distinct) > len(values) {
			selective, values = column, keysOf(distinct)
		}
	}
	if len(values) == 0 {
		return
	}
	condition, list := b.bulk.In(selective, 1, values)
	args := []any{list}
	if slices.Contains(key.Columns, "practice_id") {
		condition += " AND practice_id = $2"
		args = append(args, b.practice.id)
	}
	if key.Unless != "" {
		condition += " AND " + table.Quote(key.Unless) + " IS NULL"
	}
	e := b.plan.entity
	b.query(selectFrom(e, e.Names())+condition, args, func(values []any) {
		if found := b.toRow(e, e.Names(), values); b.err == nil {
			each(found)
		}
	})
}

// rejectDuplicates rejects new records with the same unique key as an earlier one of the batch.
func (b *batch) rejectDuplicates() {
	for _, key := range b.plan.entity.Unique {
		first := map[string]*record{}
		for _, r := range b.records {
			if r.existing != nil || r.deleted || r.rejected() {
				continue
			}
			values := b.keyValues(key, r.get)
			switch before := first[values]; {
			case values == "":
			case before == nil:
				first[values] = r
			case before.legacyID != "":
				r.reject(key.Last(), usedBy(before.legacyID))
			default:
				r.reject(key.Last(), duplicatesLine(before))
			}
		}
	}
}
