package subject

import (
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"chairside/schema"
)

// object is an element of FHIR.
type object = map[string]any

// element returns an object without its empty members, which FHIR does not allow, or nil if
// nothing is left.
func element(o object) any {
	for name, v := range o {
		switch v := v.(type) {
		case nil:
			delete(o, name)
		case string:
			if v == "" {
				delete(o, name)
			}
		case []any:
			full := v[:0]
			for _, item := range v {
				if item != nil && item != "" {
					full = append(full, item)
				}
			}
			if o[name] = full; len(full) == 0 {
				delete(o, name)
			}
		}
	}
	if len(o) == 0 {
		return nil
	}
	return o
}

// row is a row by its columns.
type row map[string]Value

func (r row) text(column string) string { return r[column].Text }
func (r row) is(column string) bool     { return r[column].Text == "true" }

// rows returns the rows of a table.
func (f *File) rows(name string) (all []row) {
	for _, s := range f.Sections {
		if s.Table.Name != name {
			continue
		}
		for _, values := range s.Rows {
			r := row{}
			for i, v := range values {
				r[s.Table.Columns[i].Name] = v
			}
			all = append(all, r)
		}
	}
	return all
}

// WriteFHIR writes a Bundle (collection) of FHIR R4 (4.0.1): the Patient, a Flag with the medical
// alert, the Appointments, the Account, the Invoices, and of the items of treatment plans those that
// are completed as Procedures, the others as ServiceRequests. Payments, claims, recalls and notes
// are only in the other formats. Amounts are in the currency of the practice's country.
func (f *File) WriteFHIR(to io.Writer) error {
	var entries []any
	add := func(kind string, r row, resource object) {
		resource["resourceType"], resource["id"] = kind, r.text("id")
		entries = append(entries, object{"fullUrl": f.urn(kind, r.text("id")), "resource": element(resource)})
	}
	for _, r := range f.rows("patients") {
		add("Patient", r, f.fhirPatient(r))
		if r.is("medical_alert") || r.text("medical_alert_text") != "" {
			add("Flag", r, f.fhirFlag(r))
		}
	}
	for _, r := range f.rows("appointments") {
		add("Appointment", r, f.fhirAppointment(r))
	}
	for _, r := range f.rows("accounts") {
		add("Account", r, f.fhirAccount(r))
	}
	for _, r := range f.rows("invoices") {
		add("Invoice", r, f.fhirInvoice(r))
	}
	for _, r := range f.rows("treatment_plan_items") {
		if r.is("completed") {
			add("Procedure", r, f.fhirProcedure(r))
		} else {
			add("ServiceRequest", r, f.fhirRequest(r))
		}
	}
	text, err := json.MarshalIndent(element(object{
		"resourceType": "Bundle", "type": "collection", "timestamp": f.At.Format(time.RFC3339), "entry": entries,
	}), "", "  ")
	if err != nil {
		return err
	}
	_, err = to.Write(append(text, '\n'))
	return err
}

// urn names a resource: the same in each file of the patient.
func (f *File) urn(kind, id string) string {
	return "urn:uuid:" + uuid.NewSHA1(f.Practice.ID, []byte(kind+"/"+id)).String()
}

// patient is the reference to the patient.
func (f *File) patient() any {
	return object{"reference": f.urn("Patient", strconv.FormatInt(f.Patient.ID, 10)), "display": f.Name()}
}

// called refers to something by its name alone.
func called(name string) any {
	if name == "" {
		return nil
	}
	return object{"display": name}
}

// concept is a CodeableConcept without a code.
func concept(text string) any {
	if text == "" {
		return nil
	}
	return object{"text": text}
}

// money is an amount in the currency of the practice's country, if the country has one.
func (f *File) money(amount string) any {
	if amount == "" {
		return nil
	}
	o := object{"value": json.Number(amount)}
	if code := f.Currency(); code != "" {
		o["currency"] = code
	}
	return o
}

func (f *File) fhirPatient(r row) object {
	if f.Patient.ErasedAt != nil { // the stored title, gender and date of birth are placeholders
		return object{"active": false, "name": []any{object{"text": f.Name()}}, "managingOrganization": called(f.Practice.Name)}
	}
	gender := "female"
	if r.is("gender") {
		gender = "male"
	}
	telecom := func(system, use, value string) any {
		if value == "" {
			return nil
		}
		return element(object{"system": system, "use": use, "value": value})
	}
	var number any
	if n := r.text("nhs_number"); n != "" {
		number = object{"system": "https://fhir.nhs.uk/Id/nhs-number", "value": strings.ReplaceAll(n, " ", "")}
	}
	preferred := any(nil)
	if n := r.text("preferred_name"); n != "" {
		preferred = object{"use": "nickname", "given": []any{n}}
	}
	var contact any
	if name := r.text("emergency_contact_name"); name != "" {
		contact = element(object{
			"name":         object{"text": name},
			"relationship": []any{concept(r.text("emergency_contact_relationship"))},
			"telecom":      []any{telecom("phone", "", r.text("emergency_contact_phone"))},
		})
	}
	return object{
		"identifier": []any{number},
		"active":     r.is("active"),
		"name": []any{
			element(object{"use": "official", "family": r.text("last_name"), "given": []any{r.text("first_name"), r.text("middle_name")}, "prefix": []any{r.text("title")}}),
			preferred,
		},
		"telecom": []any{
			telecom("phone", "home", r.text("home_phone")), telecom("phone", "mobile", r.text("mobile_phone")),
			telecom("phone", "work", r.text("work_phone")), telecom("email", "", r.text("email_address")),
		},
		"gender":    gender,
		"birthDate": r.text("date_of_birth"),
		"address": []any{element(object{
			"line": []any{r.text("address_line_1"), r.text("address_line_2")}, "city": r.text("town"), "district": r.text("county"), "postalCode": r.text("postcode"),
		})},
		"contact":              []any{contact},
		"generalPractitioner":  []any{called(r["dentist_id"].Label)},
		"managingOrganization": called(f.Practice.Name),
	}
}

func (f *File) fhirFlag(r row) object {
	text := r.text("medical_alert_text")
	if text == "" {
		text = "Medical alert"
	}
	return object{"status": "active", "code": concept(text), "subject": f.patient()}
}

// fhirStates are FHIR's words for the states of an appointment.
var fhirStates = map[schema.AppointmentState]string{
	schema.Pending:      "pending",
	schema.Confirmed:    "booked",
	schema.Arrived:      "arrived",
	schema.InSurgery:    "checked-in",
	schema.Completed:    "fulfilled",
	schema.Cancelled:    "cancelled",
	schema.DidNotAttend: "noshow",
}

func (f *File) fhirAppointment(r row) object {
	taking := "accepted"
	if r.text("state") == string(schema.Pending) {
		taking = "needs-action"
	}
	var minutes any
	if r.text("duration") != "0" { // FHIR has no appointments of no length
		minutes = json.Number(r.text("duration"))
	}
	return object{
		"status":            fhirStates[schema.AppointmentState(r.text("state"))],
		"cancelationReason": concept(r["appointment_cancellation_reason_id"].Label),
		"reasonCode":        []any{concept(r.text("reason"))},
		"description":       r.text("treatment_description"),
		"start":             r.text("start_time"),
		"end":               r.text("finish_time"),
		"minutesDuration":   minutes,
		"created":           r.text("created_at"),
		"comment":           r.text("notes"),
		"participant": []any{
			object{"actor": f.patient(), "status": taking},
			object{"actor": called(r["practitioner_id"].Label), "status": taking},
		},
	}
}

func (f *File) fhirAccount(r row) object {
	status := "inactive"
	if f.Patient.Active {
		status = "active"
	}
	return object{
		"status":      status,
		"name":        f.Name(),
		"subject":     []any{f.patient()},
		"description": strings.TrimSpace("Balance: "+r.text("current_balance")+" "+f.Currency()) + "; below zero the patient owes it",
		"owner":       called(f.Practice.Name),
	}
}

// fhirInvoices are FHIR's words for the status of an invoice.
var fhirInvoices = map[schema.InvoiceStatus]string{
	schema.InvoiceNew:      "draft", // not sent yet
	schema.InvoiceSent:     "issued",
	schema.InvoicePartPaid: "issued",
	schema.InvoicePaid:     "balanced",
	schema.InvoiceVoid:     "cancelled",
}

func (f *File) fhirInvoice(r row) object {
	var lines []any
	for _, item := range f.rows("invoice_items") {
		if item.text("invoice_id") == r.text("id") {
			lines = append(lines, element(object{
				"chargeItemCodeableConcept": concept(item.text("name")),
				"priceComponent":            []any{object{"type": "base", "factor": json.Number(item.text("quantity")), "amount": f.money(item.text("total_price"))}},
			}))
		}
	}
	var number any
	if reference := r.text("reference"); reference != "" {
		number = object{"value": reference}
	}
	return object{
		"identifier":   []any{number},
		"status":       fhirInvoices[schema.InvoiceStatus(r.text("status"))],
		"subject":      f.patient(),
		"date":         r.text("dated_on"),
		"account":      f.account(r.text("account_id")),
		"issuer":       called(f.Practice.Name),
		"lineItem":     lines,
		"totalGross":   f.money(r.text("amount")),
		"paymentTerms": r.text("payment_terms"),
	}
}

// account refers to an account. That of another person, who pays, is not in the file.
func (f *File) account(id string) any {
	for _, own := range f.rows("accounts") {
		if own.text("id") == id {
			return object{"reference": f.urn("Account", id)}
		}
	}
	return called("The account of another person")
}

// fhirProcedure is treatment that was done.
func (f *File) fhirProcedure(r row) object {
	var performer any
	if who := called(r["practitioner_id"].Label); who != nil {
		performer = object{"actor": who}
	}
	return object{
		"status":            "completed",
		"code":              concept(r.text("nomenclature")),
		"subject":           f.patient(),
		"performedDateTime": r.text("completed_at"),
		"performer":         []any{performer},
		"bodySite":          teeth(r),
		"note":              annotations(r.text("notes")),
	}
}

// fhirRequest is treatment that is planned.
func (f *File) fhirRequest(r row) object {
	return object{
		"status":     "active",
		"intent":     "plan",
		"code":       concept(r.text("nomenclature")),
		"subject":    f.patient(),
		"authoredOn": r.text("created_at"),
		"performer":  []any{called(r["practitioner_id"].Label)},
		"bodySite":   teeth(r),
		"note":       annotations(r.text("notes")),
	}
}

// teeth returns the teeth of an item with the surfaces: "Tooth 16 (M, O)".
func teeth(r row) (sites []any) {
	var numbers []string
	if err := json.Unmarshal([]byte(r.text("teeth")), &numbers); err != nil {
		return nil
	}
	surfaces := list(r.text("surfaces"))
	for _, n := range numbers {
		site := "Tooth " + n
		if surfaces != "" {
			site += " (" + surfaces + ")"
		}
		sites = append(sites, concept(site))
	}
	return sites
}

func annotations(text string) []any {
	if text == "" {
		return nil
	}
	return []any{object{"text": text}}
}
