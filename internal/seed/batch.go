package seed

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/account"
	"chairside/ent/acquisitionsource"
	"chairside/ent/appointment"
	"chairside/ent/appointmentcancellationreason"
	"chairside/ent/appointmentreason"
	entcontract "chairside/ent/contract"
	"chairside/ent/customfield"
	"chairside/ent/customfieldanswer"
	"chairside/ent/fee"
	"chairside/ent/invoice"
	"chairside/ent/invoiceitem"
	"chairside/ent/nhsclaim"
	entnote "chairside/ent/note"
	"chairside/ent/noteversion"
	"chairside/ent/patient"
	"chairside/ent/patientreferral"
	"chairside/ent/payment"
	"chairside/ent/paymentexplanation"
	"chairside/ent/paymentplan"
	"chairside/ent/practice"
	entpractitioner "chairside/ent/practitioner"
	entrecall "chairside/ent/recall"
	"chairside/ent/room"
	entsite "chairside/ent/site"
	"chairside/ent/sundry"
	enttreatment "chairside/ent/treatment"
	"chairside/ent/treatmentappointment"
	"chairside/ent/treatmentcategory"
	"chairside/ent/treatmentplan"
	"chairside/ent/treatmentplanitem"
	"chairside/ent/user"
	"chairside/ent/waitinglist"
	"chairside/ent/webhook"
	"chairside/ent/workingsession"
	"chairside/internal/seal"
	"chairside/internal/store/bulk"
)

// batch holds rows until they are written: the practice's, then those of some patients at
// a time.
type batch struct {
	practices       []ent.Practice
	sites           []ent.Site
	rooms           []ent.Room
	users           []ent.User
	practitioners   []ent.Practitioner
	workingSessions []ent.WorkingSession
	plans           []ent.PaymentPlan
	categories      []ent.TreatmentCategory
	treatments      []ent.Treatment
	fees            []ent.Fee
	sundries        []ent.Sundry
	sources         []ent.AcquisitionSource
	reasons         []ent.AppointmentReason
	questions       []ent.CustomField
	contracts       []ent.Contract
	webhooks        []ent.Webhook

	cancellationReasons []ent.AppointmentCancellationReason

	patients       []ent.Patient
	accounts       []ent.Account
	treatmentPlans []ent.TreatmentPlan
	invoices       []ent.Invoice
	treatmentItems []ent.TreatmentPlanItem
	invoiceItems   []ent.InvoiceItem
	payments       []ent.Payment
	explanations   []ent.PaymentExplanation
	appointments   []ent.Appointment
	planVisits     []ent.TreatmentAppointment
	claims         []ent.NHSClaim
	answers        []ent.CustomFieldAnswer
	recalls        []ent.Recall
	waiting        []ent.WaitingList
	referrals      []ent.PatientReferral
	notes          []ent.Note
	noteVersions   []ent.NoteVersion
}

// tables lists the tables so that every row comes after the rows it references.
func (b *batch) tables() []table {
	return []table{
		tableOf(practice.Table, practice.Columns, &b.practices),
		tableOf(entsite.Table, entsite.Columns, &b.sites),
		tableOf(room.Table, room.Columns, &b.rooms),
		tableOf(user.Table, user.Columns, &b.users),
		tableOf(entpractitioner.Table, entpractitioner.Columns, &b.practitioners),
		tableOf(workingsession.Table, workingsession.Columns, &b.workingSessions),
		tableOf(paymentplan.Table, paymentplan.Columns, &b.plans),
		tableOf(treatmentcategory.Table, treatmentcategory.Columns, &b.categories),
		tableOf(enttreatment.Table, enttreatment.Columns, &b.treatments),
		tableOf(fee.Table, fee.Columns, &b.fees),
		tableOf(sundry.Table, sundry.Columns, &b.sundries),
		tableOf(acquisitionsource.Table, acquisitionsource.Columns, &b.sources),
		tableOf(appointmentreason.Table, appointmentreason.Columns, &b.reasons),
		tableOf(customfield.Table, customfield.Columns, &b.questions),
		tableOf(entcontract.Table, entcontract.Columns, &b.contracts),
		tableOf(webhook.Table, webhook.Columns, &b.webhooks),
		tableOf(appointmentcancellationreason.Table, appointmentcancellationreason.Columns, &b.cancellationReasons),
		tableOf(patient.Table, patient.Columns, &b.patients),
		tableOf(account.Table, account.Columns, &b.accounts),
		tableOf(treatmentplan.Table, treatmentplan.Columns, &b.treatmentPlans),
		tableOf(invoice.Table, invoice.Columns, &b.invoices),
		tableOf(treatmentplanitem.Table, treatmentplanitem.Columns, &b.treatmentItems),
		tableOf(invoiceitem.Table, invoiceitem.Columns, &b.invoiceItems),
		tableOf(payment.Table, payment.Columns, &b.payments),
		tableOf(paymentexplanation.Table, paymentexplanation.Columns, &b.explanations),
		tableOf(appointment.Table, appointment.Columns, &b.appointments),
		tableOf(treatmentappointment.Table, treatmentappointment.Columns, &b.planVisits),
		tableOf(nhsclaim.Table, nhsclaim.Columns, &b.claims),
		tableOf(customfieldanswer.Table, customfieldanswer.Columns, &b.answers),
		tableOf(entrecall.Table, entrecall.Columns, &b.recalls),
		tableOf(waitinglist.Table, waitinglist.Columns, &b.waiting),
		tableOf(patientreferral.Table, patientreferral.Columns, &b.referrals),
		tableOf(entnote.Table, entnote.Columns, &b.notes),
		tableOf(noteversion.Table, noteversion.Columns, &b.noteVersions),
	}
}

// tableNames returns all tables in that order, and those with integer ids.
func tableNames() (all, numbered []string) {
	for _, t := range new(batch).tables() {
		all = append(all, t.name)
		if t.numbered() {
			numbered = append(numbered, t.name)
		}
	}
	return all, numbered
}

// write writes and clears the rows.
func (b *batch) write(ctx context.Context, to *bulk.Tx, keys *seal.Keys) error {
	for _, t := range b.tables() {
		if err := t.write(ctx, to, keys); err != nil {
			return err
		}
	}
	return nil
}

// table is the rows of one table.
type table struct {
	name    string
	columns []string
	rows    reflect.Value // a settable slice
}

// tableOf describes the table that the rows are for.
func tableOf[T any](name string, columns []string, rows *[]T) table {
	return table{name, columns, reflect.ValueOf(rows).Elem()}
}

// numbered reports whether the ids are integers.
func (t table) numbered() bool {
	return t.rows.Type().Elem().Field(firstColumn).Type.Kind() == reflect.Int64
}

// firstColumn is the index of the id in a row of ent. The fields after it are in column
// order.
const firstColumn = 1

// write writes the rows and empties the slice, whose memory the next rows use.
func (t table) write(ctx context.Context, to *bulk.Tx, keys *seal.Keys) error {
	if t.rows.Len() == 0 {
		return nil
	}
	values := make([]any, len(t.columns))
	err := to.Table(ctx, t.name, t.columns, func(w *bulk.RowWriter) error {
		for r := range t.rows.Len() {
			row := t.rows.Index(r)
			for i := range values {
				var err error
				if values[i], err = t.value(row, i, keys); err != nil {
					return fmt.Errorf("seed: %s.%s: %w", t.name, t.columns[i], err)
				}
			}
			if err := w.Row(values...); err != nil {
				return err
			}
		}
		return nil
	})
	t.rows.SetLen(0)
	return err
}

// value returns the stored value of a row's i-th column. It seals plain texts.
func (t table) value(row reflect.Value, i int, keys *seal.Keys) (any, error) {
	field := row.Field(firstColumn + i)
	v, isSealed := field.Interface().(seal.Value)
	if !isSealed || v.IsNull() {
		return column(field)
	}
	plain, _ := v.Plain()
	id := row.Field(firstColumn).Interface()
	owner := row.FieldByName("PracticeID")
	if !owner.IsValid() {
		owner = row.Field(firstColumn) // the practice itself
	}
	return keys.Seal(seal.Place{Practice: owner.Interface().(uuid.UUID), Table: t.name, Column: t.columns[i], Row: fmt.Sprint(id)}, plain)
}

// column returns a field's stored value: lists and maps as JSON.
func column(field reflect.Value) (any, error) {
	switch kind := field.Kind(); {
	case kind == reflect.Map && field.Len() == 0:
		return "{}", nil
	case kind == reflect.Slice && field.Len() == 0:
		return "[]", nil
	case kind == reflect.Map || kind == reflect.Slice:
		text, err := json.Marshal(field.Interface())
		return string(text), err
	}
	return field.Interface(), nil
}
