package importer

import (
	"testing"

	"chairside/internal/store"
)

// A dash in place of the pence is not a minus sign.
func TestDashForPence(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		dir := writeFiles(t, map[string]string{
			"mapping.yaml": "source: old\ndecimal_mark: \",\"\nfiles:\n" + patientsByName,
			"patients.csv": "id;first_name;last_name;opening_balance\n1;Al;Ford;€ 1.250,-\n2;Bo;Ford;-12,-\n3;Cy;Ford;12,--\n4;Di;Ford;7,50-\n",
		})
		if report := runImport(t, db, dir, Options{}); report.Rejected() > 0 {
			t.Errorf("%+v", report)
		}
		for legacy, want := range map[string]int{"1": 125000, "2": -1200, "3": 1200, "4": -750} {
			const query = "SELECT current_balance FROM accounts AS a JOIN patients AS p ON p.id = a.patient_id WHERE p.legacy_id = $1"
			if got := queryInt(t, db, query, legacy); got != want {
				t.Errorf("the balance of %s is %d, want %d", legacy, got, want)
			}
		}
	})
}

// The decimal mark also applies to whole numbers and to answers to questions.
func TestDecimalComma(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		dir := writeFiles(t, map[string]string{
			"mapping.yaml": `
source: old
decimal_mark: ","
dates: [DD.MM.YYYY]
files:
  - {file: patients.csv, entity: patients, constants: {payment_plan_id: Private, ethnicity: "99"}}
  - {file: invoices.csv, entity: invoices}
  - {file: items.csv, entity: invoice_items}
  - {file: questions.csv, entity: custom_fields}
  - {file: answers.csv, entity: custom_field_answers, constants: {custom_field_id: Weight}}
`,
			"patients.csv": "id;title;first_name;last_name;date_of_birth;gender;address_line_1;postcode;dentist_recall_interval\n" +
				"1;Mr;Al;Ford;02.01.1990;M;1 Road;X1 1XX;6,0\n2;Mr;Bo;Ford;03.01.1990;M;1 Road;X1 1XX;12\n",
			"invoices.csv":  "id;patient_id;dated_on;amount\n1;1;01.06.2026;1.500,00\n2;2;01.06.2026;2,50\n",
			"items.csv":     "id;invoice_id;name;quantity;item_price;total_price\n1;1;Floss;1.000;1,50;1.500,00\n2;2;Brush;1,00;2,50;2,50\n3;2;Brush;1,50;2,50;3,75\n",
			"questions.csv": "id;name;type;customizable_type;position\n1;Weight;number;Patient;1,0\n",
			"answers.csv":   "id;patient_id;value\n1;1;1.234,5\n2;2;72,25\n",
		})
		report := runImport(t, db, dir, Options{})
		if report.Rejected() != 1 || report.Differences+report.Warnings > 0 {
			t.Errorf("%+v %v", report, readFiles(t, dir))
		}
		checkInts(t, db, map[string]int{
			"SELECT quantity FROM invoice_items WHERE name = 'Floss'":                                     1000,
			"SELECT amount FROM invoices WHERE patient_id = (SELECT min(id) FROM patients)":               150000,
			"SELECT dentist_recall_interval FROM patients WHERE legacy_id = '1'":                          6,
			"SELECT count(*) FROM custom_field_answers WHERE value IN ('1234.50', '72.25')":               2,
			"SELECT count(*) FROM invoice_items WHERE name = 'Brush' AND quantity = 1":                    1,
			"SELECT count(*) FROM custom_fields WHERE name = 'Weight' AND position = 1":                   1,
			"SELECT count(*) FROM invoices WHERE amount = amount_outstanding AND amount IN (250, 150000)": 2,
		})
	})
}
