package transfer

import (
	"cmp"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"chairside/internal/store/bulk"
	"chairside/schema"
)

// batch is some rows of a file on their way into the database, in one
// transaction.
type batch struct {
	*importer
	plan *plan
	tx   *sql.Tx
	bulk *bulk.Tx
	now  time.Time // when it is written, which is long after a large import has begun
	turn *turn     // of a batch that is stored

	comparing bool // only totals are to be compared

	records []*record                            // those that nothing is wrong with so far
	parents map[string]map[string]map[string]any // by reference and id: columns of the record
}

// run writes what can be written of the records, and notes of the others why
// they cannot.
func (b *batch) run(records []*record, counts *fileProgress) error {
	b.records = slices.DeleteFunc(slices.Clone(records), func(r *record) bool { return r.keys == nil })
	if err := b.findReferences(); err != nil { // of rows with other problems as well, so that all are told at once
		return err
	}
	b.records = records
	for _, step := range []func() error{b.findRows, b.findParents, b.adopt, b.applyRules, b.refuseTwins, b.warnOfDuplicates} {
		b.records = slices.DeleteFunc(slices.Clone(b.records), func(r *record) bool { return len(r.problems) > 0 })
		if err := step(); err != nil {
			return err
		}
	}
	b.records = slices.DeleteFunc(b.records, func(r *record) bool { return len(r.problems) > 0 })
	counts.Rejected += len(records) - len(b.records)
	return b.write(counts)
}

// findRows finds the rows that the records became in an earlier import, by
// their legacy ids.
func (b *batch) findRows() error {
	var wanted []string
	for _, r := range b.records {
		if r.legacy != "" {
			wanted = append(wanted, r.raw)
		}
	}
	known, err := b.imported(b.plan.entity, b.first.Load(), wanted)
	if err != nil {
		return err
	}
	for _, r := range b.records {
		ids := known[r.raw]
		switch {
		case r.legacy == "" || len(ids) == 0:
		case len(ids) > 1:
			r.refuse(legacyID, "is that of more than one record")
		default:
			r.id, r.linked = b.plan.entity.id(ids[0].id), ids[0].spellings
		}
	}
	return b.readExisting()
}

// link is a row that a legacy id belongs to.
type link struct {
	id        string
	spellings []string // for which an import remembers it; none where it is only written on the row
}

// imported finds rows by the ids they had in the other system, as files spell them:
// remembered by an import, unless there was none, or written on them. A legacy id
// of which two spellings belong to different rows has both.
func (b *batch) imported(e *entity, none bool, legacy []string) (map[string][]link, error) {
	found := map[string][]link{}
	if none && !e.has(legacyID) {
		return found, nil
	}
	add := func(raw, id string) *link {
		k := slices.IndexFunc(found[raw], func(l link) bool { return l.id == id })
		if k < 0 {
			k = len(found[raw])
			found[raw] = append(found[raw], link{id: id})
		}
		return &found[raw][k]
	}
	var all []any
	of := map[string][]string{} // the legacy ids of a spelling
	for _, raw := range legacy {
		for _, s := range b.plan.spellings(raw) {
			if of[s] == nil {
				all = append(all, s)
			}
			of[s] = append(of[s], raw)
		}
	}
	if !none {
		err := b.query("SELECT legacy_id, record_id FROM imported_records WHERE practice_id = $1 AND source = $2 AND resource = $3",
			[]any{b.practice.id, b.source, e.table}, "legacy_id", all, func(values []any) {
				spelling, id := asText(values[0]), asText(values[1])
				for _, raw := range of[spelling] {
					l := add(raw, id)
					l.spellings = append(l.spellings, spelling)
				}
			})
		if err != nil {
			return nil, err
		}
	}
	if !e.has(legacyID) { // clients of the API may write it at any time
		return found, nil
	}
	remembered := map[string]bool{}
	for raw := range found {
		remembered[raw] = true
	}
	unknown := slices.DeleteFunc(all, func(s any) bool {
		return !slices.ContainsFunc(of[asText(s)], func(raw string) bool { return !remembered[raw] })
	})
	written := map[string]string{} // by the rows' ids
	var ids []any
	err := b.query("SELECT legacy_id, id FROM "+quote(e.table)+" WHERE practice_id = $1", []any{b.practice.id}, "legacy_id", unknown, func(values []any) {
		id := asText(values[1])
		written[id], ids = asText(values[0]), append(ids, id)
	})
	if err != nil || len(ids) == 0 {
		return found, err
	}
	// What another system's file became is not this one's, whatever its number.
	err = b.query("SELECT record_id FROM imported_records WHERE practice_id = $1 AND source <> $2 AND resource = $3",
		[]any{b.practice.id, b.source, e.table}, "record_id", ids, func(values []any) { delete(written, asText(values[0])) })
	for id, spelling := range written {
		for _, raw := range of[spelling] {
			if !remembered[raw] {
				add(raw, id)
			}
		}
	}
	return found, err
}

// legacyIDs are the ids that rows had in the other system, by ours: where a row is
// remembered for several, the first in the order of their characters.
func (b *batch) legacyIDs(e *entity, ids []any) (map[string]string, error) {
	legacy := map[string]string{}
	err := b.query("SELECT record_id, legacy_id FROM imported_records WHERE practice_id = $1 AND source = $2 AND resource = $3",
		[]any{b.practice.id, b.source, e.table}, "record_id", ids, func(values []any) {
			id, l := asText(values[0]), asText(values[1])
			if before, ok := legacy[id]; !ok || l < before {
				legacy[id] = l
			}
		})
	return legacy, err
}

// id is the id of a row from its text.
func (e *entity) id(text string) any {
	if !e.numbered() {
		return text
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return int64(0) // of nothing
	}
	return n
}

func asText(v any) string {
	switch t := v.(type) {
	case string:
		return t
	case []byte:
		return string(t)
	case int64:
		return strconv.FormatInt(t, 10)
	case nil:
		return ""
	}
	return fmt.Sprint(v)
}

// query runs a query for the rows in which a column has one of the values.
func (b *batch) query(statement string, args []any, column string, in []any, row func(values []any)) error {
	if len(in) == 0 {
		return nil
	}
	condition, list := b.bulk.In(column, len(args)+1, in)
	return b.rows(statement+" AND "+condition, append(args, list), row)
}

// rows runs a query and hands over each row.
func (b *batch) rows(query string, args []any, row func(values []any)) error {
	rows, err := b.tx.QueryContext(b.ctx, query, args...)
	if err != nil {
		return fmt.Errorf("transfer: %w", err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return fmt.Errorf("transfer: %w", err)
	}
	for rows.Next() {
		values, places := scanned(len(names))
		if err := rows.Scan(places...); err != nil {
			return fmt.Errorf("transfer: %w", err)
		}
		row(values)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("transfer: %w", err)
	}
	return nil
}

// readExisting reads the rows of the records that have one.
func (b *batch) readExisting() error {
	e := b.plan.entity
	byID := map[string]*record{}
	var ids []any
	for _, r := range b.records {
		if r.id == nil || r.existing != nil || len(r.problems) > 0 {
			continue
		}
		id := asText(r.id)
		if byID[id] != nil {
			r.refuse(legacyID, fmt.Sprintf("is another name for the record of line %d", byID[id].line))
			continue
		}
		byID[id] = r
		ids = append(ids, r.id)
	}
	columns := b.columnsOf()
	var failed error
	err := b.query("SELECT "+quoteAll(columns)+" FROM "+quote(e.table)+" WHERE practice_id = $1", []any{b.practice.id}, "id", ids, func(values []any) {
		row, err := e.stored(columns, values)
		if err != nil {
			failed = err
			return
		}
		byID[asText(row["id"])].existing = row
	})
	if err == nil {
		err = failed
	}
	for _, r := range byID {
		r.gone = r.existing == nil
	}
	return err
}

// columnsOf are the columns that matter of rows that are there: all to change
// them, the totals to compare them.
func (b *batch) columnsOf() []string {
	e := b.plan.entity
	if !b.comparing {
		return e.columnNames()
	}
	return slices.DeleteFunc(e.columnNames(), func(name string) bool { return name != "id" && !slices.Contains(totals[e.table], name) })
}

// stored is a row as it is written, from what a query for some columns gave.
func (e *entity) stored(columns []string, values []any) (map[string]any, error) {
	row := make(map[string]any, len(values))
	for i, name := range columns {
		v, err := e.column(name).kind.stored(values[i])
		if err != nil {
			return nil, fmt.Errorf("transfer: %s.%s: %w", e.table, name, err)
		}
		row[name] = v
	}
	return row, nil
}

// stored is a value as it is written, from what a query gave.
func (k kind) stored(v any) (any, error) {
	shown, ok, err := k.show(v)
	if err != nil || !ok {
		return nil, err
	}
	return k.read(shown)
}

// findReferences finds what the records refer to.
func (b *batch) findReferences() error {
	for _, t := range b.plan.targets {
		if t.role != reference {
			continue
		}
		var keys []any
		wanted := map[string]bool{}
		for _, r := range b.records {
			if key := r.keys[t.field]; key != "" && !wanted[key] {
				wanted[key] = true
				keys = append(keys, key)
			}
		}
		found, by, err := b.resolve(t, keys)
		if err != nil {
			return err
		}
		needed := t.column != nil && b.plan.needs(t.column)
		for _, r := range b.records {
			key := r.keys[t.field]
			switch ids := found[key]; {
			case key == "" && needed:
				r.refuse(t.field, "can't be blank")
			case key == "":
				r.given[t.field] = nil
			case len(ids) == 1:
				r.given[t.field] = t.refers.id(ids[0])
			case len(ids) > 1:
				r.refuse(t.field, fmt.Sprintf("is the %s of more than one of the %s", by, t.refers.table))
			case t.blank:
				r.given[t.field] = nil
				r.warnings = append(r.warnings, finding{field: t.field, claimed: key, message: "left empty: there is no such record"})
			default:
				r.refuse(t.field, fmt.Sprintf("is the %s of none of the %s: not in the files, or refused", by, t.refers.table))
			}
		}
	}
	return nil
}

// resolve gives the ids behind the keys of a reference, and what the keys are.
// Where the mapping does not say what they are, they are legacy ids, and where
// there is no such legacy id the name by which people know such a record.
func (b *batch) resolve(t *target, keys []any) (found map[string][]string, by string, err error) {
	found = map[string][]string{}
	if t.by == "id" {
		for _, key := range keys {
			if s := asText(key); t.refers.validID(s) {
				found[s] = []string{s}
			}
		}
		return found, "id", nil
	}
	if by = legacyName; t.by == "" || t.by == legacyID {
		texts := make([]string, len(keys))
		for i, key := range keys {
			texts[i] = asText(key)
		}
		links, err := b.imported(t.refers, false, texts)
		for text, list := range links {
			for _, l := range list {
				found[text] = append(found[text], l.id)
			}
		}
		if err != nil || t.by == legacyID || t.refers.commonName() == "" {
			return found, by, err
		}
		by += " or " + t.refers.commonName()
	} else {
		by = t.by
	}
	name := cmp.Or(t.by, t.refers.commonName())
	if !slices.ContainsFunc(keys, func(key any) bool { return len(found[asText(key)]) == 0 }) {
		return found, by, nil
	}
	named, err := b.byName(t.refers, name)
	for _, key := range keys {
		if s := asText(key); len(found[s]) == 0 {
			found[s] = named[fold(s)]
		}
	}
	return found, by, err
}

// legacyName is what messages call an id of the other system.
const legacyName = "legacy id"

// fullName is the first and the last name, with a space between them.
const fullName = "full_name"

// commonName is the column by which people know the records of a list, "" where
// there is none.
func (e *entity) commonName() string {
	if e.table == "users" || e.table == "practitioners" {
		return "email"
	}
	for _, name := range []string{"name", "nomenclature", "reason"} {
		if c := e.column(name); c != nil && !e.has("patient_id") && !e.has("invoice_id") {
			return name
		}
	}
	return ""
}

// findableBy reports whether references can find the entity's records by a column.
func (e *entity) findableBy(by string) bool {
	switch {
	case by == "" || by == "id" || by == legacyID:
		return true
	case by == fullName:
		return e.has("first_name") && e.has("last_name") || e.has("user_id")
	case e.has(by):
		return e.column(by).kind == text && !e.column(by).secret
	}
	users, err := byTable("users")
	return err == nil && e.has("user_id") && users.has(by) && users.column(by).kind == text && !users.column(by).secret
}

func (e *entity) validID(s string) bool {
	_, err := e.columns[0].kind.read(s)
	return err == nil
}

// fold is a name for comparison: case and spaces do not matter.
func fold(s string) string { return schema.Fold(strings.Join(strings.Fields(s), " ")) }

// mostNamed is how many records can be found by a name: it is for the lists of
// a practice, which are held in memory, not for its patients.
const mostNamed = 20_000

// byName are the ids of an entity's records by a column of theirs, of their
// user's, or by the first and last name.
func (b *batch) byName(e *entity, by string) (map[string][]string, error) {
	if known := b.named[e.table+"."+by]; known != nil {
		return known, nil
	}
	from, name := quote(e.table)+" AS t", "t."+quote(by)
	if !e.has(by) && by != fullName || by == fullName && !e.has("first_name") {
		from += " JOIN users AS u ON u.id = t.user_id"
		name = "u." + quote(by)
	}
	if by == fullName {
		owner := name[:2]
		name = owner + "first_name || ' ' || " + owner + "last_name"
	}
	named := map[string][]string{}
	n := 0
	err := b.rows("SELECT "+name+", t.id FROM "+from+" WHERE t.practice_id = $1 LIMIT "+strconv.Itoa(mostNamed+1), []any{b.practice.id}, func(values []any) {
		n++
		if values[0] != nil {
			key := fold(asText(values[0]))
			named[key] = append(named[key], asText(values[1]))
		}
	})
	if err != nil {
		return nil, err
	}
	if n > mostNamed {
		return nil, fmt.Errorf("there are too many %s to find them by %s; refer to them by their legacy ids", e.table, by)
	}
	b.named[e.table+"."+by] = named
	return named, nil
}
