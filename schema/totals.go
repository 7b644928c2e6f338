package schema

// Total is a column that stores a sum over other rows.
type Total struct{ Table, Column, SQL string }

// Totals are all such columns, in the order in which they depend on each other. SQL is the
// expression of the sum for a row t of the table, in both databases. An import sets the totals
// and a restore verifies them. A column that depends only on its own row, such as an item's
// total_price, is checked by a CHECK constraint instead.
var Totals = []Total{
	{"invoices", "amount", `(SELECT coalesce(sum(x.total_price), 0) FROM invoice_items AS x WHERE x.practice_id = t.practice_id AND x.invoice_id = t.id)`},
	{"invoices", "amount_outstanding", `CASE WHEN t.status = 'void' THEN 0 ELSE t.amount - ` + paidOnInvoice + ` END`},
	{"payments", "amount_unexplained", `t.amount - (SELECT coalesce(sum(x.amount), 0) FROM payment_explanations AS x JOIN invoices AS i ON i.id = x.invoice_id WHERE x.practice_id = t.practice_id AND x.payment_id = t.id AND i.status <> 'void')`},
	{"treatment_plans", "private_treatment_value", `(SELECT coalesce(sum(x.price), 0) FROM treatment_plan_items AS x JOIN payment_plans AS y ON y.id = x.payment_plan_id WHERE x.practice_id = t.practice_id AND x.treatment_plan_id = t.id AND NOT y.nhs)`},
	{"accounts", "current_balance", `t.opening_balance
		+ (SELECT coalesce(sum(p.amount), 0) FROM payments AS p WHERE p.practice_id = t.practice_id AND p.patient_id = t.patient_id AND NOT p.deleted)
		- (SELECT coalesce(sum(i.amount), 0) FROM invoices AS i WHERE i.practice_id = t.practice_id AND i.patient_id = t.patient_id AND i.status <> 'void')`},
	{"accounts", "planned_nhs_treatment_value", planned + `y.nhs)`},
	{"accounts", "planned_private_treatment_value", planned + `NOT y.nhs)`},
}

const (
	paidOnInvoice = `(SELECT coalesce(sum(x.amount), 0) FROM payment_explanations AS x JOIN payments AS p ON p.id = x.payment_id WHERE x.practice_id = t.practice_id AND x.invoice_id = t.id AND NOT p.deleted)`
	planned       = `(SELECT coalesce(sum(x.price), 0) FROM treatment_plan_items AS x JOIN payment_plans AS y ON y.id = x.payment_plan_id WHERE x.practice_id = t.practice_id AND x.patient_id = t.patient_id AND NOT x.completed AND `
)
