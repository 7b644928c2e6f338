package schema

import (
	"maps"
	"strings"
)

// AuditValue is how the audit log keeps the values of a column.
type AuditValue int

// The ways.
const (
	AuditUnclassified AuditValue = iota // of a text, a document or a date: a test fails
	AuditPlain                          // as it is
	AuditHashed                         // as a keyed hash, which shows whether two values are equal
	AuditOmitted                        // not at all: it follows from other columns
)

// auditPlain are texts, documents and dates that are neither patients' data nor secrets.
var auditPlain = columnSet(`
	Practice.name .slug .country .phone_number .email_address .website .logo_url .time_zone .opening_hours
		.custom_patient_field_label_1 .custom_patient_field_label_2 .address_line_1 .address_line_2 .town .county .postcode
	AcquisitionSource.name .notes
	AppointmentCancellationReason.reason
	AppointmentReason.reason .colour
	CustomField.default_value .description .name .options
	PaymentPlan.name
	Site.name .nickname .phone_number .email_address .opening_hours .address_line_1 .address_line_2 .town .county .postcode
	Contract.contract_number .end_date .name .nhs_location_id .nhs_site_id .notes .start_date
	Room.name
	Sundry.name
	TreatmentCategory.name
	Treatment.nomenclature .patient_nomenclature .nhs_treatment_cat .uda_band
	User.first_name .last_name .email
	Analyst.role
	Application.name .redirect_uris .scopes
	AccessToken.name .scopes .site_lift_reason
	Passkey.name .host .transports
	Practitioner.gdc_number .nhs_number .colour
	Patient.dentist_recall_date .hygienist_recall_date
	Invoice.dated_on .due_on .paid_on .payment_terms .reference
	PatientReferral.referrable_type .dated_on
	Payment.dated_on .method
	Recall.due_on
	ReportSchedule.report .period .format .folder .address .failure .stopped_reason
	TreatmentPlan.start_date .end_date
	NHSClaim.uda_band .submitted_date .approval_date
	TreatmentPlanItem.uda_band
	WaitingList.from_date .to_date
	Webhook.events .disabled_reason
`)

// auditHashed are columns that identify a patient or describe their health, texts that people
// write about patients, and secrets.
var auditHashed = columnSet(`
	User.mobile_phone .password_hash .totp_secret .recovery_codes .known_browsers
	Application.secret_hash
	Practice.search_key
	AccessToken.hash
	Passkey.credential_id .public_key
	Patient.title .first_name .middle_name .last_name .preferred_name .date_of_birth .gender .ethnicity
		.address_line_1 .address_line_2 .town .county .postcode .email_address
		.emergency_contact_name .emergency_contact_relationship .emergency_contact_phone .emergency_contact_phone_country
		.home_phone .home_phone_country .mobile_phone .mobile_phone_country .work_phone .work_phone_country
		.medical_alert .medical_alert_text .nhs_number .ni_number .occupation .custom_field_1 .custom_field_2 .legacy_id .metadata .legal_hold_reason
	Appointment.reason .notes .treatment_description .metadata
	Invoice.footnote
	Note.body
	PatientReferral.reference .referrable_attributes
	TreatmentPlan.nickname
	NHSClaim.status_comments
	TreatmentAppointment.notes
	TreatmentPlanItem.teeth .surfaces .nomenclature .notes
	CustomFieldAnswer.value
	InvoiceItem.name
	WaitingList.appointment_reason .notes
	Webhook.url .secret .previous_secret
`)

// auditOmitted are columns that follow from others, and those that the entry has itself.
var auditOmitted = columnSet(`
	Patient.search_text .nhs_number_hash .home_phone_normalized .mobile_phone_normalized .work_phone_normalized .emergency_contact_phone_normalized
	Webhook.feed_cursor
`)

// columnSet reads "Entity.column .column" into a set of Entity.column.
func columnSet(text string) map[string]bool {
	all, entity := map[string]bool{}, ""
	for _, word := range strings.Fields(text) {
		name, column, _ := strings.Cut(word, ".")
		if name != "" {
			entity = name
		}
		all[entity+"."+column] = true
	}
	return all
}

// AuditValueOf returns how the audit log keeps the values of a column. words tells that the column
// holds text, a document, bytes or a date; other columns, such as numbers, references and times,
// are plain unless auditHashed lists them.
func AuditValueOf(entity, column string, words bool) AuditValue {
	name := entity + "." + column
	switch {
	case auditHashed[name]:
		return AuditHashed
	case auditPlain[name]:
		return AuditPlain
	case auditOmitted[name], column == "id", column == "practice_id", column == "created_at", column == "updated_at", strings.HasSuffix(column, "_folded"):
		return AuditOmitted
	case words:
		return AuditUnclassified
	}
	return AuditPlain
}

// AuditColumns returns all classified columns, as Entity.column.
func AuditColumns() map[string]bool {
	all := maps.Clone(auditPlain)
	maps.Copy(all, auditHashed)
	maps.Copy(all, auditOmitted)
	return all
}
