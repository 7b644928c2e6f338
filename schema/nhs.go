package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"chairside/internal/apispec"
)

// Contract is an agreement with the NHS.
type Contract struct{ ent.Schema }

// Mixin of Contract.
func (Contract) Mixin() []ent.Mixin { return []ent.Mixin{tenant{site: ownSite}, timestamps{}} }

// Fields of Contract.
func (Contract) Fields() []ent.Field {
	return []ent.Field{
		uuidID(),
		boolTrue("active", "Whether the contract is in force."),
		text("contract_number", "The NHS's contract number."),
		optionalDate("end_date", "Last day of the contract."),
		text("name", "The practice's name for the contract."),
		folded("name"),
		optionalText("nhs_location_id", "NHS location number."),
		optionalText("nhs_site_id", "NHS site number."),
		optionalText("notes", "Notes."),
		boolFalse("pds_plus", "Whether it is a PDS Plus contract."),
		uuidRef("site_id", "The site."),
		date("start_date", "First day of the contract."),
		optionalAmount("target", "Yearly target in units of dental activity."),
		optionalAmount("uda_value", "Payment per unit of dental activity."),
		optionalAmount("uoa_target", "Yearly target in units of orthodontic activity."),
		optionalAmount("uoa_value", "Payment per unit of orthodontic activity."),
	}
}

// Edges of Contract.
func (Contract) Edges() []ent.Edge {
	return []ent.Edge{link("site", Site.Type, "site_id"), many("claims", NHSClaim.Type)}
}

// Indexes of Contract.
func (Contract) Indexes() []ent.Index {
	return []ent.Index{index.Fields("practice_id", "name_folded", "id")} // sort_by=name
}

// Hooks of Contract.
func (Contract) Hooks() []ent.Hook { return []ent.Hook{onChange(deriveFolded("name"))} }

// viewContract is what analysts see.
var viewContract = apispec.View{
	Shown: []string{
		"id", "active", "contract_number", "end_date", "name", "pds_plus", "site_id", "start_date", "target",
		"uda_value", "uoa_target", "uoa_value", "created_at", "updated_at",
	},
	Withheld: []string{"name_folded", "nhs_location_id", "nhs_site_id", "notes"},
}

// Annotations of Contract.
func (Contract) Annotations() []schema.Annotation {
	return []schema.Annotation{viewContract, apispec.Checks{{Name: "ends_after_start", SQL: "end_date >= start_date"}}, apispec.Resource{
		Key: "contract", Plural: "contracts", Scope: "practice", Doc: "Agreements with the NHS.", Verbs: readable,
		Sorts: []apispec.Sort{{Key: "name", Column: "name_folded"}},
	}}
}

// NHSClaim claims payment from the NHS for a course of treatment.
type NHSClaim struct{ ent.Schema }

// Mixin of NHSClaim.
func (NHSClaim) Mixin() []ent.Mixin { return []ent.Mixin{tenant{site: throughDentist}, timestamps{}} }

// Fields of NHSClaim.
func (NHSClaim) Fields() []ent.Field {
	return []ent.Field{
		uuidID(),
		uuidRef("contract_id", "The contract."),
		intRef("patient_id", "The patient."),
		intRef("practitioner_id", "The practitioner."),
		optionalIntRef("treatment_plan_id", "The course of treatment."),
		uuidRef("site_id", "The site."),
		field.Enum("claim_status").GoType(ClaimStatus("")).Default(string(ClaimNew)).Comment("Status of the claim."),
		field.Int("sequence_number").Comment("Reference number for the NHS."),
		optionalText("status_comments", "Details of the status."),
		optionalAmount("expected_uda", "Units claimed."),
		optionalAmount("awarded_uda", "Units awarded by the NHS."),
		optionalText("uda_band", "NHS band of the treatment.", apispec.Field{Example: "2"}),
		optionalDate("submitted_date", "Last submission date."),
		optionalDate("approval_date", "Approval date."),
		optionalAmount("dentist_charge", "Dentist's charge."),
		optionalAmount("patient_charge", "Patient's charge."),
		optionalAmount("ni_calculated_dentist_fee", "Dentist's charge in Northern Ireland."),
		optionalAmount("ni_calculated_patient_fee", "Patient's charge in Northern Ireland."),
		optionalAmount("scot_amount_authorised", "Practice fee awarded in Scotland."),
		optionalAmount("scot_amount_expected", "Practice fee expected in Scotland."),
		boolFalse("ortho", "Whether it is an orthodontic claim."),
		optionalCount("continuation_part_number", "Number of the continuation part."),
	}
}

// Edges of NHSClaim.
func (NHSClaim) Edges() []ent.Edge {
	return []ent.Edge{
		back("contract", Contract.Type, "claims", "contract_id"),
		back("patient", Patient.Type, "claims", "patient_id"),
		link("practitioner", Practitioner.Type, "practitioner_id"),
		optionalLink("treatment_plan", TreatmentPlan.Type, "treatment_plan_id"),
		link("site", Site.Type, "site_id"),
	}
}

// Indexes of NHSClaim.
func (NHSClaim) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("practice_id", "claim_status", "id"),    // claim_status
		index.Fields("practice_id", "submitted_date", "id"),  // after, before
		index.Fields("practice_id", "patient_id", "id"),      // patient_id
		index.Fields("practice_id", "practitioner_id", "id"), // site_id, through the practitioner
		index.Fields("practice_id", "contract_id", "id"),     // claims of a contract
	}
}

// viewNHSClaim is what analysts see.
var viewNHSClaim = apispec.View{
	Shown: []string{
		"id", "contract_id", "patient_id", "practitioner_id", "treatment_plan_id", "site_id", "claim_status",
		"sequence_number", "expected_uda", "awarded_uda", "uda_band", "submitted_date", "approval_date",
		"dentist_charge", "patient_charge", "ni_calculated_dentist_fee", "ni_calculated_patient_fee",
		"scot_amount_authorised", "scot_amount_expected", "ortho", "continuation_part_number", "created_at",
		"updated_at",
	},
	Withheld: []string{"status_comments"},
}

// Annotations of NHSClaim.
func (NHSClaim) Annotations() []schema.Annotation {
	return []schema.Annotation{viewNHSClaim, apispec.Resource{
		Key: "nhs_claim", Plural: "nhs_claims", Scope: "financials", Doc: "Claims to the NHS.", Verbs: readable,
		Counters: everyRow,
		Filters: []apispec.Filter{
			{Param: "created_after", Column: "created_at", Op: "GT", Doc: "Created after this time."},
			{Param: "site_id", Edge: "practitioner", Doc: "Of practitioners of this site."},
			{Param: "claim_status", Doc: "In this status."},
			{Param: "after", Column: "submitted_date", Op: "GTE", Doc: "Submitted on or after this day."},
			{Param: "before", Column: "submitted_date", Op: "LT", Doc: "Submitted before this day."},
		},
	}}
}
