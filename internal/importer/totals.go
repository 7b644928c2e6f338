package importer

import (
	"slices"
	"time"

	"chairside/internal/decimal"
	"chairside/schema"
)

// totalTables are the tables with totals (schema.Totals), in the order in which these depend on
// each other, with the tables that change them. An import without a file for any of those skips
// the table.
var totalTables = []struct {
	table string
	from  []string
}{
	{"invoices", []string{"invoices", "invoice_items", "payments", explanationTable}},
	{"payments", []string{"payments", explanationTable, "invoices", "invoice_items"}},
	{"treatment_plans", []string{"treatment_plans", "treatment_plan_items", "payment_plans"}},
	{"accounts", []string{"patients", "accounts", "payments", "invoices", "invoice_items", "treatment_plans", "treatment_plan_items", "payment_plans"}},
}

// updateTotals computes the practice's totals from their rows. It writes only totals that
// differ, so that a second run changes nothing.
func (im *importer) updateTotals() error {
	if im.checkpoint.Stage != stageTotals {
		return nil
	}
	im.reportProgress("totals", 0, 0)
	var interrupted bool // another import, whose rows may still lack their totals
	err := im.inTx(nil, func(b *batch) {
		b.queryRow("SELECT EXISTS (SELECT * FROM import_runs WHERE finished_at IS NULL AND id <> $1)", []any{im.runID}, &interrupted)
	})
	if err != nil {
		return err
	}
	for _, t := range totalTables {
		if !interrupted && !slices.ContainsFunc(im.plans, func(p *plan) bool { return slices.Contains(t.from, p.entity.Name) }) {
			continue
		}
		if err := im.updateTotalsOf(entityOf(t.table)); err != nil {
			return err
		}
		if t.table != "invoices" {
			continue
		}
		reduced, err := im.reduceOverpaid()
		if err == nil && reduced {
			err = im.updateTotalsOf(entityOf(t.table))
		}
		if err != nil {
			return err
		}
	}
	return im.startStage(stageCheck)
}

// invoiceColumns are the columns that computeInvoice reads besides the totals: whether the
// invoice was sent and when it was last paid on.
const invoiceColumns = `, t.paid, t.paid_on, t.status, t.sent_at,
	(SELECT max(p.dated_on) FROM payment_explanations AS x JOIN payments AS p ON p.id = x.payment_id WHERE x.practice_id = t.practice_id AND x.invoice_id = t.id AND NOT p.deleted)`

// updateTotalsOf updates the totals of one table, in batches in the order of their IDs.
func (im *importer) updateTotalsOf(e *entity) error {
	var columns []string
	stored, computed := "", ""
	for _, t := range schema.Totals {
		if t.Table == e.Name {
			columns, stored, computed = append(columns, t.Column), stored+", t."+t.Column, computed+", "+t.SQL
		}
	}
	query := "SELECT t.id, t.updated_at" + stored + computed
	if e.Name == "invoices" {
		query += invoiceColumns
	}
	query += " FROM " + e.Name + " AS t WHERE t.practice_id = $1 AND t.id > $2 ORDER BY t.id LIMIT $3"
	lastID := int64(0)
	for n := batchRows; n == batchRows; {
		n = 0
		err := im.inTx(nil, func(b *batch) {
			var changed updates
			b.query(query, []any{im.practice.id, lastID, batchRows}, func(v []any) {
				n++
				lastID = b.integer(v[0])
				b.compareTotals(e, columns, v, &changed)
			})
			b.apply(e, changed, totals[e.Name]...)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// compareTotals adds a row to changed if its stored totals differ from the computed ones. v are
// the values of updateTotalsOf's query.
func (b *batch) compareTotals(e *entity, columns []string, v []any, changed *updates) {
	const first = 2 // after id and updated_at
	stored, computed := row{}, row{}
	for i, c := range columns {
		stored[c], computed[c] = b.integer(v[first+i]), b.integer(v[first+len(columns)+i])
	}
	if e.Name == "invoices" {
		b.computeInvoice(e, stored, computed, v[first+2*len(columns):])
	}
	differ := slices.DeleteFunc(sortedKeys(stored), func(c string) bool { return stored[c] == computed[c] })
	computed["id"] = b.integer(v[0])
	changed.add(computed, differ...)
	// The audit log already has the rows that this import has written.
	if written, ok := v[1].(time.Time); len(differ) > 0 && ok && !written.Before(b.started) {
		changed.changes = changed.changes[:len(changed.changes)-1]
	}
}

// computeInvoice computes what follows from the totals of an invoice: its status, and whether and
// when it was paid. The database computed the outstanding amount from the stored amount, so it is
// corrected by the difference. v are the values of invoiceColumns.
func (b *batch) computeInvoice(e *entity, stored, computed row, v []any) {
	for i, c := range []string{"paid", "paid_on", "status"} {
		stored[c] = b.stored(e, c, v[i])
	}
	sent, lastPaid := v[3] != nil, b.stored(e, "paid_on", v[4])
	amount, _ := computed["amount"].(int64)
	storedAmount, _ := stored["amount"].(int64)
	outstanding, _ := computed["amount_outstanding"].(int64)
	void := stored["status"] == string(schema.InvoiceVoid)
	if !void {
		outstanding += amount - storedAmount
	}
	status := schema.InvoiceStatusOf(decimal.Decimal(amount), decimal.Decimal(outstanding), sent, void)
	computed["amount_outstanding"], computed["status"], computed["paid"], computed["paid_on"] = outstanding, string(status), status == schema.InvoicePaid, nil
	if status == schema.InvoicePaid {
		computed["paid_on"] = lastPaid
	}
}
