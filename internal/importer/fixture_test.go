package importer

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// writeBigPractice writes files of treatments, sources, patients, appointments, invoices and
// payments, with as many rows each, and their mapping. One patient in a hundred is invalid, and
// with it what refers to it.
func writeBigPractice(t testing.TB, dir string, rows int) {
	t.Helper()
	write := func(name, header string, line func(i int) string) {
		var b strings.Builder
		fmt.Fprintln(&b, header)
		for i := 1; i <= rows; i++ {
			fmt.Fprintln(&b, line(i))
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	date := func(i int) string { return fmt.Sprintf("%02d/%02d/2025", i%28+1, i%12+1) }
	write("treatments.csv", "id,nomenclature,patient_nomenclature,nhs_treatment_cat,active", func(i int) string {
		return fmt.Sprintf("T%d,Filling of %d surfaces,Filling %d,Filling,Y", i, i, i)
	})
	write("sources.csv", "id,name,notes,active", func(i int) string {
		return fmt.Sprintf("S%d,Leaflet %d,Printed in %d,Y", i, i, i%30+1990)
	})
	write("patients.csv", "id,title,first_name,last_name,date_of_birth,gender,address_line_1,postcode,mobile_phone,email_address,claimed_balance", func(i int) string {
		born := fmt.Sprintf("%02d/%02d/%d", i%28+1, i%12+1, 1930+i%90)
		if i%100 == 7 {
			born = "never"
		}
		return fmt.Sprintf("P%d,Mr,First%d,Last%d,%s,M,%d High Street,S%d 1AA,0114 496 %04d,p%d@example.org,-%d.00", i, i%97, i, born, i, i%30+1, i%10000, i, i%3)
	})
	write("diary.csv", "id,patient_id,date,time,duration,reason,state", func(i int) string {
		return fmt.Sprintf("A%d,P%d,%s,%02d:%02d,15,Exam,Completed", i, i, date(i), i%10+8, i%4*15)
	})
	write("invoices.csv", "id,patient_id,dated_on,amount", func(i int) string {
		return fmt.Sprintf("I%d,P%d,%s,%d.50", i, i, date(i), i%500+1)
	})
	write("payments.csv", "id,patient_id,dated_on,amount,method,invoice_id", func(i int) string {
		return fmt.Sprintf("R%d,P%d,%s,%d.50,Card,I%d", i, i, date(i), i%400+1, i)
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
