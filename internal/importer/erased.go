package importer

import "chairside/internal/entx/table"

// rejectErased rejects records about erased patients: changes of the patient, and rows that refer
// to one. It locks the patients until the batch ends, so an erasure comes before, and is seen here,
// or after, and removes what the batch has written. What was read before may be of a patient who
// was erased since.
func (b *batch) rejectErased() {
	of := map[*record][]any{}
	about := map[string]bool{}
	references := b.references()
	for _, r := range b.records {
		of[r] = b.patientsOf(r, references)
		for _, id := range of[r] {
			about[asText(id)] = true
		}
	}
	if len(about) == 0 {
		return
	}
	condition, list := b.bulk.In("id", 2, keysOf(about))
	query := "SELECT id, erased_at FROM patients WHERE practice_id = $1 AND " + condition
	if b.postgres() { // the lock of a row that refers to them
		query += " FOR KEY SHARE"
	}
	erased := map[string]bool{}
	b.query(query, []any{b.practice.id, list}, func(v []any) { erased[asText(v[0])] = v[1] != nil })
	for _, r := range b.records {
		for _, id := range of[r] {
			if erased[asText(id)] {
				r.reject("", "is about a patient who was erased")
				break
			}
		}
	}
}

// patientsOf returns the patients whom an existing row is about, and the record. A new patient is
// none of them. As in package subject, a row with a reference to a patient is about that patient
// alone; any other is about the patients of the rows that it refers to.
func (b *batch) patientsOf(r *record, references []*table.Column) (ids []any) {
	add := func(id any) {
		if id != nil {
			ids = append(ids, id)
		}
	}
	if b.plan.entity.Name == "patients" {
		add(r.existing["id"])
		return ids
	}
	direct := false
	for _, c := range references {
		if c.References == "patients" {
			direct = true
			add(r.get(c.Name))
			add(r.existing[c.Name])
		}
	}
	for _, c := range references {
		if !direct {
			add(b.parent(r, c.Name)["patient_id"])
		}
	}
	return ids
}
