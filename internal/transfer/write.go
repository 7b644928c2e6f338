package transfer

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"chairside/internal/store/bulk"
	"chairside/schema"
)

// write inserts the new records, changes those that differ from their rows, and
// leaves the rest alone. Each written row gets its line in the record of
// changes, as if a client had written it.
func (b *batch) write(counts *fileProgress) error {
	e := b.plan.entity
	var fresh, known []*record
	for _, r := range b.records {
		switch {
		case r.gone:
			counts.Unchanged++
		case r.existing == nil:
			fresh = append(fresh, r)
		default:
			known = append(known, r)
		}
	}
	if err := b.giveIDs(e, fresh); err != nil {
		return err
	}
	var explanations []row
	if e.table == "payments" {
		var err error
		if explanations, err = b.explainPayments(known); err != nil {
			return err
		}
	}
	rows := make([]row, len(fresh))
	for i, r := range fresh {
		rows[i] = r.given
	}
	if e.table == "custom_field_answers" { // the owners before their answers, in the order in which the API locks them
		if err := b.dateAnswered(); err != nil {
			return err
		}
	}
	if err := b.insert(e, rows); err != nil {
		return err
	}
	counts.Created += len(fresh)
	changed, err := b.update(e, known)
	if err != nil {
		return err
	}
	counts.Updated += changed
	counts.Unchanged += len(known) - changed
	if err := b.remember(); err != nil {
		return err
	}
	switch e.table {
	case "treatment_plans":
		return b.followPlans(known)
	case "patients":
		return b.openAccounts(fresh, known)
	case "invoices":
		if err := b.releasePayments(known); err != nil {
			return err
		}
		return b.makeItems(known)
	case "invoice_items":
		return b.unmakeItems()
	case "payments":
		return b.putExplanations(explanations)
	}
	return nil
}

// row is a row as it is written.
type row map[string]any

// giveIDs gives new records their ids. A uuid follows from the legacy id, so
// that an import which is done again elsewhere gives the same.
func (b *batch) giveIDs(e *entity, fresh []*record) error {
	if e.numbered() {
		if err := b.turn.mayNumber(); err != nil {
			return err
		}
		ids, err := b.bulk.NextIDs(b.ctx, e.table, len(fresh))
		if err != nil {
			return err
		}
		for i, r := range fresh {
			r.id = ids[i]
			r.given["id"] = r.id
		}
		b.turn.number()
		return nil
	}
	for _, r := range fresh {
		r.id = b.uuidOf(e.table, r)
		r.given["id"] = r.id
	}
	// Each index that has the id is cheaper to fill in its order.
	slices.SortFunc(fresh, func(x, y *record) int { return strings.Compare(asText(x.id), asText(y.id)) })
	return nil
}

func (b *batch) uuidOf(table string, r *record) string {
	if r.legacy == "" {
		return schema.NewID().String()
	}
	space := uuid.MustParse(b.practice.id)
	return uuid.NewSHA1(space, []byte(b.source+"\x00"+table+"\x00"+r.legacy)).String()
}

// insert writes new rows, and the record of it. Columns that may be empty, and
// are in all of the rows, are left out: most of a patient's are.
func (b *batch) insert(e *entity, rows []row) error {
	if len(rows) == 0 {
		return nil
	}
	var columns []string
	for _, c := range e.columns {
		if !c.nullable || c.defaults != nil || slices.ContainsFunc(rows, func(r row) bool { return r[c.name] != nil }) {
			columns = append(columns, c.name)
		}
	}
	changes := make([]change, len(rows))
	values, set := make([]any, len(columns)), make([]string, 0, len(columns))
	var practice, now any = b.practice.id, b.now
	err := b.bulk.Table(b.ctx, e.table, columns, func(w *bulk.RowWriter) error {
		for i, r := range rows {
			r["practice_id"], r["updated_at"] = practice, now
			if made, ok := r["created_at"].(time.Time); ok && made.After(b.now) {
				r["created_at"] = b.now
			}
			set = set[:0]
			for k, name := range columns {
				if values[k] = r[name]; values[k] != nil && name != "id" {
					set = append(set, name)
				}
			}
			changes[i] = change{asText(r["id"]), "create", b.list(set)}
			if err := w.Row(values...); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	// What follows has ids of its own.
	if err := b.turn.mayEnd(); err != nil {
		return err
	}
	return b.recordChanges(e, changes)
}

// change is a line of the record of changes.
type change struct {
	id, action string
	fields     string // as list gives them
}

// lists are the sets of columns that rows had, as the JSON they become. Its
// zero value is empty.
type lists struct {
	lock  sync.Mutex
	known map[string]string // by names with spaces between them
}

// mostLists is how many sets are kept.
const mostLists = 1000

// list is the JSON of the names of columns, sorted. Rows of a file have much
// the same columns, so the next one's is mostly that of one before.
func (im *importer) list(columns []string) string {
	key := strings.Join(columns, " ")
	im.lists.lock.Lock()
	defer im.lists.lock.Unlock()
	if list, ok := im.lists.known[key]; ok {
		return list
	}
	if im.lists.known == nil || len(im.lists.known) >= mostLists {
		im.lists.known = map[string]string{}
	}
	list, _ := json.Marshal(slices.Sorted(slices.Values(columns))) // texts always marshal
	im.lists.known[key] = string(list)
	return string(list)
}

// recordChanges notes what was written: which rows and columns, no values.
func (b *batch) recordChanges(e *entity, changes []change) error {
	if len(changes) == 0 {
		return nil
	}
	columns := []string{"practice_id", "at", "resource", "record_id", "action", "fields"}
	return b.bulk.Table(b.ctx, "changes", columns, func(w *bulk.RowWriter) error {
		for _, c := range changes {
			if err := w.Row(b.practice.id, b.now, e.name, c.id, c.action, c.fields); err != nil {
				return err
			}
		}
		return nil
	})
}

// update changes rows to what the records say, and counts those that differ.
func (b *batch) update(e *entity, known []*record) (int, error) {
	var rows []row
	var changes []change
	columns := map[string]bool{}
	for _, r := range known {
		var differ []string
		for _, c := range e.columns {
			if v, ok := r.given[c.name]; ok && c.name != "created_at" && !same(v, r.existing[c.name]) {
				differ = append(differ, c.name)
				columns[c.name] = true
			}
		}
		if len(differ) == 0 {
			continue
		}
		whole := row{"id": r.id}
		for _, c := range e.columns {
			whole[c.name] = r.get(c.name)
		}
		whole["updated_at"] = b.now
		rows = append(rows, whole)
		changes = append(changes, change{asText(r.id), "update", b.list(differ)})
	}
	if len(rows) == 0 {
		return 0, nil
	}
	columns["updated_at"] = true
	var list []string
	for _, c := range e.columns {
		if columns[c.name] && c.name != "id" {
			list = append(list, c.name)
		}
	}
	if err := b.updateRows(e, list, rows); err != nil {
		return 0, err
	}
	return len(rows), b.recordChanges(e, changes)
}

// same reports whether two stored values are.
func same(a, b any) bool {
	if x, ok := a.(time.Time); ok {
		y, ok := b.(time.Time)
		return ok && x.Equal(y)
	}
	return reflect.DeepEqual(canonical(a), canonical(b))
}

// canonical makes documents comparable; other texts are not JSON objects or
// lists, or compare equal anyway.
func canonical(v any) any {
	if s, ok := v.(string); ok && (strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[")) {
		if c, err := canonicalJSON(s); err == nil {
			return c
		}
	}
	return v
}

// castOf is the type of a column on PostgreSQL.
var castOf = map[kind]string{
	text: "text", integer: "bigint", amount: "bigint", boolean: "boolean", unique: "uuid",
	date: "date", moment: "timestamptz", binary: "bytea", document: "jsonb",
}

// updateRows sets columns of some rows.
func (b *batch) updateRows(e *entity, columns []string, rows []row) error {
	sets := []bulk.SetColumn{{Name: "id", Type: castOf[e.columns[0].kind]}}
	for _, name := range columns {
		sets = append(sets, bulk.SetColumn{Name: name, Type: castOf[e.column(name).kind]})
	}
	values := make([][]any, len(rows))
	for i, r := range rows {
		values[i] = make([]any, len(sets))
		for k, c := range sets {
			values[i][k] = r[c.Name]
		}
	}
	return b.bulk.Update(b.ctx, e.table, b.practice.id, sets, values)
}

// remember notes which rows the legacy ids are, where that is new: by what they are
// compared by, and as they are spelled, which finds them also where loose_ids is
// left out later.
func (b *batch) remember() error {
	unknown := func(r *record) []string {
		if r.legacy == "" || r.id == nil {
			return nil
		}
		spellings := slices.Compact([]string{r.legacy, withoutFractions(r.raw)})
		return slices.DeleteFunc(spellings, func(s string) bool { return slices.Contains(r.linked, s) })
	}
	isNew := func(r *record) bool { return len(unknown(r)) > 0 }
	if !slices.ContainsFunc(b.records, isNew) {
		return nil
	}
	columns := []string{"practice_id", "source", "resource", "legacy_id", "record_id"}
	return b.bulk.Table(b.ctx, "imported_records", columns, func(w *bulk.RowWriter) error {
		for _, r := range b.records {
			for _, spelling := range unknown(r) {
				if err := w.Row(b.practice.id, b.source, b.plan.entity.table, spelling, asText(r.id)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
