package importer

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"chairside/internal/store"
)

// Words for no value are read as they are written, even those that are null in YAML.
func TestNullWords(t *testing.T) {
	t.Parallel()
	dir := writeFiles(t, map[string]string{"mapping.yaml": "source: old\nnulls: [NULL, ~, n/a, '\\N', 0]\n"})
	m, _, err := readMapping(dir, filepath.Join(dir, "mapping.yaml"))
	if want := []string{"NULL", "~", "n/a", `\N`, "0"}; err != nil || !slices.Equal(m.Format.Nulls, want) {
		t.Errorf("the words are %q %v, want %q", m.Format.Nulls, err, want)
	}
}

// The header may be below other lines. Line numbers count those, too. The file of rejects
// starts with its header.
func TestLinesAboveTheHeader(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		dir := writeFiles(t, map[string]string{
			"mapping.yaml": `
source: old
files:
  - {file: sources.csv, entity: acquisition_sources, header: 4}
`,
			"sources.csv": "\ufeff\"Sources; all\";;\nas of, 1 July,,,,\n\nid;name;active\n1;Web;yes\n2;;no\n3;Friend;perhaps\n",
		})
		o := Options{Rejects: t.TempDir()}
		if f := runImport(t, db, dir, o).Files[0]; f.Created != 1 || f.Rejected != 2 {
			t.Errorf("%+v", f)
		}
		rejects := readFiles(t, o.Rejects)["sources.csv"]
		if want := "line,field,reason,id,name,active\n6,name,can't be blank,2,,no\n7,active,must be yes or no,3,Friend,perhaps\n"; rejects != want {
			t.Errorf("the rejects are %s", rejects)
		}
		rewrite(t, dir, "sources.csv", strings.NewReplacer("2,,no", "2,Paper,no", "perhaps", "yes").Replace(rejects))
		if f := runImport(t, db, dir, Options{}).Files[0]; f.Created != 2 || f.Rejected != 0 {
			t.Errorf("corrected: %+v", f)
		}
		rewrite(t, dir, "sources.csv", "id;name\n1;Web\n")
		if _, err := Import(t.Context(), db, dir, o); err == nil || !strings.Contains(err.Error(), "sources.csv: header: there is no line 4") {
			t.Errorf("a file that is too short: %v", err)
		}
	})
}

// A byte order mark of UTF-8 takes precedence over the encoding of the mapping. Column names
// match whatever white space they have.
func TestByteOrderMark(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		dir := writeFiles(t, map[string]string{
			"mapping.yaml": `
source: old
encoding: windows-1252
files:
  - {file: sources.csv, entity: acquisition_sources, columns: {Nom usuel: name, Notes du médecin: notes}}
  - {file: categories.csv, entity: treatment_categories, columns: {Libellé: name}}
`,
			"sources.csv":    "\ufeffid;\"Nom\nusuel\";Notes\u00a0du\u00a0médecin\n1;Médecin;été\n",
			"categories.csv": "id;Libell\xe9\n1;Proth\xe8se\n",
		})
		runImport(t, db, dir, Options{})
		for _, query := range []string{
			"SELECT count(*) FROM acquisition_sources WHERE name = 'Médecin' AND notes = 'été'",
			"SELECT count(*) FROM treatment_categories WHERE name = 'Prothèse'",
		} {
			if n := queryInt(t, db, query); n != 1 {
				t.Errorf("%d rows, want 1: %s", n, query)
			}
		}
	})
}

// Constants, defaults and translations that every row would be rejected for are mistakes in the
// mapping.
func TestInvalidTextsOfTheMapping(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		dir := writeFiles(t, map[string]string{
			"mapping.yaml": `
source: old
dates: [DD/MM/YYYY]
files:
  - file: patients.csv
    entity: patients
    columns:
      sex: {field: gender, values: {1: male, 2: femail, "*": ~}}
      months: {field: dentist_recall_interval, default: "36"}
      day: dentist_recall_date
      hour: dentist_recall_date
    constants: {title: Mstr, ethnicity: unknown, payment_plan_id: Private, address_line_1: "1 Road", postcode: X1 1XX, date_of_birth: 31/02/1990, home_phone: "{hour}"}
  - file: diary.csv
    entity: appointments
    columns: {status: {field: state, values: {B: Booked, DNA: DNA}}}
    constants: {reason: Exm, practitioner_id: ann@bright.test}
  - {file: invoices.csv, entity: invoices, columns: {state: {field: status, values: {X: cancelled, O: sent}}}}
`,
			"patients.csv": "id,first_name,last_name,sex,months,day,hour\n",
			"diary.csv":    "id,start_time,duration,status\n",
			"invoices.csv": "id,patient_id,dated_on,state\n",
		})
		_, err := Import(t.Context(), db, dir, Options{})
		const want = `the mapping is invalid:
  patients.csv: sex: "femail" for gender must be male or female
  patients.csv: months: "36" for dentist_recall_interval must be between 0 and 24
  patients.csv: constants: "31/02/1990" for date_of_birth is not a date in one of the formats YYYY-MM-DD, DD/MM/YYYY
  patients.csv: constants: "unknown" for ethnicity must be a code of one or two letters or digits
  diary.csv: status: "Booked" for state must be one of: Pending, Confirmed, Arrived, In surgery, Completed, Cancelled, Did not attend
  invoices.csv: state: "cancelled" for status must be one of: new, sent, part_paid, paid, void`
		if err == nil || err.Error() != want {
			t.Errorf("%v", err)
		}
	})
}

// A column can be split into several fields.
func TestPartsOfColumns(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		constants := strings.Replace(patientsByName, "constants: {", `columns: {Name: [{field: last_name, match: "^([^,]+),[^,]+$"}, {field: first_name, match: "^[^,]+, *([^,]+)$"}], Recall: {field: dentist_recall_interval, match: '^\d+'}}, constants: {`, 1)
		dir := writeFiles(t, map[string]string{
			"mapping.yaml": "source: old\ndates: [DD/MM/YYYY]\nfiles:\n" + constants + `  - file: diary.csv
    entity: appointments
    columns:
      Day: [start_time, finish_time]
      Hours: [{field: start_time, match: "^[0-9:]+"}, {field: finish_time, match: "- ?([0-9:]+)$"}]
      Who: {field: patient_id, match: '\((\d+)\)$', values: {0: ~}}
      What: {field: reason, match: "^(CHK|HYG)?", values: {CHK: Exam, HYG: Other}, default: Other}
    constants: {practitioner_id: ann@bright.test}
`,
			"patients.csv": "id,Name,Recall\n1,\"Ford, Al\",6 months\n2,\"van der Berg, Bo\",\n3,Cy Lee,12\n",
			"diary.csv":    "id,Day,Hours,Who,What\n1,03/06/2026,09:00 - 09:30,A. Ford (1),CHK routine\n2,03/06/2026,10:00-10:15,Lunch (0),HYG\n3,03/06/2026,11:00,Ford,\n4,03/06/2026,12:00-12:30,,\n",
		})
		for range 2 {
			out := t.TempDir()
			report := runImport(t, db, dir, Options{Rejects: out})
			rejects := readFiles(t, out)
			if want := "4,\"last_name, first_name\",\"last_name does not match ^([^,]+),[^,]+$; first_name does not match ^[^,]+, *([^,]+)$\",3,"; !strings.Contains(rejects["patients.csv"], want) || report.Rejected() != 2 {
				t.Errorf("%+v %v", report, rejects)
			}
			if want := "4,\"finish_time, patient_id\","; !strings.Contains(rejects["diary.csv"], want) {
				t.Errorf("%s", rejects["diary.csv"])
			}
			checkInts(t, db, map[string]int{
				"SELECT count(*) FROM patients WHERE last_name = 'Ford' AND first_name = 'Al' AND dentist_recall_interval = 6":             1,
				"SELECT count(*) FROM patients WHERE last_name = 'van der Berg' AND first_name = 'Bo' AND dentist_recall_interval IS NULL": 1,
				"SELECT duration FROM appointments WHERE patient_id IS NOT NULL AND reason = 'Exam'":                                       30,
				"SELECT sum(duration) FROM appointments WHERE patient_id IS NULL AND reason = 'Other'":                                     45,
			})
		}
		rewrite(t, dir, "mapping.yaml", "source: old\nfiles:\n"+strings.Replace(patientsByName, "constants", `columns: {Name: [{field: last_name, match: "(.+"}, {field: first_name, match: "(.)(.)"}], id: {field: legacy_id, match: x}}, constants`, 1))
		_, err := Import(t.Context(), db, dir, Options{})
		for _, want := range []string{"Name: match: error parsing regexp: missing closing )", "has more than one group", "id: an id cannot have match, values or default"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		}
	})
}

// A column that is listed twice for a field would be joined with itself. Two parts of a column are joined.
func TestColumnListedTwiceIsRefused(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		dir := writeFiles(t, map[string]string{
			"mapping.yaml": "source: old\nfiles:\n" + strings.TrimSuffix(patientsByName, "}\n") +
				", columns: {Recall: dentist_recall_date, recall: dentist_recall_date, Town: [town, town], Note: [{field: occupation, match: '^([a-z]+)'}, {field: occupation, match: '([a-z]+)$'}]}}\n",
			"patients.csv": "id,first_name,last_name,Recall,Town,Note\n1,Al,Ford,2027-01-02,Leeds,tree 1 surgeon\n",
		})
		_, err := Import(t.Context(), db, dir, Options{})
		var mistakes MappingError
		if !errors.As(err, &mistakes) || len(mistakes) != 2 || !strings.Contains(err.Error(), "recall: is listed twice for dentist_recall_date") || !strings.Contains(err.Error(), "Town: is listed twice for town") {
			t.Errorf("%v", err)
		}
	})
}
