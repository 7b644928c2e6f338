package importer

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"chairside/internal/store"
)

// A CSV dump of a database has words for NULL, amounts in pence, Unix times, and rows of several
// entities in one file, some of them deleted.
func TestDumpOfADatabase(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		dir := writeFiles(t, map[string]string{
			"mapping.yaml": `
source: dump
nulls: [NULL, ~, '\N']
times: [unix]
files:
  - file: patients.csv
    entity: patients
    columns:
      born: date_of_birth
      open: {field: opening_balance, hundredths: true}
      owes: {field: claimed_balance, hundredths: true, negate: true}
      made: created_at
    constants: {payment_plan_id: Private, ethnicity: "99", title: Mr, gender: m, address_line_1: 1 Road, postcode: X1 1XX}
  - file: ledger.csv
    entity: invoices
    only: {kind: INV, removed: ~}
    columns: {made: dated_on, pence: {field: amount, hundredths: true}}
  - file: ledger.csv
    entity: payments
    only: {kind: [pay, REF], removed: [NULL, 0]}
    columns: {made: [dated_on, created_at], pence: {field: amount, hundredths: true}, of: invoice_id}
    constants: {method: Card}
`,
			"patients.csv": "id,first_name,middle_name,last_name,born,open,owes,made\n" +
				"1,Al,~,Ford,-86400,1234,-1234,1500000000\n2,Bo,NULL,Ford,0,-7,-1193,1500000000.5\n3,Cy,\\N,Ford,86400,1.5,0,1500000000\n",
			"ledger.csv": "id,kind,patient_id,made,pence,of,removed\n" +
				"1,INV,2,1767225600,5000,NULL,NULL\n2,INV,2,1767225600,700,NULL,1767225600\n" +
				"3,Pay,2,1782864000,5000,1,\\N\n4,REF,2,1782864000,-300,1,0\n5,PAY,2,1782864000,900,NULL,1\n6,NOTE,x,x,x,x,NULL\n" +
				"7,PAY,2,1782864000,1500\n",
		})
		o := Options{Rejects: t.TempDir()}
		report := runImport(t, db, dir, o)
		var counts []int
		for _, f := range report.Files {
			counts = append(counts, f.Rows, f.Created, f.Rejected)
		}
		// A row that is too short is counted, because its conditions cannot be checked.
		if want := []int{3, 2, 1, 2, 1, 1, 3, 2, 1}; !slices.Equal(counts, want) {
			t.Errorf("%d rows, created and rejected, want %d", counts, want)
		}
		rejects := readFiles(t, o.Rejects)
		for name, want := range map[string]string{
			"patients.csv":        "4,opening_balance,must be a whole number of hundredths",
			"ledger.payments.csv": "8,,\"has 5 columns, the header has 7\"",
		} {
			if !strings.Contains(rejects[name], want) {
				t.Errorf("%s is %s", name, rejects[name])
			}
		}
		if got := strings.Count(rejects[Findings], "\n"); got != 3 || !strings.Contains(rejects[Findings], "difference,claimed_balance,11.93,-3.07") || !strings.Contains(rejects[Findings], "a refund pays no invoice") {
			t.Errorf("the findings are %s", rejects[Findings])
		}
		checkInts(t, db, map[string]int{
			"SELECT count(*) FROM patients WHERE middle_name IS NULL":                                          2,
			"SELECT count(*) FROM patients WHERE legacy_id = '1' AND date_of_birth = '1969-12-31'":             1,
			"SELECT sum(opening_balance) FROM accounts":                                                        1227,
			"SELECT amount FROM invoices WHERE status = 'paid' AND paid_on = '2026-07-01'":                     5000,
			"SELECT amount_unexplained FROM payments WHERE amount < 0 AND dated_on = '2026-07-01'":             -300,
			"SELECT count(*) FROM imported_records WHERE resource = 'payments' AND legacy_id NOT IN ('3','4')": 0,
		})
		for _, f := range runImport(t, db, dir, Options{}).Files {
			if f.Created+f.Updated > 0 {
				t.Errorf("a second run: %+v", f)
			}
		}
	})
}

func TestOptionsForTheWrongField(t *testing.T) {
	t.Parallel()
	dir := writeFiles(t, map[string]string{"mapping.yaml": `
source: dump
files:
  - {file: p.csv, entity: payments, only: {gone: ~}, columns: {made: {field: dated_on, hundredths: true}}, constants: {amount: "1", method: Card}}
`, "p.csv": "id,patient_id,made\n"})
	m, _, err := readMapping(dir, filepath.Join(dir, "mapping.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = newPlans(dir, m, london(t), today)
	for _, want := range []string{"there is no column gone", "made: hundredths: is only for amounts"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the mistakes are %v, want %q", err, want)
		}
	}
}
