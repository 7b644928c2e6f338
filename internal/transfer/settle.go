package transfer

import (
	"database/sql"
	"fmt"
	"slices"
	"time"

	"chairside/internal/civil"
	"chairside/internal/decimal"
	"chairside/internal/store/bulk"
	"chairside/schema"
)

// settlements are the totals of the practice, in the order in which they follow
// from each other. Each query gives, for rows after $2 in the order of their
// ids, what there is and what it comes from. from are the tables whose rows are
// part of it: where an import has no file of any, nothing is to be settled.
var settlements = []struct {
	table   string
	columns []string
	from    []string
	query   string
	settle  func(v []any) (is, should row, err error)
}{
	{
		"invoices", []string{"amount", "amount_outstanding", "paid", "paid_on", "status"},
		[]string{"invoices", "invoice_items", "payments", "payment_explanations"},
		"SELECT t.id, t.amount, t.amount_outstanding, t.paid, t.paid_on, t.status, t.sent_at, " + itemsOfInvoice + ", " + paidOnInvoice + `,
			(SELECT max(p.dated_on) FROM payment_explanations AS x JOIN payments AS p ON p.id = x.payment_id WHERE x.practice_id = t.practice_id AND x.invoice_id = t.id AND NOT p.deleted),
			t.updated_at
		FROM invoices AS t WHERE t.practice_id = $1 AND t.id > $2 ORDER BY t.id LIMIT $3`,
		settleInvoice,
	},
	{
		"payments", []string{"amount_unexplained"},
		[]string{"payments", "payment_explanations", "invoices", "invoice_items"}, // void or lower now
		"SELECT t.id, t.amount_unexplained, " + unexplained + ", t.updated_at FROM payments AS t WHERE t.practice_id = $1 AND t.id > $2 ORDER BY t.id LIMIT $3",
		settleAmounts("amount_unexplained"),
	},
	{
		"treatment_plans", []string{"private_treatment_value"},
		[]string{"treatment_plans", "treatment_plan_items", "payment_plans"},
		"SELECT t.id, t.private_treatment_value, " + privateOfPlan + ", t.updated_at FROM treatment_plans AS t WHERE t.practice_id = $1 AND t.id > $2 ORDER BY t.id LIMIT $3",
		settleAmounts("private_treatment_value"),
	},
	{
		"accounts", []string{"current_balance", "planned_nhs_treatment_value", "planned_private_treatment_value"},
		[]string{"patients", "accounts", "payments", "invoices", "invoice_items", "treatment_plans", "treatment_plan_items", "payment_plans"},
		"SELECT t.id, t.current_balance, t.planned_nhs_treatment_value, t.planned_private_treatment_value, " + balance + ", " + plannedNHS + ", " + plannedPrivate + ", t.updated_at FROM accounts AS t WHERE t.practice_id = $1 AND t.id > $2 ORDER BY t.id LIMIT $3",
		settleAmounts("current_balance", "planned_nhs_treatment_value", "planned_private_treatment_value"),
	},
}

// settleAmounts compares as many amounts as there are columns with as many
// that they should be.
func settleAmounts(columns ...string) func(v []any) (is, should row, err error) {
	return func(v []any) (row, row, error) {
		is, should := row{}, row{}
		for i, c := range columns {
			was, err := asInteger(v[1+i])
			if err != nil {
				return nil, nil, err
			}
			now, err := asInteger(v[1+len(columns)+i])
			if err != nil {
				return nil, nil, err
			}
			is[c], should[c] = was, now
		}
		return is, should, nil
	}
}

// settleInvoice derives an invoice from its items and what was paid on it.
func settleInvoice(v []any) (is, should row, err error) {
	e, err := byTable("invoices")
	if err != nil {
		return nil, nil, err
	}
	is = row{}
	for i, c := range []string{"amount", "amount_outstanding", "paid", "paid_on", "status"} {
		if is[c], err = e.column(c).kind.stored(v[1+i]); err != nil {
			return nil, nil, err
		}
	}
	amount, err := asInteger(v[7])
	if err != nil {
		return nil, nil, err
	}
	paid, err := asInteger(v[8])
	if err != nil {
		return nil, nil, err
	}
	void, outstanding := is["status"] == string(schema.InvoiceVoid), amount-paid
	if void {
		outstanding = 0
	}
	status := schema.InvoiceStatusOf(decimal.Decimal(amount), decimal.Decimal(outstanding), v[6] != nil, void)
	should = row{
		"amount": amount, "amount_outstanding": outstanding, "status": string(status),
		"paid": status == schema.InvoicePaid, "paid_on": nil,
	}
	if status == schema.InvoicePaid && v[9] != nil {
		var day civil.Date
		if err := day.Scan(v[9]); err != nil {
			return nil, nil, err
		}
		should["paid_on"] = day.String()
	}
	return is, should, nil
}

// settle makes the totals of the practice what its rows come to. Rows that
// agree are not written; doing it twice changes nothing.
func (im *importer) settle() error {
	if im.note.Stage != stageSettle {
		return nil
	}
	im.bar.say("totals")
	abandoned, err := im.abandoned()
	if err != nil {
		return err
	}
	for i, s := range settlements {
		if !abandoned && !slices.ContainsFunc(im.plans, func(p *plan) bool { return slices.Contains(s.from, p.entity.table) }) {
			continue
		}
		if err := im.settleTable(i); err != nil {
			return err
		}
		if s.table == "invoices" {
			if err := im.trim(func() error { return im.settleTable(i) }); err != nil {
				return err
			}
		}
	}
	return im.reach(stageCompare)
}

func (im *importer) settleTable(which int) error {
	for last, more := int64(0), true; more; {
		err := im.inTx(func(tx *sql.Tx, bulk *bulk.Tx) (err error) {
			b := &batch{importer: im, tx: tx, bulk: bulk, now: im.clock()}
			last, more, err = b.settle(which, last)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// abandoned reports whether another import was stopped and has not gone on: its
// rows may be waiting for their totals.
func (im *importer) abandoned() (yes bool, err error) {
	running := 1 // this one
	if im.dry != nil {
		running = 0
	}
	err = im.inTx(func(tx *sql.Tx, _ *bulk.Tx) error {
		return tx.QueryRowContext(im.ctx, "SELECT COUNT(*) > $1 FROM import_runs WHERE finished_at IS NULL", running).Scan(&yes)
	})
	if err != nil {
		return false, fmt.Errorf("transfer: look for other imports: %w", err)
	}
	return yes, nil
}

// settle settles the rows after an id, and gives the last one's.
func (b *batch) settle(which int, after int64) (last int64, more bool, err error) {
	s := settlements[which]
	e, err := byTable(s.table)
	if err != nil {
		return 0, false, err
	}
	var differ []row
	var changes []change
	var failed error
	n := 0
	last = after
	err = b.rows(s.query, []any{b.practice.id, after, batchRows}, func(v []any) {
		n++
		last, _ = v[0].(int64)
		is, should, err := s.settle(v)
		if err != nil {
			failed = fmt.Errorf("transfer: totals of %s %d: %w", s.table, last, err)
			return
		}
		var columns []string
		for _, c := range s.columns {
			if is[c] != should[c] {
				columns = append(columns, c)
			}
		}
		if len(columns) == 0 {
			return
		}
		should["id"], should["updated_at"] = last, b.now
		differ = append(differ, should)
		// What this import has written is in the record already.
		if written, ok := v[len(v)-1].(time.Time); !ok || written.Before(b.started) {
			changes = append(changes, change{asText(last), "update", b.list(columns)})
		}
	})
	if err == nil {
		err = failed
	}
	if err != nil || len(differ) == 0 {
		return last, n == batchRows, err
	}
	if err := b.updateRows(e, append(s.columns[:len(s.columns):len(s.columns)], "updated_at"), differ); err != nil {
		return 0, false, err
	}
	return last, n == batchRows, b.recordChanges(e, changes)
}
