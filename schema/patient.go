package schema

import (
	"strings"

	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"chairside/internal/apispec"
	"chairside/internal/apispec/limit"
	"chairside/internal/codec"
)

// Patient is a person whom the practice treats.
type Patient struct{ ent.Schema }

// Mixin of Patient.
func (Patient) Mixin() []ent.Mixin { return []ent.Mixin{tenant{site: ownSite}, timestamps{}} }

// Fields of Patient.
func (Patient) Fields() []ent.Field {
	months := apispec.Field{Write: true, Min: bound(0), Max: bound(24), Example: "6"}
	fields := []ent.Field{
		intID(),
		field.Enum("title").GoType(Title("")).Comment("Title.").Annotations(required(example(written(), "Ms"))),
		text("first_name", "First name.", required(written())),
		optionalText("middle_name", "Middle name.", written()),
		text("last_name", "Last name.", required(written())),
		optionalText("preferred_name", "Preferred name.", written()),
		folded("first_name"),
		folded("last_name"),
		date("date_of_birth", "Date of birth; not in the future.", required(example(written(), `"1985-03-09"`))),
		field.Bool("gender").Comment("true for male, false for female. The words male and female are accepted.").Annotations(required(example(kind(codec.Gender), "false"))),
		text("ethnicity", "Ethnicity code: one or two letters or digits.", required(kind(codec.Ethnicity))),
		boolTrue("active", "false if the patient is archived.", written()),
		text("address_line_1", "First line of the address.", required(written())),
		optionalText("address_line_2", "Second line of the address.", written()),
		optionalText("town", "Town or city.", written()),
		optionalText("county", "County.", written()),
		text("postcode", "Postcode.", required(apispec.Field{Write: true, MaxRunes: shortText, Example: "SW1A 1AA"})),
		optionalText("email_address", "E-mail address.", kind(codec.Email)),
		optionalText("emergency_contact_name", "Emergency contact.", written()),
		optionalText("emergency_contact_relationship", "Relationship of the emergency contact to the patient.", written()),
		field.Int("preferred_phone_number").Optional().Nillable().Comment("Preferred number: 1 home, 2 work, 3 mobile.").
			Annotations(apispec.Field{Write: true, Min: bound(1), Max: bound(3), Example: "3"}),
		intRef("payment_plan_id", "The payment plan; must be active.", required(apispec.Field{Write: true, Active: true})),
		uuidRef("site_id", "The patient's site. Default: the user's site.", written()),
		optionalIntRef("dentist_id", "The preferred dentist's practitioner id.", written()),
		optionalDate("dentist_recall_date", "Due date of the next dental exam.", written()),
		optionalCount("dentist_recall_interval", "Months between dental exams, 0 to 24.", months),
		optionalIntRef("hygienist_id", "The preferred hygienist's practitioner id.", written()),
		optionalDate("hygienist_recall_date", "Due date of the next hygiene visit.", written()),
		optionalCount("hygienist_recall_interval", "Months between hygiene visits, 0 to 24.", months),
		field.Enum("recall_method").GoType(RecallMethod("")).Default(string(RecallLetter)).Comment("Preferred reminder method.").Annotations(written()),
		optionalUUIDRef("acquisition_source_id", "How the patient found the practice.", written()),
		optionalIntRef("doctor_id", "Id of the patient's doctor.", written()),
		optionalUUIDRef("family_id", "Id of the patient's family.", written()),
		optionalText("legacy_id", "Id in a previous system.", written()),
		field.Int("marketing").Default(0).Comment("Consent to marketing. A boolean is accepted.").Annotations(kind(codec.Consent)),
		boolFalse("medical_alert", "Whether the patient has a medical alert.", kind(codec.Flag)),
		optionalSealed("medical_alert_text", "Text of the medical alert.", written(longText)),
		optionalSealed("nhs_number", "NHS number.", written()),
		optionalSealed("ni_number", "National Insurance number.", written()),
		optionalText("occupation", "Occupation.", written()),
		boolTrue("use_email", "Whether e-mail may be sent.", written()),
		boolTrue("use_sms", "Whether text messages may be sent.", written()),
		optionalText("custom_field_1", "The practice's own field; the practice has its label.", written()),
		optionalText("custom_field_2", "The practice's own field; the practice has its label.", written()),
		metadata(),
		optionalTimestamp("erased_at", "When the patient's data was erased; null otherwise. Only amounts and dates of the account, invoices and payments are left.", apispec.Field{Derived: true}),
		optionalTimestamp("legal_hold_at", "Since when a legal hold keeps the record from being erased; null otherwise.", apispec.Field{Hidden: true, Derived: true}),
		optionalText("legal_hold_reason", "Why it does.", apispec.Field{Hidden: true, Derived: true}),
		field.String("nhs_number_hash").Optional().Nillable().Comment("Keyed hash of the NHS number's digits (seal.Hash), by which search finds it.").Annotations(apispec.Field{Hidden: true, Derived: true}),
		field.String("search_text").Default("").Comment("Text that search matches (SearchText).").Annotations(apispec.Field{Hidden: true, Derived: true}),
	}
	for _, p := range phoneColumns {
		words := strings.ReplaceAll(strings.ToUpper(p[:1])+p[1:], "_", " ")
		fields = append(fields,
			optionalText(p, words+" number, as entered.", apispec.Field{Write: true, MaxRunes: shortText, Example: "020 7946 0123"}),
			optionalText(p+"_country", "ISO 3166 country code of the number.", kind(codec.Country)),
			optionalText(p+"_normalized", "The number in E.164 format; null if it is not a possible number.", apispec.Field{Derived: true, Format: limit.E164, Example: "+442079460123"}),
		)
	}
	return fields
}

// Edges of Patient.
func (Patient) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("account", Account.Type).Unique().Annotations(keep),
		many("appointments", Appointment.Type),
		many("invoices", Invoice.Type),
		many("payments", Payment.Type),
		many("treatment_plans", TreatmentPlan.Type),
		many("claims", NHSClaim.Type),
		many("answers", CustomFieldAnswer.Type),
		link("payment_plan", PaymentPlan.Type, "payment_plan_id"),
		link("site", Site.Type, "site_id"),
		optionalLink("dentist", Practitioner.Type, "dentist_id"),
		optionalLink("hygienist", Practitioner.Type, "hygienist_id"),
		optionalLink("acquisition_source", AcquisitionSource.Type, "acquisition_source_id"),
	}
}

// Indexes of Patient.
func (Patient) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("practice_id", "last_name_folded", "id"),  // sort_by=last_name
		index.Fields("practice_id", "first_name_folded", "id"), // sort_by=first_name
		index.Fields("practice_id", "date_of_birth", "id"),     // sort_by=date_of_birth
		index.Fields("practice_id", "site_id", "id"),           // site_id
		// active; sites and hygienists for hygiene recall rate without reading the table
		index.Fields("practice_id", "active", "id").StorageKey("patient_active").
			Annotations(entsql.IncludeColumns("site_id", "hygienist_id", "hygienist_recall_date")),
		index.Fields("practice_id", "legacy_id"), // records of a previous system
		// query has an index of a function: internal/store/migrate/expressions.go
	}
}

// Hooks of Patient. Phones are normalised before the search text, which includes them.
func (Patient) Hooks() []ent.Hook {
	derivations := append([]derivation{deriveFolded("first_name"), deriveFolded("last_name")}, derivePhones()...)
	return []ent.Hook{onChange(append(derivations, deriveSearchText(), checkMetadata())...)}
}

// viewPatient is what analysts see.
var viewPatient = apispec.View{
	Shown: []string{
		"id", "date_of_birth", "gender", "active", "town", "payment_plan_id", "site_id", "dentist_id",
		"dentist_recall_date", "dentist_recall_interval", "hygienist_id", "hygienist_recall_date",
		"hygienist_recall_interval", "recall_method", "acquisition_source_id", "family_id", "marketing", "use_email",
		"use_sms", "erased_at", "created_at", "updated_at",
	},
	Withheld: []string{
		"title", "first_name", "middle_name", "last_name", "preferred_name", "first_name_folded", "last_name_folded",
		"ethnicity", "address_line_1", "address_line_2", "county", "postcode", "email_address",
		"emergency_contact_name", "emergency_contact_relationship", "preferred_phone_number", "doctor_id", "legacy_id",
		"medical_alert", "medical_alert_text", "nhs_number", "ni_number", "occupation", "custom_field_1",
		"custom_field_2", "metadata", "legal_hold_at", "legal_hold_reason", "nhs_number_hash", "search_text",
		"home_phone", "home_phone_country", "home_phone_normalized", "work_phone", "work_phone_country",
		"work_phone_normalized", "mobile_phone", "mobile_phone_country", "mobile_phone_normalized",
		"emergency_contact_phone", "emergency_contact_phone_country", "emergency_contact_phone_normalized",
	},
}

// Annotations of Patient.
func (Patient) Annotations() []schema.Annotation {
	return []schema.Annotation{viewPatient, apispec.Subject{}, apispec.Resource{
		Key: "patient", Plural: "patients", Scope: "patient", Doc: "Patients of the practice.",
		Counters:      everyRow,
		Verbs:         []apispec.Verb{apispec.Get, apispec.List, apispec.Create, apispec.Update, apispec.Delete},
		Handwritten:   []apispec.Verb{apispec.List},
		Archive:       "active",
		ExampleCreate: []string{"email_address", "mobile_phone"},
		ExampleUpdate: []string{"preferred_name", "email_address"},
		Descriptions: map[apispec.Verb]string{
			apispec.Create: "Also opens the patient's account, with a balance of 0.00.",
			apispec.Update: "Changes only the fields sent; null clears an optional field. To restore an archived patient, set active to true.",
			apispec.Delete: "Archives the patient: sets active to false.",
		},
		Filters: []apispec.Filter{
			{Param: "query", Kind: codec.Text, Handwritten: true, Search: true, Doc: "Names in any order, a phone number in any format, an e-mail address, a postcode, an NHS number or a legacy id."},
			{Param: "created_after", Column: "created_at", Op: "GTE", Doc: "Created at or after this time."},
			{Param: "created_before", Column: "created_at", Op: "LT", Doc: "Created before this time."},
		},
		Sorts: []apispec.Sort{{Key: "first_name", Column: "first_name_folded"}, {Key: "last_name", Column: "last_name_folded"}, {Key: "date_of_birth"}},
		Computed: []apispec.Computed{
			{Name: "account_id", Kind: codec.ID, Nullable: true, Edge: "account", Columns: []string{"id"}, Doc: "The patient's account."},
			answersMember,
			{Name: "image_url", Kind: codec.Avatar, Doc: "URL of the picture."},
		},
		BodyFields: []apispec.BodyField{{Name: "custom_fields", Kind: codec.Answers, Null: "[]", Doc: "Answers to set; a null value removes the answer.", Objects: &apispec.Objects{
			Item: "CustomFieldAnswerInput", Members: []apispec.Computed{
				{Name: "field_id", Kind: codec.UUID, Doc: "The custom field."},
				{Name: "value", Kind: codec.Object, Doc: "The answer; null removes it.", Example: "true"},
			},
		}}},
		Operations: []apispec.Operation{
			{
				ID: "listPatientStats", Path: "/patient_stats", Key: "patient_stats", Item: "PatientStats", Members: statsMembers, PatientData: true, Counted: true, Filtered: true,
				Doc: "List statistics of patients.", Description: "Takes the parameters of the list of patients, and patient_id.",
				Params: []apispec.Filter{{Param: "patient_id", Kind: codec.ID, Doc: "Of this patient."}},
			},
			{
				ID: "getPatientStats", Path: "/patient_stats/{id}", Key: "patient_stats", Item: "PatientStats", Members: statsMembers, PatientData: true,
				Doc: "Get statistics by id.", Description: "The id is that of the patient, so the response is that of `GET /patients/{id}/stats`.",
			},
			{
				ID: "getStatsOfPatient", Path: "/patients/{id}/stats", Key: "patient_stats", Item: "PatientStats", Members: statsMembers, PatientData: true,
				Doc: "Get statistics of a patient.",
			},
		},
	}}
}

// statsMembers are the members of a patient's statistics.
var statsMembers = []apispec.Computed{
	{Name: "id", Kind: codec.ID, Doc: "The patient."},
	{Name: "patient_id", Kind: codec.ID, Doc: "The patient."},
	{Name: "first_appointment_date", Kind: codec.Date, Nullable: true, Doc: "Day of the first past appointment. Cancelled and missed appointments do not count, here and below."},
	{Name: "last_appointment_date", Kind: codec.Date, Nullable: true, Doc: "Day of the last past appointment."},
	{Name: "next_appointment_date", Kind: codec.Date, Nullable: true, Doc: "Day of the next appointment."},
	{Name: "first_exam_date", Kind: codec.Date, Nullable: true, Doc: "Day of the first past exam."},
	{Name: "last_exam_date", Kind: codec.Date, Nullable: true, Doc: "Day of the last past exam."},
	{Name: "next_exam_date", Kind: codec.Date, Nullable: true, Doc: "Day of the next exam."},
	{Name: "first_scale_and_polish_date", Kind: codec.Date, Nullable: true, Doc: "Day of the first past scale and polish."},
	{Name: "last_scale_and_polish_date", Kind: codec.Date, Nullable: true, Doc: "Day of the last past scale and polish."},
	{Name: "next_scale_and_polish_date", Kind: codec.Date, Nullable: true, Doc: "Day of the next scale and polish."},
	{Name: "last_cancelled_appointment_date", Kind: codec.Date, Nullable: true, Doc: "Day of the last cancelled appointment."},
	{Name: "last_fta_appointment_date", Kind: codec.Date, Nullable: true, Doc: "Day of the last appointment that the patient did not attend."},
	{Name: "failed_appointments", Kind: codec.Integer, Doc: "Number of appointments that the patient did not attend."},
	{Name: "total_invoiced", Kind: codec.Decimal, Doc: "Sum of the invoices, without void ones."},
	{Name: "total_paid", Kind: codec.Decimal, Doc: "Sum of the payments, without deleted ones."},
	{Name: "created_at", Kind: codec.Time, Doc: "When the patient was created."},
	{Name: "updated_at", Kind: codec.Time, Doc: "When the patient last changed."},
}

// patientNameMember is the response member with the name of a row's patient.
var patientNameMember = apispec.Computed{
	Name: "patient_name", Kind: codec.Text, Edge: "patient", Columns: []string{"first_name", "last_name"}, Func: "FullName", Doc: "First and last name of the patient.",
}

// answersMember is the response member with the answers to custom fields.
var answersMember = apispec.Computed{
	Name: "custom_fields", Kind: codec.Answers, Handwritten: true, DependsOn: []string{"custom_fields"}, Doc: "Answers to the practice's custom fields.",
	Objects: &apispec.Objects{Item: "CustomFieldEntry", Members: []apispec.Computed{
		{Name: "field_id", Kind: codec.UUID, Doc: "The custom field."},
		{Name: "value", Kind: codec.Object, Doc: "A boolean for a checkbox, a decimal string for a number, a string otherwise; null if unanswered.", Example: "true"},
		{Name: "position", Kind: codec.Integer, Doc: "Position among the custom fields."},
	}},
}

// AcquisitionSource is a way in which patients find the practice.
type AcquisitionSource struct{ ent.Schema }

// Mixin of AcquisitionSource.
func (AcquisitionSource) Mixin() []ent.Mixin { return []ent.Mixin{tenant{}, timestamps{}} }

// Fields of AcquisitionSource.
func (AcquisitionSource) Fields() []ent.Field {
	return []ent.Field{
		uuidID(),
		boolTrue("active", "false if the source is archived."),
		text("name", "Name of the source."),
		folded("name"),
		optionalText("notes", "Notes."),
	}
}

// Indexes of AcquisitionSource.
func (AcquisitionSource) Indexes() []ent.Index {
	return []ent.Index{index.Fields("practice_id", "name_folded", "id")} // default order
}

// Hooks of AcquisitionSource.
func (AcquisitionSource) Hooks() []ent.Hook { return []ent.Hook{onChange(deriveFolded("name"))} }

// viewAcquisitionSource is what analysts see.
var viewAcquisitionSource = apispec.View{
	Shown:    []string{"id", "active", "name", "created_at", "updated_at"},
	Withheld: []string{"name_folded", "notes"},
}

// Annotations of AcquisitionSource.
func (AcquisitionSource) Annotations() []schema.Annotation {
	return []schema.Annotation{viewAcquisitionSource, apispec.Resource{
		Key: "acquisition_source", Plural: "acquisition_sources", Scope: "patient", Doc: "How patients found the practice.", Verbs: readable,
		Sorts: []apispec.Sort{{Key: "name", Column: "name_folded"}}, Order: "name",
	}}
}

// Option is a choice of a custom field.
type Option struct {
	Name     string `json:"name"`
	Position int    `json:"position"`
}

// CustomField is a question that the practice adds to the patient or treatment screen.
type CustomField struct{ ent.Schema }

// Mixin of CustomField.
func (CustomField) Mixin() []ent.Mixin { return []ent.Mixin{tenant{}, timestamps{}} }

// Fields of CustomField.
func (CustomField) Fields() []ent.Field {
	return []ent.Field{
		uuidID(),
		boolTrue("active", "Whether the field is in use."),
		field.Enum("customizable_type").GoType(Customizable("")).Comment("The screen that shows it."),
		optionalText("default_value", "Default answer."),
		optionalText("description", "Description."),
		text("name", "The question."),
		field.JSON("options", []Option{}).Default([]Option{}).Comment("Choices of a checkbox group or an enum.").
			Annotations(apispec.Field{Kind: codec.Object, Example: `[{"name": "Never", "position": 1}]`}),
		count("position", "Position among the custom fields."),
		field.Enum("type").GoType(QuestionType("")).Comment("Type of the answer."),
		optionalCount("width", "Width on the screen, in twelfths."),
	}
}

// Indexes of CustomField.
func (CustomField) Indexes() []ent.Index {
	return []ent.Index{index.Fields("practice_id", "position", "id")} // default order
}

// Annotations of CustomField.
func (CustomField) Annotations() []schema.Annotation {
	return []schema.Annotation{apispec.Resource{
		Key: "custom_field", Plural: "custom_fields", Scope: "patient", Doc: "The practice's own questions.", Verbs: readable,
		Filters:  []apispec.Filter{{Param: "updated_before", Column: "updated_at", Op: "LTE", Doc: "Modified at or before this time."}},
		Sorts:    []apispec.Sort{{Key: "position"}},
		Order:    "position",
		Computed: []apispec.Computed{{Name: "customizable_id", Kind: codec.UUID, Columns: []string{"practice_id"}, Doc: "The practice."}},
	}}
}

// CustomFieldAnswer is the answer to a custom field about a patient or a treatment.
type CustomFieldAnswer struct{ ent.Schema }

// Mixin of CustomFieldAnswer.
func (CustomFieldAnswer) Mixin() []ent.Mixin {
	return []ent.Mixin{tenant{site: throughPatient}, timestamps{}}
}

// Fields of CustomFieldAnswer.
func (CustomFieldAnswer) Fields() []ent.Field {
	return []ent.Field{
		uuidID(),
		uuidRef("custom_field_id", "The question."),
		intRef("patient_id", "The patient."),
		optionalIntRef("treatment_plan_item_id", "The treatment, for questions on the treatment screen."),
		text("value", "The answer as text: true or false, a decimal, or text."),
	}
}

// Annotations of CustomFieldAnswer.
func (CustomFieldAnswer) Annotations() []schema.Annotation {
	return []schema.Annotation{
		apispec.AuditedByOwner{Reason: "no response gives its id"},
		apispec.FeedPart{Edges: []string{"patient", "treatment_plan_item"}},
	}
}

// Edges of CustomFieldAnswer.
func (CustomFieldAnswer) Edges() []ent.Edge {
	return []ent.Edge{
		link("custom_field", CustomField.Type, "custom_field_id"),
		back("patient", Patient.Type, "answers", "patient_id"),
		optionalBack("treatment_plan_item", TreatmentPlanItem.Type, "answers", "treatment_plan_item_id"),
	}
}

// Indexes of CustomFieldAnswer.
func (CustomFieldAnswer) Indexes() []ent.Index {
	return []ent.Index{
		// Answers of a patient, one per question.
		index.Fields("practice_id", "patient_id", "custom_field_id").Unique().Annotations(entsql.IndexWhere("treatment_plan_item_id IS NULL")),
		// Answers of a treatment, one per question. Without the nulls of patients' answers, which SQLite would underestimate.
		index.Fields("practice_id", "treatment_plan_item_id", "custom_field_id").Unique().Annotations(entsql.IndexWhere("treatment_plan_item_id IS NOT NULL")),
	}
}
