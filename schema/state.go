package schema

import (
	"strings"
	"time"

	"chairside/internal/scope"
)

// AppointmentState is the state of an appointment (spec.md, States).
type AppointmentState string

// The states in the order of a visit.
const (
	Pending      AppointmentState = "Pending"
	Confirmed    AppointmentState = "Confirmed"
	Arrived      AppointmentState = "Arrived"
	InSurgery    AppointmentState = "In surgery"
	Completed    AppointmentState = "Completed"
	Cancelled    AppointmentState = "Cancelled"
	DidNotAttend AppointmentState = "Did not attend"
)

// stamps maps each state to the timestamp that it sets.
var stamps = []struct {
	State  AppointmentState
	Column string
	Doc    string
}{
	{Pending, "pending_at", "When the state last became Pending."},
	{Confirmed, "confirmed_at", "When the state last became Confirmed."},
	{Arrived, "arrived_at", "When the state last became Arrived."},
	{InSurgery, "in_surgery_at", "When the state last became In surgery."},
	{Completed, "completed_at", "When the state last became Completed."},
	{Cancelled, "cancelled_at", "When the state became Cancelled; null after leaving it."},
	{DidNotAttend, "did_not_attend_at", "When the state became Did not attend; null after leaving it."},
}

// stampCheck returns the check constraint that the state's timestamp is set.
func stampCheck() string {
	rule := "CASE state"
	for _, s := range stamps {
		rule += " WHEN '" + string(s.State) + "' THEN " + s.Column
	}
	return rule + " END IS NOT NULL"
}

// Values lists the states for ent.
func (AppointmentState) Values() (all []string) {
	for _, s := range stamps {
		all = append(all, string(s.State))
	}
	return all
}

// Stamp returns the column that the state sets.
func (s AppointmentState) Stamp() string {
	for _, t := range stamps {
		if t.State == s {
			return t.Column
		}
	}
	return ""
}

// Blocks reports whether an appointment in this state blocks its time for other bookings
// (behaviour.md section 4).
func (s AppointmentState) Blocks() bool { return s != Cancelled && s != DidNotAttend }

// LongestAppointment is the longest appointment (behaviour.md section 4). A search for
// overlaps therefore looks back this far.
const LongestAppointment = 24 * time.Hour

// ClaimStatus is the status of an NHS claim.
type ClaimStatus string

// The statuses (spec.md, States).
const (
	ClaimNew       ClaimStatus = "new"
	ClaimQueued    ClaimStatus = "queued"
	ClaimSubmitted ClaimStatus = "submitted"
	ClaimCompleted ClaimStatus = "completed"
	ClaimError     ClaimStatus = "error"
	ClaimInvalid   ClaimStatus = "invalid"
	ClaimReceived  ClaimStatus = "received"
	ClaimQueried   ClaimStatus = "queried"
	ClaimWithdrawn ClaimStatus = "withdrawn"
)

// Values lists the statuses for ent.
func (ClaimStatus) Values() []string {
	return []string{"new", "queued", "submitted", "completed", "error", "invalid", "received", "queried", "withdrawn"}
}

// InvoiceStatus is the status of an invoice (behaviour.md section 2).
type InvoiceStatus string

// The statuses. InvoiceStatusOf derives all but new, sent and void.
const (
	InvoiceNew      InvoiceStatus = "new"
	InvoiceSent     InvoiceStatus = "sent"
	InvoicePartPaid InvoiceStatus = "part_paid"
	InvoicePaid     InvoiceStatus = "paid"
	InvoiceVoid     InvoiceStatus = "void"
)

// Values lists the statuses for ent.
func (InvoiceStatus) Values() []string { return []string{"new", "sent", "part_paid", "paid", "void"} }

// RecallMethod is how a patient wants to be reminded.
type RecallMethod string

// The methods (spec.md, Patient).
const (
	RecallLetter RecallMethod = "Letter"
	RecallSMS    RecallMethod = "SMS"
	RecallEmail  RecallMethod = "Email"
	RecallPhone  RecallMethod = "Phone"
)

// Values lists the methods for ent.
func (RecallMethod) Values() []string { return []string{"Letter", "SMS", "Email", "Phone"} }

// Title is how a person is addressed.
type Title string

// Values lists the titles (spec.md, Patient).
func (Title) Values() []string {
	return []string{"Mr", "Mrs", "Miss", "Ms", "Dr", "Master", "Prof", "Hon", "Rev", "Sir", "Lady", "Lord", "Earl", "Judge", "Dame"}
}

// QuestionType is the kind of a custom field.
type QuestionType string

// The types (spec.md, Custom field). Title and spacer only structure the screen.
const (
	QuestionCheckbox QuestionType = "checkbox"
	QuestionEnum     QuestionType = "enum"
	QuestionNumber   QuestionType = "number"
	QuestionText     QuestionType = "text"
	QuestionTextarea QuestionType = "textarea"
	QuestionTitle    QuestionType = "title"
	QuestionSpacer   QuestionType = "spacer"
)

// Values lists the types for ent.
func (QuestionType) Values() []string {
	return []string{"checkbox", "enum", "number", "text", "textarea", "title", "spacer"}
}

// Asks reports whether fields of this type have answers.
func (t QuestionType) Asks() bool { return t != QuestionTitle && t != QuestionSpacer }

// Customizable is the screen of a custom field.
type Customizable string

// The two screens (spec.md, Custom field).
const (
	CustomizesTreatment Customizable = "Treatment"
	CustomizesPatient   Customizable = "Patient"
)

// Values lists the screens for ent.
func (Customizable) Values() []string { return []string{"Treatment", "Patient"} }

// Role is a user's role in the practice.
type Role string

// The roles.
const (
	RoleReceptionist  Role = "receptionist"
	RoleDentist       Role = "dentist"
	RoleHygienist     Role = "hygienist"
	RoleTherapist     Role = "therapist"
	RoleNurse         Role = "nurse"
	RoleManager       Role = "manager"
	RoleAdministrator Role = "administrator"
)

// Values lists the roles for ent.
func (Role) Values() []string {
	return []string{"receptionist", "dentist", "hygienist", "therapist", "nurse", "manager", "administrator"}
}

// PermissionLevel returns the role's level (behaviour.md section 5). Package scope has
// the scopes of each level. An unknown role has level 0.
func (r Role) PermissionLevel() scope.Level {
	switch r {
	case RoleAdministrator:
		return scope.Administrator
	case RoleManager:
		return scope.Manager
	case RoleDentist, RoleHygienist, RoleTherapist:
		return scope.Practitioner
	case RoleReceptionist, RoleNurse:
		return scope.Reception
	}
	return 0
}

// Reasons are the appointment reasons of every practice (spec.md, Appointment).
var Reasons = []string{"Exam", "Scale & Polish", "Exam + Scale & Polish", "Continuing Treatment", "Emergency", "Review", "Other"}

// reasonDoc documents a member that is an appointment reason.
var reasonDoc = "One of the standard reasons (" + strings.Join(Reasons, ", ") + "), or the name of one of the practice's own reasons."
