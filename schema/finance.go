package schema

import (
	"context"
	"fmt"

	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/dialect/sql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"chairside/internal/apispec"
	"chairside/internal/codec"
)

// Account is a patient's account with the practice. Its balance is the opening balance
// plus payments minus invoices, without void ones.
type Account struct{ ent.Schema }

// Mixin of Account.
func (Account) Mixin() []ent.Mixin { return []ent.Mixin{tenant{site: throughPatient}, timestamps{}} }

// Fields of Account.
func (Account) Fields() []ent.Field {
	return []ent.Field{
		intID(),
		field.Int64("patient_id").Immutable().Comment("The patient."),
		amount("opening_balance", "Balance when the account was opened."),
		amount("current_balance", "Opening balance plus payments minus invoices. Positive: the practice owes the patient."),
		amount("planned_nhs_treatment_value", "Value of planned NHS treatment that is not completed."),
		amount("planned_private_treatment_value", "Value of planned private treatment that is not completed."),
	}
}

// Edges of Account.
func (Account) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("patient", Patient.Type).Ref("account").Unique().Required().Immutable().Field("patient_id"),
		many("invoices", Invoice.Type),
	}
}

// Indexes of Account.
func (Account) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("practice_id", "current_balance", "id"), // state; sort_by=current_balance
	}
}

// viewAccount is what analysts see.
var viewAccount = apispec.View{
	Shown: []string{
		"id", "patient_id", "opening_balance", "current_balance", "planned_nhs_treatment_value",
		"planned_private_treatment_value", "created_at", "updated_at",
	},
}

// Annotations of Account.
func (Account) Annotations() []schema.Annotation {
	return []schema.Annotation{viewAccount, apispec.Resource{
		Key: "account", Plural: "accounts", Scope: "financials", Doc: "Patients' accounts.", Verbs: readable, Handwritten: []apispec.Verb{apispec.List},
		Descriptions: map[apispec.Verb]string{apispec.List: "A positive balance means that the practice owes the patient. The totals cover all pages."},
		Filters: []apispec.Filter{
			{Param: "state", Kind: codec.Enum, Values: []string{"credit", "debit"}, Handwritten: true, Doc: "credit: balance above zero; debit: balance below zero."},
			{Param: "as_at", Kind: codec.Day, Handwritten: true, Doc: "Balances at the end of this local day."},
			{Param: "site_id", Edge: "patient", Doc: "Of patients of this site."},
		},
		Sorts:    []apispec.Sort{{Key: "current_balance"}},
		Totals:   []string{"total_nhs", "total_private", "total_balance"},
		Computed: []apispec.Computed{patientNameMember},
	}}
}

// Invoice charges a patient.
type Invoice struct{ ent.Schema }

// Mixin of Invoice.
func (Invoice) Mixin() []ent.Mixin { return []ent.Mixin{tenant{site: ownSite}, timestamps{}} }

// Fields of Invoice.
func (Invoice) Fields() []ent.Field {
	return []ent.Field{
		intID(),
		intRef("account_id", "The account."),
		intRef("patient_id", "The patient."),
		uuidRef("site_id", "The site."),
		optionalIntRef("user_id", "The user who created it."),
		amount("amount", "Sum of the items."),
		amount("amount_outstanding", "Amount still to be paid; 0.00 for a void invoice."),
		optionalAmount("nhs_amount", "NHS part of the amount, in Scotland."),
		date("dated_on", "Date of the invoice."),
		date("due_on", "Due date."),
		optionalText("footnote", "Footnote."),
		boolFalse("paid", "Whether nothing is outstanding."),
		optionalDate("paid_on", "Date of full payment."),
		optionalText("payment_terms", "Payment terms."),
		optionalText("reference", "Reference.", apispec.Field{Example: "INV-1042"}),
		optionalTimestamp("sent_at", "When it was sent to the patient."),
		field.Enum("status").GoType(InvoiceStatus("")).Default(string(InvoiceNew)).Comment("Status, consistent with paid and amount_outstanding. A void invoice is not paid and has nothing outstanding."),
	}
}

// Edges of Invoice.
func (Invoice) Edges() []ent.Edge {
	return []ent.Edge{
		back("account", Account.Type, "invoices", "account_id"),
		back("patient", Patient.Type, "invoices", "patient_id"),
		link("site", Site.Type, "site_id"),
		optionalLink("user", User.Type, "user_id"),
		many("invoice_items", InvoiceItem.Type),
		many("explanations", PaymentExplanation.Type),
	}
}

// Hooks of Invoice.
func (Invoice) Hooks() []ent.Hook { return []ent.Hook{onChange(deriveInvoiceStatus())} }

// Indexes of Invoice.
func (Invoice) Indexes() []ent.Index {
	return []ent.Index{
		// default order; dated_on_after, dated_on_before; reports of a period, without reading the table
		index.Fields("practice_id", "dated_on", "id").StorageKey("invoice_dated").Annotations(entsql.IncludeColumns("status", "site_id", "amount", "amount_outstanding")),
		index.Fields("practice_id", "due_on", "id"),                 // sort_by=due_on
		index.Fields("practice_id", "amount", "id"),                 // sort_by=amount
		index.Fields("practice_id", "patient_id", "dated_on", "id"), // patient_id; balances as at a day
		index.Fields("practice_id", "account_id", "dated_on", "id"), // account_id
		index.Fields("practice_id", "site_id", "dated_on", "id"),    // site_id
		index.Fields("practice_id", "paid", "dated_on", "id"),       // paid
		index.Fields("practice_id", "status", "dated_on", "id"),     // status
		// report aged-debt: the few with an outstanding amount
		index.Fields("practice_id", "id").StorageKey("invoice_open").Annotations(entsql.IndexWhere("amount_outstanding <> 0")),
	}
}

// viewInvoice is what analysts see.
var viewInvoice = apispec.View{
	Shown: []string{
		"id", "account_id", "patient_id", "site_id", "user_id", "amount", "amount_outstanding", "nhs_amount",
		"dated_on", "due_on", "paid", "paid_on", "sent_at", "status", "created_at", "updated_at",
	},
	Withheld: []string{"footnote", "payment_terms", "reference"},
}

// Annotations of Invoice.
func (Invoice) Annotations() []schema.Annotation {
	return []schema.Annotation{viewInvoice, apispec.Checks{
		{Name: "status_agrees", SQL: statusAgrees},
		{Name: "paid_agrees", SQL: "paid = (status = 'paid') AND (paid OR paid_on IS NULL)"},
	}, apispec.Resource{
		Key: "invoice", Plural: "invoices", Scope: "financials", Doc: "Invoices to patients.", Verbs: readable,
		Counters:     everyRow,
		Descriptions: map[apispec.Verb]string{apispec.List: "Without the items.", apispec.Get: "With its items."},
		Filters: []apispec.Filter{
			{Param: "account_id", Doc: "Of this account."},
			{Param: "dated_on_after", Column: "dated_on", Op: "GTE", Doc: "Dated on or after this day."},
			{Param: "dated_on_before", Column: "dated_on", Op: "LTE", Doc: "Dated on or before this day."},
			{Param: "paid", Doc: "true for paid invoices only, false for others only."},
			{Param: "status", Doc: "In this status."},
			{Param: "created_after", Column: "created_at", Op: "GTE", Doc: "Created at or after this time."},
			{Param: "created_before", Column: "created_at", Op: "LT", Doc: "Created before this time."},
		},
		Sorts: []apispec.Sort{{Key: "dated_on"}, {Key: "due_on"}, {Key: "amount"}}, Order: "dated_on",
		Embeds: []apispec.Embed{{Edge: "invoice_items", SingleOnly: true, Doc: "The items."}},
	}}
}

// InvoiceItem is a line of an invoice.
type InvoiceItem struct{ ent.Schema }

// Mixin of InvoiceItem.
func (InvoiceItem) Mixin() []ent.Mixin {
	return []ent.Mixin{tenant{site: throughInvoice}, timestamps{}}
}

// Fields of InvoiceItem.
func (InvoiceItem) Fields() []ent.Field {
	return []ent.Field{
		uuidID(),
		intRef("invoice_id", "The invoice."),
		text("name", "Description of the item."),
		field.Int("quantity").Default(1).Comment("Quantity.").Annotations(apispec.Field{Min: bound(1), Max: bound(100_000), Example: "1"}),
		amount("item_price", "Unit price."),
		amount("total_price", "quantity times item_price."),
		boolFalse("nhs_charge", "Whether it is an NHS charge."),
		optionalIntRef("practitioner_id", "The practitioner."),
		optionalUUIDRef("sundry_id", "The sundry sold."),
		optionalIntRef("treatment_plan_id", "The course of treatment."),
		optionalIntRef("treatment_plan_item_id", "The treatment."),
		optionalIntRef("user_id", "The user who added it."),
	}
}

// Edges of InvoiceItem.
func (InvoiceItem) Edges() []ent.Edge {
	return []ent.Edge{
		back("invoice", Invoice.Type, "invoice_items", "invoice_id"),
		optionalLink("practitioner", Practitioner.Type, "practitioner_id"),
		optionalLink("sundry", Sundry.Type, "sundry_id"),
		optionalLink("treatment_plan", TreatmentPlan.Type, "treatment_plan_id"),
		optionalLink("treatment_plan_item", TreatmentPlanItem.Type, "treatment_plan_item_id"),
		optionalLink("user", User.Type, "user_id"),
	}
}

// Hooks of InvoiceItem.
func (InvoiceItem) Hooks() []ent.Hook { return []ent.Hook{onChange(deriveTotalPrice())} }

// Indexes of InvoiceItem.
func (InvoiceItem) Indexes() []ent.Index {
	return []ent.Index{
		// invoice_id; items of an invoice, for income without reading the table
		index.Fields("practice_id", "invoice_id", "id").StorageKey("invoiceitem_invoice").
			Annotations(entsql.IncludeColumns("practitioner_id", "nhs_charge", "total_price", "treatment_plan_item_id")),
		index.Fields("practice_id", "practitioner_id", "id"), // practitioner_id
	}
}

// viewInvoiceItem is what analysts see.
var viewInvoiceItem = apispec.View{
	Shown: []string{
		"id", "invoice_id", "name", "quantity", "item_price", "total_price", "nhs_charge", "practitioner_id",
		"sundry_id", "treatment_plan_id", "treatment_plan_item_id", "user_id", "created_at", "updated_at",
	},
}

// Annotations of InvoiceItem.
func (InvoiceItem) Annotations() []schema.Annotation {
	return []schema.Annotation{viewInvoiceItem, apispec.Checks{{Name: "total_price", SQL: "total_price = quantity * item_price"}}, apispec.Resource{
		Key: "invoice_item", Plural: "invoice_items", Scope: "financials", Doc: "Lines of invoices.", Verbs: readable,
		Counters: everyRow,
		Filters:  []apispec.Filter{{Param: "invoice_id", Doc: "Of this invoice."}},
	}}
}

// Payment is money received from a patient.
type Payment struct{ ent.Schema }

// Mixin of Payment.
func (Payment) Mixin() []ent.Mixin { return []ent.Mixin{tenant{site: ownSite}, timestamps{}} }

// Fields of Payment.
func (Payment) Fields() []ent.Field {
	return []ent.Field{
		intID(),
		intRef("patient_id", "The patient."),
		uuidRef("site_id", "The site."),
		amount("amount", "Amount."),
		amount("amount_unexplained", "Amount that no invoice explains; void invoices do not count."),
		date("dated_on", "Date of the payment."),
		boolFalse("deleted", "Whether the payment was reversed; it then does not count."),
		text("method", "Method: Card, Cash, Cheque, Direct debit or Bank transfer.", apispec.Field{Example: "Card"}),
	}
}

// Edges of Payment.
func (Payment) Edges() []ent.Edge {
	return []ent.Edge{
		back("patient", Patient.Type, "payments", "patient_id"),
		link("site", Site.Type, "site_id"),
		many("explanations", PaymentExplanation.Type),
	}
}

// Indexes of Payment.
func (Payment) Indexes() []ent.Index {
	return []ent.Index{
		// default order; start_date, end_date, and the sum of their rows; report banking
		index.Fields("practice_id", "dated_on", "id").StorageKey("payment_days").Annotations(entsql.IncludeColumns("amount", "deleted", "site_id", "method")),
		index.Fields("practice_id", "amount", "id"),                 // sort_by=amount
		index.Fields("practice_id", "patient_id", "dated_on", "id"), // patient_id; balances as at a day
		index.Fields("practice_id", "site_id", "dated_on", "id"),    // site_id
		// report aged-debt: the few with an unexplained amount
		index.Fields("practice_id", "id").StorageKey("payment_unexplained").Annotations(entsql.IndexWhere("amount_unexplained <> 0")),
		// report aged-debt: the few that were deleted
		index.Fields("practice_id", "id").StorageKey("payment_deleted").Annotations(entsql.IndexWhere("deleted")),
	}
}

// viewPayment is what analysts see.
var viewPayment = apispec.View{
	Shown: []string{
		"id", "patient_id", "site_id", "amount", "amount_unexplained", "dated_on", "deleted", "method", "created_at",
		"updated_at",
	},
}

// Annotations of Payment.
func (Payment) Annotations() []schema.Annotation {
	return []schema.Annotation{viewPayment, apispec.Resource{
		Key: "payment", Plural: "payments", Scope: "financials", Doc: "Money received from patients.", Verbs: readable, Handwritten: []apispec.Verb{apispec.List},
		Counters: everyRow,
		Filters: []apispec.Filter{
			{Param: "start_date", Column: "dated_on", Op: "GTE", Doc: "Dated on or after this day."},
			{Param: "end_date", Column: "dated_on", Op: "LTE", Doc: "Dated on or before this day."},
			{Param: "created_after", Column: "created_at", Op: "GTE", Doc: "Created at or after this time."},
		},
		Sorts: []apispec.Sort{{Key: "dated_on"}, {Key: "amount"}}, Order: "dated_on",
		Totals: []string{"total_amount"},
		Computed: []apispec.Computed{
			{Name: "fully_explained", Kind: codec.Boolean, Columns: []string{"amount_unexplained"}, Func: "FullyExplained", Doc: "Whether invoices explain the whole amount."},
			{Name: "status", Kind: codec.Enum, Columns: []string{"amount", "amount_unexplained"}, Func: "PaymentStatus", Doc: "paid, unexplained or partially_explained."},
		},
		Embeds: []apispec.Embed{{Edge: "explanations", Columns: []string{"invoice_id", "amount"}, Doc: "The invoices that it pays, without void ones."}},
	}}
}

// PaymentExplanation is the part of a payment that pays an invoice.
type PaymentExplanation struct{ ent.Schema }

// Mixin of PaymentExplanation.
func (PaymentExplanation) Mixin() []ent.Mixin {
	return []ent.Mixin{tenant{site: throughPayment}, timestamps{}}
}

// Fields of PaymentExplanation.
func (PaymentExplanation) Fields() []ent.Field {
	return []ent.Field{
		uuidID(),
		intRef("payment_id", "The payment."),
		intRef("invoice_id", "The invoice."),
		amount("amount", "Amount; above zero.", apispec.Field{Min: bound(1)}),
	}
}

// viewPaymentExplanation is what analysts see: no explanations of void invoices (Interceptors).
var viewPaymentExplanation = apispec.View{
	Doc:   "Parts of payments that pay invoices, without void invoices.",
	Shown: []string{"id", "payment_id", "invoice_id", "amount", "created_at", "updated_at"},
	Where: "EXISTS (SELECT 1 FROM invoices AS i WHERE i.id = t.invoice_id AND i.practice_id = t.practice_id AND i.status <> 'void')",
}

// Annotations of PaymentExplanation.
func (PaymentExplanation) Annotations() []schema.Annotation {
	return []schema.Annotation{viewPaymentExplanation}
}

// Interceptors of PaymentExplanation hide explanations of void invoices: that money
// counts as unexplained wherever it is shown or summed.
func (PaymentExplanation) Interceptors() []ent.Interceptor {
	return []ent.Interceptor{ent.TraverseFunc(func(_ context.Context, q ent.Query) error {
		query, ok := q.(interface{ Confine(...func(*sql.Selector)) })
		if !ok {
			return fmt.Errorf("schema: %T cannot exclude void invoices", q)
		}
		query.Confine(func(s *sql.Selector) {
			i := sql.Table("invoices")
			s.Where(sql.Exists(sql.Select(i.C("id")).From(i).Where(sql.And(sql.ColumnsEQ(i.C("id"), s.C("invoice_id")), sql.NEQ(i.C("status"), string(InvoiceVoid))))))
		})
		return nil
	})}
}

// Edges of PaymentExplanation.
func (PaymentExplanation) Edges() []ent.Edge {
	return []ent.Edge{
		back("payment", Payment.Type, "explanations", "payment_id"),
		back("invoice", Invoice.Type, "explanations", "invoice_id"),
	}
}

// Indexes of PaymentExplanation.
func (PaymentExplanation) Indexes() []ent.Index {
	return []ent.Index{
		// explanations of a payment, for income without reading the table
		index.Fields("practice_id", "payment_id", "id").StorageKey("paymentexplanation_payment").Annotations(entsql.IncludeColumns("invoice_id", "amount")),
		index.Fields("practice_id", "invoice_id"), // payments of an invoice
	}
}

// Sundry is a product that the practice sells.
type Sundry struct{ ent.Schema }

// Mixin of Sundry.
func (Sundry) Mixin() []ent.Mixin { return []ent.Mixin{tenant{site: ownSiteIfAny}, timestamps{}} }

// Fields of Sundry.
func (Sundry) Fields() []ent.Field {
	return []ent.Field{
		uuidID(),
		text("name", "Name of the product."),
		amount("price", "Unit price."),
		optionalUUIDRef("site_id", "The site that sells it; null for all sites."),
		boolTrue("active", "Whether it is sold."),
	}
}

// Edges of Sundry.
func (Sundry) Edges() []ent.Edge { return []ent.Edge{optionalLink("site", Site.Type, "site_id")} }

// viewSundry is what analysts see.
var viewSundry = apispec.View{
	Shown: []string{"id", "name", "price", "site_id", "active", "created_at", "updated_at"},
}

// Annotations of Sundry.
func (Sundry) Annotations() []schema.Annotation {
	return []schema.Annotation{viewSundry, apispec.Resource{Key: "sundry", Plural: "sundries", Scope: "financials", Doc: "Products that the practice sells.", Verbs: readable}}
}
