package importer

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"chairside/internal/entx/table"
	"chairside/internal/store/bulk"
	"chairside/schema"
)

// write inserts the new records, changes those that differ from their rows, and leaves the rest
// alone. Each written row gets its entry in the audit log, as if a client had written it.
func (b *batch) write(counts *fileProgress) {
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
	b.giveIDs(e, fresh)
	var explanations []row
	switch e.Name {
	case "payments":
		explanations = b.explainPayments(known)
	case "custom_field_answers": // the owners before their answers, in the order in which the API locks them
		b.dateAnswered()
	}
	rows := make([]row, len(fresh))
	for i, r := range fresh {
		rows[i] = r.given
	}
	b.insert(e, rows)
	changed := b.update(e, known)
	counts.Created += len(fresh)
	counts.Updated += changed
	counts.Unchanged += len(known) - changed
	b.remember()
	switch e.Name {
	case "treatment_plans":
		b.followPlans(known)
	case "patients":
		b.openAccounts(fresh, known)
	case "invoices":
		b.releasePayments(known)
		b.makeItems(known)
	case "invoice_items":
		b.unmakeItems()
	case "payments":
		b.putChildren(entityOf(explanationTable), explanations, paysInvoice, "amount")
	}
}

// giveIDs gives new records their ids. A uuid follows from the legacy id, so that an import which
// is done again elsewhere gives the same.
func (b *batch) giveIDs(e *entity, fresh []*record) {
	var numbers []int64
	if e.Numbered() && b.err == nil {
		if b.fail(b.turn.mayNumber()); b.err != nil {
			return
		}
		var err error
		numbers, err = b.bulk.NextIDs(b.ctx, e.Name, len(fresh))
		b.fail(err)
		b.turn.number()
	}
	for i, r := range fresh {
		switch {
		case i < len(numbers):
			r.id = numbers[i]
		case r.legacy == "":
			r.id = schema.NewID().String()
		default:
			r.id = b.uuidOf(b.source + "\x00" + e.Name + "\x00" + r.legacy)
		}
		r.given["id"] = r.id
	}
	if !e.Numbered() { // each index that has the id is cheaper to fill in its order
		slices.SortFunc(fresh, func(x, y *record) int { return strings.Compare(asText(x.id), asText(y.id)) })
	}
}

// uuidOf is the uuid of the practice's that follows from a name.
func (im *importer) uuidOf(name string) string {
	return uuid.NewSHA1(uuid.MustParse(im.practice.id), []byte(name)).String()
}

// fill writes rows into columns of a table.
func (b *batch) fill(name string, columns []string, write func(w *bulk.RowWriter) error) {
	if b.err == nil {
		b.fail(b.bulk.Table(b.ctx, name, columns, write))
	}
}

// insert writes new rows, and the record of it. Columns that may be empty, and are in all of the
// rows, are left out: most of a patient's are.
func (b *batch) insert(e *entity, rows []row) {
	if len(rows) == 0 {
		return
	}
	var columns []string
	for i := range e.Columns {
		c := &e.Columns[i]
		if !c.Null || c.Initial != nil || slices.ContainsFunc(rows, func(r row) bool { return r[c.Name] != nil }) {
			columns = append(columns, c.Name)
		}
	}
	slices.Sort(columns) // as list has them
	changes := make([]change, len(rows))
	values, set := make([]any, len(columns)), make([]string, 0, len(columns))
	var practice, now any = b.practice.id, b.now
	b.fill(e.Name, columns, func(w *bulk.RowWriter) error {
		for i, r := range rows {
			r["practice_id"], r["updated_at"] = practice, now
			if made, ok := r["created_at"].(time.Time); ok && made.After(b.now) {
				r["created_at"] = now
			}
			set = set[:0]
			for k, name := range columns {
				if values[k] = r[name]; values[k] != nil && name != "id" {
					set = append(set, name)
				}
			}
			changes[i] = change{asText(r["id"]), "create", list(set)}
			if err := w.Row(values...); err != nil {
				return err
			}
		}
		return nil
	})
	if b.err == nil {
		b.fail(b.turn.mayEnd()) // what follows has ids of its own
	}
	b.recordChanges(e, changes)
}

// change is an entry of the audit log.
type change struct {
	id, action string
	fields     string // as list gives them
}

// list is the JSON of the names of columns, which it sorts.
func list(columns []string) string {
	slices.Sort(columns)
	return `["` + strings.Join(columns, `","`) + `"]`
}

// recordChanges notes what was written: which rows and columns, no values.
func (b *batch) recordChanges(e *entity, changes []change) {
	if len(changes) == 0 {
		return
	}
	b.fill("changes", []string{"practice_id", "at", "resource", "record_id", "action", "fields"}, func(w *bulk.RowWriter) error {
		for _, c := range changes {
			if err := w.Row(b.practice.id, b.now, e.Type, c.id, c.action, c.fields); err != nil {
				return err
			}
		}
		return nil
	})
}

// update changes rows to what the records say, and counts those that differ.
func (b *batch) update(e *entity, known []*record) int {
	var rows []row
	var changes []change
	columns := map[string]bool{}
	for _, r := range known {
		var differ []string
		for i := range e.Columns {
			name := e.Columns[i].Name
			if v, ok := r.given[name]; ok && name != "created_at" && !same(v, r.existing[name]) {
				differ = append(differ, name)
				columns[name] = true
			}
		}
		if len(differ) == 0 {
			continue
		}
		whole := row{"id": r.id}
		for i := range e.Columns {
			whole[e.Columns[i].Name] = r.get(e.Columns[i].Name)
		}
		rows = append(rows, whole)
		changes = append(changes, change{asText(r.id), "update", list(differ)})
	}
	b.updateRows(e, slices.DeleteFunc(e.Names(), func(name string) bool { return !columns[name] || name == "id" }), rows)
	b.recordChanges(e, changes)
	return len(rows)
}

// same reports whether two stored values are. Documents differ in their order and spaces; other
// texts are not JSON objects or lists, or compare equal anyway.
func same(x, y any) bool {
	if t, ok := x.(time.Time); ok {
		u, ok := y.(time.Time)
		return ok && t.Equal(u)
	}
	canonical := func(v any) any {
		if s, ok := v.(string); ok && (strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[")) {
			if c, err := table.Canonical(s); err == nil {
				return c
			}
		}
		return v
	}
	return reflect.DeepEqual(canonical(x), canonical(y))
}

// updateRows sets columns of some rows, and when they were updated.
func (b *batch) updateRows(e *entity, columns []string, rows []row) {
	if len(rows) == 0 || b.err != nil {
		return
	}
	var sets []bulk.SetColumn
	for _, name := range slices.Concat([]string{"id"}, columns, []string{"updated_at"}) {
		sets = append(sets, bulk.SetColumn{Name: name, Type: e.Column(name).Stored.SQL()})
	}
	values := make([][]any, len(rows))
	for i, r := range rows {
		r["updated_at"] = b.now
		values[i] = make([]any, len(sets))
		for k, c := range sets {
			values[i][k] = r[c.Name]
		}
	}
	b.fail(b.bulk.Update(b.ctx, e.Name, b.practice.id, sets, values))
}

// remember notes which rows the legacy ids are, where that is new: by what they are compared by,
// and as they are spelled, which finds them also where loose_ids is left out later.
func (b *batch) remember() {
	unknown := func(r *record) []string {
		if r.legacy == "" || r.id == nil {
			return nil
		}
		spellings := slices.Compact([]string{r.legacy, withoutFractions(r.raw)})
		return slices.DeleteFunc(spellings, func(s string) bool { return slices.Contains(r.linked, s) })
	}
	if !slices.ContainsFunc(b.records, func(r *record) bool { return len(unknown(r)) > 0 }) {
		return
	}
	b.fill("imported_records", []string{"practice_id", "source", "resource", "legacy_id", "record_id"}, func(w *bulk.RowWriter) error {
		for _, r := range b.records {
			for _, spelling := range unknown(r) {
				if err := w.Row(b.practice.id, b.source, b.plan.entity.Name, spelling, asText(r.id)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
