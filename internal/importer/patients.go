package importer

import (
	"slices"

	"chairside/internal/civil"
)

func (b *batch) ruleForPatient(r *record) {
	if born, err := civil.Parse(r.text("date_of_birth")); err == nil && b.today.Before(born) {
		r.reject("date_of_birth", "must not be in the future")
	}
	plan := b.parent(r, "payment_plan_id")
	switch retired := plan["active"] == false && r.get("active") != false && r.changes("payment_plan_id"); {
	case retired && b.isImported("payment_plans", plan["id"]):
		r.warn("payment_plan_id", "is not active")
	case retired:
		r.reject("payment_plan_id", "is not active; archived patients may have it")
	}
}

// isImported reports whether a row was imported from the same system. The patients of a plan that
// the other system has retired may keep it, as they may here.
func (b *batch) isImported(table string, id any) bool {
	key := table + " " + asText(id)
	imported, known := b.imported[key]
	if !known {
		imported = len(b.legacyIDs(entityOf(table), []any{asText(id)})) > 0
		b.imported[key] = imported
	}
	return imported
}

// personColumns identify a person, for the warning that two patients may be the same.
var personColumns = []string{"date_of_birth", "last_name_folded", "first_name_folded"}

func personKey(get func(column string) any) (key string) {
	for _, c := range personColumns {
		key += asText(get(c)) + "\x00"
	}
	return key
}

// samePerson is a patient that another may be the same as.
type samePerson struct {
	id    string // "" if the patient is new
	label string // for messages
}

// warnOfSamePatients warns of patients with the name and the date of birth of another one. It
// also warns of patients that were deleted after an earlier import.
func (b *batch) warnOfSamePatients() {
	if b.plan.entity.Name != "patients" || b.err != nil {
		return
	}
	if b.fail(b.turn.waitForIDs()); b.err != nil { // the previous batch has set recentPeople
		return
	}
	people, created := b.readPeople(), map[string][]samePerson{}
	if !b.turn.retried {
		for key, recent := range b.recentPeople {
			people[key] = append(people[key], recent...)
		}
		b.recentPeople = created
	}
	for _, r := range b.records {
		key := personKey(r.get)
		isOther := func(p samePerson) bool { return p.id == "" || p.id != asText(r.id) }
		if i := slices.IndexFunc(people[key], isOther); i >= 0 {
			r.warn("last_name", "has the name and the date of birth of the patient with the "+people[key][i].label)
		}
		if r.existing == nil {
			person := samePerson{label: legacyIDLabel + " " + r.text(legacyID)}
			people[key], created[key] = append(people[key], person), append(created[key], person)
		}
		if r.deleted {
			r.warn(legacyID, "was deleted here and stays deleted")
		}
	}
}

// readPeople reads the patients with a date of birth and a last name of the records, by
// personKey.
func (b *batch) readPeople() map[string][]samePerson {
	people := map[string][]samePerson{}
	var births, lastNames []any
	for _, r := range b.records {
		births, lastNames = append(births, r.text(personColumns[0])), append(lastNames, r.text(personColumns[1]))
	}
	hasBirth, birthArg := b.bulk.In(personColumns[0], 2, births)
	hasName, nameArg := b.bulk.In(personColumns[1], 3, lastNames)
	columns := append([]string{"id", legacyID}, personColumns...)
	b.query(selectFrom(b.plan.entity, columns)+"practice_id = $1 AND "+hasBirth+" AND "+hasName, []any{b.practice.id, birthArg, nameArg}, func(v []any) {
		existing := b.toRow(b.plan.entity, columns, v)
		p := samePerson{id: asText(existing["id"]), label: legacyIDLabel + " " + asText(existing[legacyID])}
		if existing[legacyID] == nil {
			p.label = "id " + p.id
		}
		key := personKey(func(column string) any { return existing[column] })
		people[key] = append(people[key], p)
	})
	return people
}
