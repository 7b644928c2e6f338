package importer

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"chairside/ent/patient"
	"chairside/internal/entx/table"
	"chairside/internal/store/bulk"
	"chairside/schema"
)

// write inserts new records and updates existing ones that differ. The audit log gets an entry
// for each written row, as if a client had written it.
func (b *batch) write(counts *rowCounts) {
	e := b.plan.entity
	var created, existing []*record
	for _, r := range b.records {
		switch {
		case r.deleted:
			counts.Unchanged++
		case r.existing == nil:
			created = append(created, r)
		default:
			existing = append(existing, r)
		}
	}
	b.assignIDs(e, created)
	var explanations []row
	switch e.Name {
	case "payments":
		explanations = b.explainPayments(existing)
	case "notes":
		b.keepNoteTexts(existing)
	case "custom_field_answers": // owners before answers, the order in which the API locks them
		b.touchOwnersOfAnswers()
	}
	rows := make([]row, len(created))
	for i, r := range created {
		rows[i] = r.values
	}
	b.insert(e, rows)
	if len(existing) > 0 && b.err == nil {
		b.fail(b.turn.waitToCommit()) // the audit log again
	}
	updated := b.update(e, existing)
	counts.Created += len(created)
	counts.Updated += updated
	counts.Unchanged += len(existing) - updated
	b.saveLegacyIDs()
	switch e.Name {
	case "treatment_plans":
		b.updateItemsOfPlans(existing)
	case "patients":
		b.writeAccounts(created, existing)
	case "invoices":
		b.removeExplanationsOf(existing)
		b.makeItems(existing)
	case "invoice_items":
		b.removeMadeItems()
	case "payments":
		b.upsert(entityOf(explanationTable), explanations, invoiceID, "amount")
	}
}

// assignIDs gives new records their IDs. A UUID is derived from the legacy ID, so that the same
// import into another database gives the same ones.
func (b *batch) assignIDs(e *entity, created []*record) {
	var numbers []int64
	if e.Numbered() && b.err == nil {
		if b.fail(b.turn.waitForIDs()); b.err != nil {
			return
		}
		var err error
		numbers, err = b.bulk.NextIDs(b.ctx, e.Name, len(created))
		b.fail(err)
		b.turn.idsTaken()
	}
	for i, r := range created {
		switch {
		case i < len(numbers):
			r.id = numbers[i]
		case r.legacyID == "":
			r.id = schema.NewID().String()
		default:
			r.id = b.derivedUUID(b.system + "\x00" + e.Name + "\x00" + r.legacyID)
		}
		r.values["id"] = r.id
	}
	if !e.Numbered() { // indexes with the ID are faster to fill in its order
		slices.SortFunc(created, func(x, y *record) int { return strings.Compare(asText(x.id), asText(y.id)) })
	}
}

// derivedUUID returns the UUID of a name within the practice.
func (im *importer) derivedUUID(name string) string {
	return uuid.NewSHA1(uuid.MustParse(im.practice.id), []byte(name)).String()
}

// copyRows writes rows into columns of a table.
func (b *batch) copyRows(table string, columns []string, write func(w *bulk.RowWriter) error) {
	if b.err == nil {
		b.fail(b.bulk.Table(b.ctx, table, columns, write))
	}
}

// insert inserts rows and their audit entries.
func (b *batch) insert(e *entity, rows []row) {
	if len(rows) == 0 {
		return
	}
	columns := columnsToInsert(e, rows)
	changes := make([]change, len(rows))
	values, set := make([]any, len(columns)), make([]string, 0, len(columns))
	var practice, now any = b.practice.id, b.now
	b.copyRows(e.Name, columns, func(w *bulk.RowWriter) error {
		for i, r := range rows {
			r["practice_id"], r["updated_at"] = practice, now
			if created, ok := r["created_at"].(time.Time); ok && created.After(b.now) {
				r["created_at"] = now
			}
			set = set[:0]
			for k, name := range columns {
				if values[k] = b.toStore(e, name, r["id"], r[name]); values[k] != nil && name != "id" {
					set = append(set, name)
				}
			}
			changes[i] = change{r, asText(r["id"]), "create", fieldList(set)}
			if err := w.Row(values...); err != nil {
				return err
			}
		}
		return nil
	})
	if b.err == nil {
		b.fail(b.turn.waitToCommit()) // the audit log and imported_records assign IDs in order, too
	}
	b.logChanges(e, changes)
}

// columnsToInsert returns the sorted columns of an entity, without nullable columns that are null
// in all rows, as most of a patient's are.
func columnsToInsert(e *entity, rows []row) (columns []string) {
	for i := range e.Columns {
		c := &e.Columns[i]
		if !c.Null || c.Initial != nil || slices.ContainsFunc(rows, func(r row) bool { return r[c.Name] != nil }) {
			columns = append(columns, c.Name)
		}
	}
	slices.Sort(columns)
	return columns
}

// change is an entry of the audit log.
type change struct {
	row    row    // as far as it is known
	id     string // of the row
	action string
	fields string // JSON list of columns
}

// patientOf returns the id of the patient whom a row is about, or nil.
func patientOf(e *entity, r row) any {
	if e.Name == patient.Table {
		return r["id"]
	}
	return r["patient_id"]
}

// fieldList returns columns as a JSON list. It sorts them in place.
func fieldList(columns []string) string {
	slices.Sort(columns)
	return `["` + strings.Join(columns, `","`) + `"]`
}

// logChanges writes the audit log: which rows and columns were written, no values.
func (b *batch) logChanges(e *entity, changes []change) {
	if len(changes) == 0 {
		return
	}
	b.copyRows("audit_events", []string{"practice_id", "at", "resource", "record_id", "patient_id", "action", "fields", "details"}, func(w *bulk.RowWriter) error {
		for _, c := range changes {
			if err := w.Row(b.practice.id, b.now, e.Type, c.id, patientOf(e, c.row), c.action, c.fields, "{}"); err != nil {
				return err
			}
		}
		return nil
	})
}

// updates collects changed rows of one table, which are written together.
type updates struct {
	rows    []row
	changes []change
}

// add adds a row with the names of its changed columns. It ignores a row without any.
func (u *updates) add(r row, changed ...string) {
	if len(changed) > 0 {
		u.rows = append(u.rows, r)
		u.changes = append(u.changes, change{r, asText(r["id"]), "update", fieldList(changed)})
	}
}

// apply writes columns of the changed rows, and the audit log.
func (b *batch) apply(e *entity, u updates, columns ...string) {
	b.updateRows(e, columns, u.rows)
	b.logChanges(e, u.changes)
}

// update updates the rows of records that differ from them, and returns their number.
func (b *batch) update(e *entity, existing []*record) int {
	var changed updates
	columns := map[string]bool{}
	for _, r := range existing {
		var differ []string
		for i := range e.Columns {
			name := e.Columns[i].Name
			if v, ok := r.values[name]; ok && name != "created_at" && !sameValue(v, r.existing[name]) {
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
		changed.add(whole, differ...)
	}
	b.apply(e, changed, slices.DeleteFunc(e.Names(), func(name string) bool { return !columns[name] || name == "id" })...)
	return len(changed.rows)
}

// sameValue reports whether two stored values are equal. JSON documents may differ in spaces
// and the order of keys.
func sameValue(x, y any) bool {
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

// updateRows sets columns of rows, and updated_at.
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
			values[i][k] = b.toStore(e, c.Name, r["id"], r[c.Name])
		}
	}
	b.fail(b.bulk.Update(b.ctx, e.Name, b.practice.id, sets, values))
}

// deleteRows deletes rows that imports have made, and logs it.
func (b *batch) deleteRows(e *entity, ids []any) {
	if len(ids) == 0 {
		return
	}
	slices.SortFunc(ids, func(x, y any) int { return strings.Compare(asText(x), asText(y)) }) // the order of the audit log
	condition, list := b.bulk.In("id", 2, ids)
	b.exec("DELETE FROM "+table.Quote(e.Name)+" WHERE practice_id = $1 AND "+condition, b.practice.id, list)
	changes := make([]change, len(ids))
	for i, id := range ids {
		changes[i] = change{nil, asText(id), "delete", "[]"}
	}
	b.logChanges(e, changes)
}

// saveLegacyIDs adds legacy IDs to imported_records: as they are compared and as the file spells
// them, so that loose_ids can be turned off later.
func (b *batch) saveLegacyIDs() {
	unsaved := func(r *record) []string {
		if r.legacyID == "" || r.id == nil {
			return nil
		}
		spellings := slices.Compact([]string{r.legacyID, trimDecimals(r.rawID)})
		return slices.DeleteFunc(spellings, func(s string) bool { return slices.Contains(r.savedSpellings, s) })
	}
	if !slices.ContainsFunc(b.records, func(r *record) bool { return len(unsaved(r)) > 0 }) {
		return
	}
	b.copyRows("imported_records", []string{"practice_id", "source", "resource", "legacy_id", "record_id"}, func(w *bulk.RowWriter) error {
		for _, r := range b.records {
			for _, spelling := range unsaved(r) {
				if err := w.Row(b.practice.id, b.system, b.plan.entity.Name, spelling, asText(r.id)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
