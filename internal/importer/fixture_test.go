package importer

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// writeBigPractice writes files of treatments, sources, patients, appointments, invoices and
// payments, with as many rows each, and their mapping. One patient in a hundred is invalid, and
// with it what refers to it.
func writeBigPractice(t testing.TB, dir string, rows int) {
	t.Helper()
	write := func(name string, line func(w *bufio.Writer, i int)) {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		w := bufio.NewWriter(f)
		for i := range rows + 1 {
			line(w, i)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	date := func(i int) string { return fmt.Sprintf("%02d/%02d/2025", i%28+1, i%12+1) }
	write("treatments.csv", func(w *bufio.Writer, i int) {
		if i == 0 {
			fmt.Fprintln(w, "id,nomenclature,patient_nomenclature,nhs_treatment_cat,active")
			return
		}
		fmt.Fprintf(w, "T%d,Filling of %d surfaces,Filling %d,Filling,Y\n", i, i, i)
	})
	write("sources.csv", func(w *bufio.Writer, i int) {
		if i == 0 {
			fmt.Fprintln(w, "id,name,notes,active")
			return
		}
		fmt.Fprintf(w, "S%d,Leaflet %d,Printed in %d,Y\n", i, i, i%30+1990)
	})
	write("patients.csv", func(w *bufio.Writer, i int) {
		if i == 0 {
			fmt.Fprintln(w, "id,title,first_name,last_name,date_of_birth,gender,address_line_1,postcode,mobile_phone,email_address,claimed_balance")
			return
		}
		born := fmt.Sprintf("%02d/%02d/%d", i%28+1, i%12+1, 1930+i%90)
		if i%100 == 7 {
			born = "never"
		}
		fmt.Fprintf(w, "P%d,Mr,First%d,Last%d,%s,M,%d High Street,S%d 1AA,0114 496 %04d,p%d@example.org,-%d.00\n", i, i%97, i, born, i, i%30+1, i%10000, i, i%3)
	})
	write("diary.csv", func(w *bufio.Writer, i int) {
		if i == 0 {
			fmt.Fprintln(w, "id,patient_id,date,time,duration,reason,state")
			return
		}
		fmt.Fprintf(w, "A%d,P%d,%s,%02d:%02d,15,Exam,Completed\n", i, i, date(i), i%10+8, i%4*15)
	})
	write("invoices.csv", func(w *bufio.Writer, i int) {
		if i == 0 {
			fmt.Fprintln(w, "id,patient_id,dated_on,amount")
			return
		}
		fmt.Fprintf(w, "I%d,P%d,%s,%d.50\n", i, i, date(i), i%500+1)
	})
	write("payments.csv", func(w *bufio.Writer, i int) {
		if i == 0 {
			fmt.Fprintln(w, "id,patient_id,dated_on,amount,method,invoice_id")
			return
		}
		fmt.Fprintf(w, "R%d,P%d,%s,%d.50,Card,I%d\n", i, i, date(i), i%400+1, i)
	})
	const mapping = `
source: big
dates: [DD/MM/YYYY]
files:
  - {file: treatments.csv, entity: treatments}
  - {file: sources.csv, entity: acquisition_sources}
  - {file: patients.csv, entity: patients, constants: {payment_plan_id: Private, ethnicity: "99"}}
  - {file: diary.csv, entity: appointments, columns: {date: start_time, time: start_time}, constants: {practitioner_id: ann@bright.test}}
  - {file: invoices.csv, entity: invoices}
  - {file: payments.csv, entity: payments}
`
	if err := os.WriteFile(filepath.Join(dir, "mapping.yaml"), []byte(mapping), 0o600); err != nil {
		t.Fatal(err)
	}
}
