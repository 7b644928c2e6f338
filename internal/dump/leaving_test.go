package dump

import (
	"slices"
	"strings"
	"testing"

	"chairside/ent"
	"chairside/internal/entx/table"
)

// Every table either leaves with a practice or has a reason to stay; so has every column that may
// hold an ID.
func TestEveryTableLeavesOrHasAReason(t *testing.T) {
	t.Parallel()
	leaves := map[string]bool{}
	for _, of := range leaving() {
		leaves[of.Name] = true
	}
	unused := map[string]bool{}
	for name := range looseReferences {
		unused[name] = true
	}
	for _, of := range ent.Tables {
		switch {
		case leftBehind[of.Name] != "" && notExported[of.Name] != "":
			t.Errorf("%s has two reasons", of.Name)
		case practiceColumn(of) == "" && leaves[of.Name]:
			t.Errorf("%s belongs to no practice: add it to leftBehind or notExported with the reason", of.Name)
		case !leaves[of.Name]:
			continue
		}
		for i, c := range of.Columns {
			if c.References != "" && !leaves[c.References] {
				t.Errorf("%s.%s refers to %s, which stays", of.Name, c.Name, c.References)
			}
			name := of.Name + "." + c.Name
			delete(unused, name)
			suspect := c.Stored == table.UUID || c.Stored == table.JSON || c.Kind == "id" || strings.HasSuffix(c.Name, "_id")
			if _, known := looseReferences[name]; i == 0 || c.References != "" || isEvidence(of) || c.Name == "practice_id" || !suspect || known {
				continue
			}
			t.Errorf("%s may hold an ID: add it to looseReferences", name)
		}
	}
	for name := range unused {
		t.Errorf("looseReferences has %s, which does not leave", name)
	}
	for name := range leftBehind {
		if !slices.ContainsFunc(ent.Tables, func(of *table.Table) bool { return of.Name == name }) {
			t.Errorf("leftBehind has %s, which is no table", name)
		}
	}
}

// No column with a secret leaves.
func TestSecretsDoNotLeave(t *testing.T) {
	t.Parallel()
	for _, of := range leaving() {
		for _, c := range of.Columns {
			secret := false
			for _, word := range []string{"hash", "secret", "token", "recovery", "totp", "browser", "password"} {
				secret = secret || strings.Contains(c.Name, word)
			}
			if c.Name == "nhs_number_hash" { // search finds the number by it; its key leaves sealed
				continue
			}
			if secret && !isEvidence(of) && withheld[of.Name+"."+c.Name] == "" {
				t.Errorf("%s.%s looks like a secret: add it to withheld", of.Name, c.Name)
			}
		}
	}
	for name := range withheld {
		of, column, _ := strings.Cut(name, ".")
		if !slices.ContainsFunc(leaving(), func(t *table.Table) bool { return t.Name == of && t.Has(column) }) {
			t.Errorf("withheld has %s, which does not exist", name)
		}
	}
}

func TestIDMap(t *testing.T) {
	t.Parallel()
	m, err := newIDMap()
	if err != nil {
		t.Fatal(err)
	}
	m.shifts["patients"] = shift{taken: 10, by: 100}
	for old, want := range map[int64]int64{1: 101, 10: 110, 11: 11, 100: 100} {
		if got := m.number("patients", old); got != want {
			t.Errorf("patient %d is %d, want %d", old, got, want)
		}
	}
	if got := m.number("accounts", 1); got != 1 {
		t.Errorf("an id of a table without a shift is %d", got)
	}
	const old, other = "01890a5d-ac96-774b-bcce-b302099a8057", "01890a5d-ac96-774b-bcce-b302099a8058"
	if err := m.renew("rooms", old); err != nil {
		t.Fatal(err)
	}
	if got := m.id("rooms", old); got == old || !strings.HasPrefix(got.(string), old[:28]) {
		t.Errorf("the new UUID is %v", got)
	}
	if got := m.id("rooms", other); got != other {
		t.Errorf("a UUID that is free became %v", got)
	}
	if got := m.text("patients", "3"); got != "103" {
		t.Errorf("text: %s", got)
	}
}
