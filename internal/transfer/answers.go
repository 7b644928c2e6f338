package transfer

import (
	"maps"
	"slices"
)

// dateAnswered dates the patients and treatments whose answers have changed:
// an answer is shown as part of them, and updated_after must find it. The record
// of changes has the answers alone.
func (b *batch) dateAnswered() error {
	answered := map[string]map[int64]bool{"patients": {}, "treatment_plan_items": {}}
	note := func(patient, item any) {
		if id, ok := item.(int64); ok {
			answered["treatment_plan_items"][id] = true
		} else if id, ok := patient.(int64); ok {
			answered["patients"][id] = true
		}
	}
	for _, r := range b.records {
		differs := func(column string) bool { return !same(r.get(column), r.existing[column]) }
		if !r.gone && slices.ContainsFunc([]string{"custom_field_id", "patient_id", "treatment_plan_item_id", "value"}, differs) {
			note(r.existing["patient_id"], r.existing["treatment_plan_item_id"]) // whose it was
			note(r.get("patient_id"), r.get("treatment_plan_item_id"))
		}
	}
	for _, table := range []string{"patients", "treatment_plan_items"} {
		var rows []row
		for _, id := range slices.Sorted(maps.Keys(answered[table])) {
			rows = append(rows, row{"id": id, "updated_at": b.now})
		}
		if len(rows) == 0 {
			continue
		}
		e, err := byTable(table)
		if err != nil {
			return err
		}
		if err := b.updateRows(e, []string{"updated_at"}, rows); err != nil {
			return err
		}
	}
	return nil
}
