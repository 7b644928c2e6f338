package importer

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"chairside/internal/entx/table"
	"chairside/schema"
)

// resolveReferences sets the IDs of the records that the records refer to.
func (b *batch) resolveReferences() {
	for _, t := range b.plan.targets {
		if t.role == reference {
			b.resolveReference(t)
		}
	}
}

func (b *batch) resolveReference(t *target) {
	var keys []string
	seen := map[string]bool{"": true}
	for _, r := range b.records {
		if key := r.referenceKeys[t.name]; !seen[key] {
			seen[key] = true
			keys = append(keys, key)
		}
	}
	found, by := b.findByKeys(t, keys)
	required := t.column != nil && b.plan.requires(t.column)
	for _, r := range b.records {
		key := r.referenceKeys[t.name]
		switch ids := found[key]; {
		case key == "" && required:
			r.reject(t.name, cantBeBlank)
		case key == "":
			r.values[t.name] = nil
		case len(ids) == 1:
			r.values[t.name] = t.refers.id(ids[0])
		case len(ids) > 1:
			r.reject(t.name, fmt.Sprintf("is the %s of more than one record in %s", by, t.refers.Name))
		case t.blankMissing:
			r.values[t.name] = nil
			r.warnings = append(r.warnings, finding{field: t.name, claimed: key, message: "left blank: there is no such record"})
		default:
			r.reject(t.name, fmt.Sprintf("is not the %s of a record in %s: not in the files, or rejected", by, t.refers.Name))
		}
	}
}

// recordIDs are IDs of records by a key. A key may have several.
type recordIDs map[string][]string

// findByKeys finds records by the keys of a reference: by ID, by legacy ID, or by another
// column. If the mapping does not say which, they are legacy IDs or else the records' common
// names. by describes the keys in messages.
func (b *batch) findByKeys(t *target, keys []string) (found recordIDs, by string) {
	found = recordIDs{}
	if t.by == "id" {
		for _, key := range keys {
			if _, err := t.refers.Columns[0].Stored.Parse(key); err == nil {
				found[key] = []string{key}
			}
		}
		return found, "id"
	}
	name := cmp.Or(t.by, t.refers.commonName())
	if by = t.by; t.by == "" || t.by == legacyID {
		search := b.plan.newLegacySearch(t.refers, keys)
		search.searchImported(b)
		search.searchRows(b)
		for key, matches := range search.matches {
			for _, m := range matches {
				found[key] = append(found[key], m.id)
			}
		}
		if by = legacyIDLabel; t.by == legacyID || name == "" {
			return found, by
		}
		by += " or " + name
	}
	for _, key := range keys {
		if len(found[key]) == 0 {
			found[key] = b.idsByName(t.refers, name)[foldName(key)]
		}
	}
	return found, by
}

// legacyIDLabel is what messages call an ID of the other system.
const legacyIDLabel = "legacy id"

// foldName returns a name for comparison, without regard to case and spaces.
func foldName(s string) string { return schema.Fold(strings.Join(strings.Fields(s), " ")) }

// nameColumn is a column by which records are found. fullName stands for two columns.
type nameColumn struct{ table, column string }

// maxNames is the most records of an entity that can be found by name, because all names are
// held in memory. It suits the lists of a practice, but not its patients.
const maxNames = 20_000

// idsByName returns the IDs of an entity's records by a folded name: a column of theirs or of
// their user's. It reads them once for each file.
func (b *batch) idsByName(e *entity, by string) recordIDs {
	b.namesMu.Lock()
	defer b.namesMu.Unlock()
	if known := b.names[nameColumn{e.Name, by}]; known != nil {
		return known
	}
	from, owner := table.Quote(e.Name)+" AS t", "t."
	if !e.Has(by) && !(by == fullName && e.Has("first_name")) {
		from, owner = from+" JOIN users AS u ON u.id = t.user_id", "u."
	}
	name := owner + table.Quote(by)
	if by == fullName {
		name = owner + "first_name || ' ' || " + owner + "last_name"
	}
	ids, n := recordIDs{}, 0
	b.query("SELECT "+name+", t.id FROM "+from+" WHERE t.practice_id = $1 LIMIT "+strconv.Itoa(maxNames+1), []any{b.practice.id}, func(v []any) {
		if n++; v[0] != nil {
			key := foldName(asText(v[0]))
			ids[key] = append(ids[key], asText(v[1]))
		}
	})
	if n > maxNames {
		b.fail(fmt.Errorf("there are too many %s to find them by %s; refer to them by their legacy ids", e.Name, by))
	}
	b.names[nameColumn{e.Name, by}] = ids
	return ids
}

// forgetNames empties the lists that are read once for each file.
func (im *importer) forgetNames() {
	im.names, im.reasons = map[nameColumn]recordIDs{}, nil
}
