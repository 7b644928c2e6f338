package store

import (
	"slices"
	"testing"

	"chairside/ent"
	"chairside/schema"
)

// TestEveryColumnIsClassified: somebody has decided whether the audit log shows the values of a
// text, a document or a date.
func TestEveryColumnIsClassified(t *testing.T) {
	t.Parallel()
	for _, table := range ent.Tables {
		if slices.Contains(unauditedTypes, table.Type) || slices.Contains(appendOnlyTypes, table.Type) || table.Type == ent.TypeFeedChange || table.Type == ent.TypeFeedState {
			continue
		}
		for i := range table.Columns {
			c := &table.Columns[i]
			if schema.AuditValueOf(table.Type, c.Name, holdsWords(c)) == schema.AuditUnclassified {
				t.Errorf("schema/audit_values.go does not list %s.%s: add it to auditPlain, auditHashed or auditOmitted", table.Type, c.Name)
			}
		}
	}
}

// TestEveryClassifiedColumnExists finds names that are misspelt or outdated.
func TestEveryClassifiedColumnExists(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, table := range ent.Tables {
		for i := range table.Columns {
			known[table.Type+"."+table.Columns[i].Name] = true
		}
	}
	for name := range schema.AuditColumns() {
		if !known[name] {
			t.Errorf("schema/audit_values.go lists %s, which does not exist", name)
		}
	}
}
