package importer

import (
	"slices"
	"strings"
	"testing"

	"chairside/internal/store"
)

// Constants and defaults can contain columns of the row, for example to make the e-mail
// addresses that users need.
func TestColumnsInConstants(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		dir := writeFiles(t, map[string]string{
			"mapping.yaml": `
source: old
files:
  - file: staff.csv
    entity: users
    id: Code
    columns: {First: first_name, Last: last_name, Mail: {field: email, values: {desk@old.test: ~}, default: "{code}@{Site}.invalid"}}
    constants: {role: nurse}
  - {file: staff.csv, entity: practitioners, id: Code, columns: {Code: user_id}}
  - file: sites.csv
    entity: sites
    columns: {name: name, rent: ~}
    constants: {nickname: "{name} ({town})", address_line_2: "from {rent} on", opening_hours: '{"Monday": {"open": "09:00", "close": "17:00"}}'}
`,
			"staff.csv": "Code,First,Last,Mail,Site,Fax\nAB,Al,Bo,Al@old.test,east,1\nCD,Cy,Dee,,east,\nEF,Ed,Fo,Desk@old.test,west,\nGH,Gi,Ho,desk@old.test,,\n",
			"sites.csv": "id,name,town,rent\n1,East,York,12.00\n2,West,,\n",
		})
		out := t.TempDir()
		report := runImport(t, db, dir, Options{Rejects: out})
		if refused := readFiles(t, out); !strings.Contains(refused["staff.users.csv"], "5,email,can't be blank") || report.Rejected() != 2 {
			t.Errorf("%+v %v", report, refused)
		}
		if !slices.Equal(report.Ignored["staff.csv"], []string{"Fax"}) || len(report.Ignored) != 1 {
			t.Errorf("ignored columns: %v", report.Ignored)
		}
		checkInts(t, db, map[string]int{
			"SELECT count(*) FROM practitioners AS p JOIN users AS u ON u.id = p.user_id WHERE email IN ('al@old.test', 'cd@east.invalid', 'ef@west.invalid')": 3,
			"SELECT count(*) FROM sites WHERE nickname = 'East (York)' AND town = 'York' AND address_line_2 = 'from 12.00 on'":                                 1,
			"SELECT count(*) FROM sites WHERE name = 'West' AND nickname IS NULL":                                                                              1,
		})
		rewrite(t, dir, "mapping.yaml", strings.Replace(readFiles(t, dir)["mapping.yaml"], "{code}@", "{cod}@", 1))
		if _, err := Import(t.Context(), db, dir, Options{Rejects: out}); err == nil || !strings.Contains(err.Error(), "staff.csv: there is no column cod; the header has: Code") {
			t.Errorf("a missing column: %v", err)
		}
	})
}
