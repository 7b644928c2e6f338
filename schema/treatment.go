package schema

import (
	"fmt"

	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"chairside/internal/apispec"
	"chairside/internal/codec"
)

// PaymentPlan is a way to pay: NHS, private, or the practice's own scheme.
type PaymentPlan struct{ ent.Schema }

// Mixin of PaymentPlan.
func (PaymentPlan) Mixin() []ent.Mixin { return []ent.Mixin{tenant{}, timestamps{}} }

// Fields of PaymentPlan.
func (PaymentPlan) Fields() []ent.Field {
	return []ent.Field{
		intID(),
		text("name", "Name of the plan."),
		boolTrue("active", "Whether patients can be put on the plan."),
		boolFalse("nhs", "Whether it is an NHS plan."),
	}
}

// Edges of PaymentPlan.
func (PaymentPlan) Edges() []ent.Edge { return []ent.Edge{many("fees", Fee.Type)} }

// viewPaymentPlan is what analysts see.
var viewPaymentPlan = apispec.View{
	Shown: []string{"id", "name", "active", "nhs", "created_at", "updated_at"},
}

// Annotations of PaymentPlan.
func (PaymentPlan) Annotations() []schema.Annotation {
	return []schema.Annotation{viewPaymentPlan, apispec.Resource{Key: "payment_plan", Plural: "payment_plans", Scope: "treatments", Doc: "Payment plans.", Verbs: readable}}
}

// TreatmentCategory groups treatments.
type TreatmentCategory struct{ ent.Schema }

// Mixin of TreatmentCategory.
func (TreatmentCategory) Mixin() []ent.Mixin { return []ent.Mixin{tenant{}, timestamps{}} }

// Fields of TreatmentCategory.
func (TreatmentCategory) Fields() []ent.Field {
	return []ent.Field{intID(), text("name", "Name of the category.")}
}

// viewTreatmentCategory is what analysts see.
var viewTreatmentCategory = apispec.View{
	Shown: []string{"id", "name", "created_at", "updated_at"},
}

// Annotations of TreatmentCategory.
func (TreatmentCategory) Annotations() []schema.Annotation {
	return []schema.Annotation{viewTreatmentCategory, apispec.Resource{Key: "treatment_category", Plural: "treatment_categories", Scope: "treatments", Doc: "Groups of treatments.", Verbs: readable}}
}

// Treatment is a treatment that the practice offers.
type Treatment struct{ ent.Schema }

// Mixin of Treatment.
func (Treatment) Mixin() []ent.Mixin { return []ent.Mixin{tenant{}, timestamps{}} }

// Fields of Treatment.
func (Treatment) Fields() []ent.Field {
	return []ent.Field{
		intID(),
		text("nomenclature", "Clinical name."),
		optionalText("patient_nomenclature", "Name for patients."),
		optionalText("nhs_treatment_cat", "Treatment category on NHS claims."),
		optionalText("uda_band", "NHS band."),
		optionalIntRef("treatment_category_id", "The category."),
		boolTrue("active", "Whether it can be planned."),
	}
}

// Edges of Treatment.
func (Treatment) Edges() []ent.Edge {
	return []ent.Edge{optionalLink("treatment_category", TreatmentCategory.Type, "treatment_category_id"), many("fees", Fee.Type)}
}

// viewTreatment is what analysts see.
var viewTreatment = apispec.View{
	Shown: []string{
		"id", "nomenclature", "patient_nomenclature", "nhs_treatment_cat", "uda_band", "treatment_category_id",
		"active", "created_at", "updated_at",
	},
}

// Annotations of Treatment.
func (Treatment) Annotations() []schema.Annotation {
	return []schema.Annotation{viewTreatment, apispec.Resource{Key: "treatment", Plural: "treatments", Scope: "treatments", Doc: "Treatments that the practice offers.", Verbs: readable}}
}

// Fee is the price and duration of a treatment under a payment plan.
type Fee struct{ ent.Schema }

// Mixin of Fee.
func (Fee) Mixin() []ent.Mixin { return []ent.Mixin{tenant{}, timestamps{}} }

// Fields of Fee.
func (Fee) Fields() []ent.Field {
	fields := []ent.Field{
		uuidID(),
		intRef("payment_plan_id", "The payment plan."),
		intRef("treatment_id", "The treatment."),
		boolFalse("multiple_pricing", "Whether price and duration depend on the number of teeth or surfaces. If not, price_one and duration_one apply.", apispec.Field{Write: true, CreateDefault: true}),
	}
	for _, n := range []string{"one", "two", "three", "four", "five"} {
		fields = append(fields, field.Int("duration_"+n).Default(0).
			Comment(fmt.Sprintf("Duration in minutes for %s teeth or surfaces.", n)).
			Annotations(apispec.Field{Write: true, CreateDefault: true, Min: bound(0), Max: bound(1440), Example: "30"}))
	}
	for _, n := range []string{"one", "two", "three", "four", "five"} {
		fields = append(fields, amount("price_"+n, fmt.Sprintf("Price for %s teeth or surfaces.", n),
			apispec.Field{Write: true, CreateDefault: true, Min: bound(0)}))
	}
	return fields
}

// Edges of Fee.
func (Fee) Edges() []ent.Edge {
	return []ent.Edge{
		back("payment_plan", PaymentPlan.Type, "fees", "payment_plan_id"),
		back("treatment", Treatment.Type, "fees", "treatment_id"),
	}
}

// Indexes of Fee.
func (Fee) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("practice_id", "payment_plan_id", "treatment_id").Unique(), // payment_plan_id; one fee per plan and treatment
		index.Fields("practice_id", "treatment_id", "id"),                       // treatment_id
	}
}

// Annotations of Fee.
func (Fee) Annotations() []schema.Annotation {
	return []schema.Annotation{apispec.Resource{
		Key: "fee", Plural: "fees", Scope: "treatments", Doc: "Prices and durations of treatments under payment plans.",
		Verbs:         []apispec.Verb{apispec.Get, apispec.List, apispec.Update},
		Handwritten:   []apispec.Verb{apispec.List},
		ExampleUpdate: []string{"duration_one", "price_one"},
		Descriptions: map[apispec.Verb]string{
			apispec.List:   "Requires payment_plan_id or treatment_id.",
			apispec.Update: "Changes only the fields sent.",
		},
		Filters: []apispec.Filter{
			{Param: "payment_plan_id", Shown: true, Doc: "Fees of this plan. This or treatment_id is required."},
			{Param: "treatment_id", Doc: "Fees of this treatment. This or payment_plan_id is required."},
		},
	}}
}

// completion is the check constraint that completed rows have a completion time.
var completion = apispec.Checks{{Name: "completion", SQL: "completed = (completed_at IS NOT NULL)"}}

// TreatmentPlan is a patient's course of treatment.
type TreatmentPlan struct{ ent.Schema }

// Mixin of TreatmentPlan.
func (TreatmentPlan) Mixin() []ent.Mixin {
	return []ent.Mixin{tenant{site: throughPatient}, timestamps{}}
}

// Fields of TreatmentPlan.
func (TreatmentPlan) Fields() []ent.Field {
	return []ent.Field{
		intID(),
		optionalText("nickname", "Name of the plan."),
		intRef("patient_id", "The patient."),
		intRef("practitioner_id", "The practitioner."),
		intRef("payment_plan_id", "The payment plan."),
		boolFalse("completed", "Whether the plan is completed."),
		optionalTimestamp("completed_at", "When it was completed."),
		optionalDate("start_date", "First day of treatment."),
		optionalDate("end_date", "Last day of treatment."),
		amount("private_treatment_value", "Value of the private items."),
		amount("nhs_uda_value", "Units of dental activity of the NHS items."),
	}
}

// Edges of TreatmentPlan.
func (TreatmentPlan) Edges() []ent.Edge {
	return []ent.Edge{
		back("patient", Patient.Type, "treatment_plans", "patient_id"),
		link("practitioner", Practitioner.Type, "practitioner_id"),
		link("payment_plan", PaymentPlan.Type, "payment_plan_id"),
		many("items", TreatmentPlanItem.Type),
	}
}

// Indexes of TreatmentPlan.
func (TreatmentPlan) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("practice_id", "patient_id", "id"),      // patient_id
		index.Fields("practice_id", "practitioner_id", "id"), // practitioner_id, and site_id through the practitioner
		index.Fields("practice_id", "completed", "id"),       // status
	}
}

// viewTreatmentPlan is what analysts see.
var viewTreatmentPlan = apispec.View{
	Shown: []string{
		"id", "patient_id", "practitioner_id", "payment_plan_id", "completed", "completed_at", "start_date",
		"end_date", "private_treatment_value", "nhs_uda_value", "created_at", "updated_at",
	},
	Withheld: []string{"nickname"},
}

// Annotations of TreatmentPlan.
func (TreatmentPlan) Annotations() []schema.Annotation {
	return []schema.Annotation{viewTreatmentPlan, completion, apispec.Resource{
		Key: "treatment_plan", Plural: "treatment_plans", Scope: "treatments", Doc: "Courses of treatment.", Verbs: readable,
		Counters: everyRow,
		Filters: []apispec.Filter{
			{Param: "status", Kind: codec.Enum, Column: "completed", Values: []string{"active", "completed"}, Doc: "active or completed."},
			{Param: "site_id", Edge: "practitioner", Doc: "Of practitioners of this site."},
		},
		Computed: []apispec.Computed{
			patientNameMember,
			{Name: "total_gross", Kind: codec.Decimal, Handwritten: true, Doc: "Sum of the prices of its items."},
		},
	}}
}

// TreatmentPlanItem is one treatment within a plan.
type TreatmentPlanItem struct{ ent.Schema }

// Mixin of TreatmentPlanItem.
func (TreatmentPlanItem) Mixin() []ent.Mixin {
	return []ent.Mixin{tenant{site: throughPatient}, timestamps{}}
}

// Fields of TreatmentPlanItem.
func (TreatmentPlanItem) Fields() []ent.Field {
	words := func(name, doc, example string) ent.Field {
		return field.JSON(name, []string{}).Default([]string{}).Comment(doc).Annotations(apispec.Field{Kind: codec.Strings, Example: example})
	}
	return []ent.Field{
		intID(),
		intRef("treatment_plan_id", "The treatment plan."),
		intRef("treatment_id", "The treatment."),
		intRef("patient_id", "The patient."),
		intRef("practitioner_id", "The practitioner."),
		intRef("payment_plan_id", "The payment plan."),
		words("teeth", "Teeth in FDI notation.", `["16"]`),
		words("surfaces", "Surfaces of the teeth.", `["M", "O"]`),
		amount("price", "Price."),
		field.Int("duration").Default(0).Comment("Duration in minutes.").Annotations(apispec.Field{Min: bound(0)}),
		boolFalse("completed", "Whether it is completed."),
		optionalTimestamp("completed_at", "When it was completed."),
		boolFalse("charged", "Whether it is invoiced."),
		optionalIntRef("invoice_id", "The invoice."),
		optionalText("uda_band", "NHS band."),
		text("nomenclature", "Name of the treatment at the time of planning."),
		optionalText("notes", "Notes."),
	}
}

// Edges of TreatmentPlanItem.
func (TreatmentPlanItem) Edges() []ent.Edge {
	return []ent.Edge{
		back("treatment_plan", TreatmentPlan.Type, "items", "treatment_plan_id"),
		link("treatment", Treatment.Type, "treatment_id"),
		link("patient", Patient.Type, "patient_id"),
		link("practitioner", Practitioner.Type, "practitioner_id"),
		link("payment_plan", PaymentPlan.Type, "payment_plan_id"),
		optionalLink("invoice", Invoice.Type, "invoice_id"),
		edge.From("invoice_items", InvoiceItem.Type).Ref("treatment_plan_item"),
		many("answers", CustomFieldAnswer.Type),
	}
}

// Indexes of TreatmentPlanItem.
func (TreatmentPlanItem) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("practice_id", "patient_id", "id"),        // patient_id; planned values of accounts
		index.Fields("practice_id", "treatment_plan_id", "id"), // treatment_plan_id
		index.Fields("practice_id", "practitioner_id", "id"),   // practitioner_id
		index.Fields("practice_id", "invoice_id", "id"),        // invoice_id
		index.Fields("practice_id", "completed", "id"),         // completed
		// report treatments, without reading the table; SQLite needs completed for that
		index.Fields("practice_id", "completed_at").StorageKey("treatmentplanitem_completed").
			Annotations(entsql.IndexWhere("completed"), entsql.IncludeColumns("treatment_id", "payment_plan_id", "price", "completed")),
	}
}

// viewTreatmentPlanItem is what analysts see.
var viewTreatmentPlanItem = apispec.View{
	Shown: []string{
		"id", "treatment_plan_id", "treatment_id", "patient_id", "practitioner_id", "payment_plan_id", "price",
		"duration", "completed", "completed_at", "charged", "invoice_id", "uda_band", "nomenclature", "created_at",
		"updated_at",
	},
	Withheld: []string{"teeth", "surfaces", "notes"},
}

// Annotations of TreatmentPlanItem.
func (TreatmentPlanItem) Annotations() []schema.Annotation {
	return []schema.Annotation{viewTreatmentPlanItem, append(completion, apispec.Check{Name: "charged", SQL: "charged = (invoice_id IS NOT NULL)"}), apispec.Resource{
		Key: "treatment_plan_item", Plural: "treatment_plan_items", Scope: "treatments", Doc: "Treatments within treatment plans.", Verbs: readable,
		Counters: everyRow,
		Filters: []apispec.Filter{
			{Param: "treatment_plan_id", Doc: "Items of this treatment plan."},
			{Param: "invoice_id", Doc: "Items on this invoice."},
			{Param: "completed", Doc: "true for completed items only, false for others only."},
		},
		Computed: []apispec.Computed{answersMember},
	}}
}
