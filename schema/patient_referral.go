package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"chairside/internal/apispec"
	"chairside/internal/codec"
)

// PatientReferral sends a patient to another dentist, or comes from one.
type PatientReferral struct{ ent.Schema }

// Mixin of PatientReferral.
func (PatientReferral) Mixin() []ent.Mixin {
	return []ent.Mixin{tenant{site: throughPatient}, timestamps{}}
}

// Fields of PatientReferral.
func (PatientReferral) Fields() []ent.Field {
	return []ent.Field{
		intID(),
		intRef("patient_id", "The patient."),
		text("referrable_type", "Type of the other party: Practice, Hospital or Practitioner.", apispec.Field{MaxRunes: shortText, Example: "Hospital"}),
		field.JSON("referrable_attributes", map[string]string{}).Default(map[string]string{}).Comment("The other party's name and contact details.").
			Annotations(apispec.Field{Kind: codec.Object, Example: `{"name": "Northfield Dental Hospital", "department": "Oral surgery"}`}),
		field.Enum("status").GoType(ReferralStatus("")).Default(string(ReferralDraft)).Comment("Status of the referral."),
		optionalText("reference", "Reference of the referral letter.", apispec.Field{MaxRunes: shortText, Example: "REF-1042"}),
		date("dated_on", "Date of the referral."),
	}
}

// Edges of PatientReferral.
func (PatientReferral) Edges() []ent.Edge {
	return []ent.Edge{link("patient", Patient.Type, "patient_id")}
}

// Indexes of PatientReferral.
func (PatientReferral) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("practice_id", "patient_id", "id"), // patient_id
		index.Fields("practice_id", "dated_on", "id"),   // sort_by=dated_on
	}
}

// Annotations of PatientReferral.
func (PatientReferral) Annotations() []schema.Annotation {
	return []schema.Annotation{apispec.Resource{
		Key: "patient_referral", Plural: "patient_referrals", Scope: "patient", Doc: "Referrals of patients to and from others.", Verbs: readable,
		Sorts: []apispec.Sort{{Key: "dated_on"}},
	}}
}

// ReferralStatus is the status of a referral.
type ReferralStatus string

// The statuses.
const (
	ReferralDraft     ReferralStatus = "draft"
	ReferralSent      ReferralStatus = "sent"
	ReferralReceived  ReferralStatus = "received"
	ReferralAccepted  ReferralStatus = "accepted"
	ReferralDeclined  ReferralStatus = "declined"
	ReferralCompleted ReferralStatus = "completed"
)

// Values lists the statuses for ent.
func (ReferralStatus) Values() []string {
	return []string{"draft", "sent", "received", "accepted", "declined", "completed"}
}
