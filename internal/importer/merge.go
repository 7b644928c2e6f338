package importer

// planMerge plans which existing rows the records of the file are merged with.
func (pl *planner) planMerge() {
	by := pl.file.MergeBy
	if by == "" {
		return
	}
	switch name := pl.plan.entity.commonName(); {
	case name == "" || name == "email":
		pl.wrong("merge_by: is not for %s", pl.plan.entity.Name)
	case by != name:
		pl.wrong("merge_by: must be %s", name)
	default:
		pl.plan.mergeBy = by
	}
}

// mergeByName matches records without a row with rows of the practice that have the same name, which
// the records then update. A row that was imported from the same system is another record. Of several
// rows, and of several records, with a name the first ones match.
func (b *batch) mergeByName() {
	column := b.plan.mergeBy
	if column == "" {
		return
	}
	e, wanted := b.plan.entity, map[string][]*record{}
	var names, ids []any
	for _, r := range b.records {
		if name := r.text(column); name != "" && r.id == nil {
			wanted[name], names = append(wanted[name], r), append(names, name)
		}
	}
	if len(names) == 0 {
		return
	}
	var found []row
	condition, list := b.bulk.In(column, 2, names)
	b.query(selectFrom(e, e.Names())+"practice_id = $1 AND "+condition+" ORDER BY created_at, id", []any{b.practice.id, list}, func(values []any) {
		existing := b.toRow(e, e.Names(), values)
		found, ids = append(found, existing), append(ids, asText(existing["id"]))
	})
	imported := b.legacyIDs(e, ids)
	for _, existing := range found {
		name := asText(existing[column])
		if records := wanted[name]; len(records) > 0 && imported[asText(existing["id"])] == "" {
			records[0].existing, records[0].id = existing, existing["id"]
			wanted[name] = records[1:]
		}
	}
}
