package importer

import (
	"slices"
	"time"

	"chairside/internal/decimal"
	"chairside/schema"
)

// settled lists the tables with totals (schema.Totals), each after those that it depends on, with
// the tables that its totals are computed from. A table is skipped if the import has no file for
// any of these.
var settled = []struct {
	table string
	from  []string
}{
	{"invoices", []string{"invoices", "invoice_items", "payments", explanationTable}},
	{"payments", []string{"payments", explanationTable, "invoices", "invoice_items"}}, // void or lower now
	{"treatment_plans", []string{"treatment_plans", "treatment_plan_items", "payment_plans"}},
	{"accounts", []string{"patients", "accounts", "payments", "invoices", "invoice_items", "treatment_plans", "treatment_plan_items", "payment_plans"}},
}

// settle sets the practice's totals to the sums of their rows. It writes only rows that differ, so
// a second run changes nothing.
func (im *importer) settle() error {
	if im.note.Stage != stageSettle {
		return nil
	}
	im.report("totals", 0, 0)
	var abandoned bool // another import was stopped: its rows may be waiting for their totals
	err := im.inTx(nil, func(b *batch) {
		b.queryRow("SELECT EXISTS (SELECT * FROM import_runs WHERE finished_at IS NULL AND id <> $1)", []any{im.runID}, &abandoned)
	})
	if err != nil {
		return err
	}
	for _, s := range settled {
		if !abandoned && !slices.ContainsFunc(im.plans, func(p *plan) bool { return slices.Contains(s.from, p.entity.Name) }) {
			continue
		}
		if err := im.settleTable(entityOf(s.table)); err != nil {
			return err
		}
		if s.table != "invoices" {
			continue
		}
		trimmed, err := im.trim()
		if err == nil && trimmed {
			err = im.settleTable(entityOf(s.table))
		}
		if err != nil {
			return err
		}
	}
	return im.reach(stageCompare)
}

// ofInvoice is the columns that settleInvoice reads besides the totals.
const ofInvoice = `, t.paid, t.paid_on, t.status, t.sent_at,
	(SELECT max(p.dated_on) FROM payment_explanations AS x JOIN payments AS p ON p.id = x.payment_id WHERE x.practice_id = t.practice_id AND x.invoice_id = t.id AND NOT p.deleted)`

// settleTable settles the rows of a table in batches, in the order of their ids.
func (im *importer) settleTable(e *entity) error {
	var columns []string
	is, comesTo := "", ""
	for _, t := range schema.Totals {
		if t.Table == e.Name {
			columns, is, comesTo = append(columns, t.Column), is+", t."+t.Column, comesTo+", "+t.SQL
		}
	}
	query := "SELECT t.id, t.updated_at" + is + comesTo
	if e.Name == "invoices" {
		query += ofInvoice
	}
	query += " FROM " + e.Name + " AS t WHERE t.practice_id = $1 AND t.id > $2 ORDER BY t.id LIMIT $3"
	last := int64(0)
	for n := batchRows; n == batchRows; {
		n = 0
		err := im.inTx(nil, func(b *batch) {
			var different edits
			b.rows(query, []any{im.practice.id, last, batchRows}, func(v []any) {
				n++
				last = b.number(v[0])
				is, should := row{}, row{}
				for i, c := range columns {
					is[c], should[c] = b.number(v[2+i]), b.number(v[2+len(columns)+i])
				}
				if e.Name == "invoices" {
					b.settleInvoice(e, is, should, v[2+2*len(columns):])
				}
				differ := slices.DeleteFunc(sortedKeys(is), func(c string) bool { return is[c] == should[c] })
				should["id"] = last
				b.edit(&different, should, differ...)
				// The audit log already has the rows that this import has written.
				if written, ok := v[1].(time.Time); len(differ) > 0 && ok && !written.Before(im.started) {
					different.changes = different.changes[:len(different.changes)-1]
				}
			})
			b.apply(e, different, totals[e.Name]...)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// settleInvoice derives an invoice's totals and status from its items and payments. The outstanding
// amount was computed from the stored amount, so it is adjusted to the correct one.
func (b *batch) settleInvoice(e *entity, is, should row, more []any) {
	for i, c := range []string{"paid", "paid_on", "status"} {
		var err error
		is[c], err = e.Column(c).Stored.Stored(more[i])
		b.fail(err)
	}
	amount, _ := should["amount"].(int64)
	before, _ := is["amount"].(int64)
	outstanding, _ := should["amount_outstanding"].(int64)
	void := is["status"] == string(schema.InvoiceVoid)
	if !void {
		outstanding += amount - before
	}
	status := schema.InvoiceStatusOf(decimal.Decimal(amount), decimal.Decimal(outstanding), more[3] != nil, void)
	should["amount_outstanding"], should["status"], should["paid"], should["paid_on"] = outstanding, string(status), status == schema.InvoicePaid, nil
	if status == schema.InvoicePaid {
		var err error
		should["paid_on"], err = e.Column("paid_on").Stored.Stored(more[4])
		b.fail(err)
	}
}
