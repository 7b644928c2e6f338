package transfer

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"chairside/internal/decimal"
)

// ErrContradiction is returned by Restore where a total differs from the rows
// that it is the total of.
var ErrContradiction = errors.New("the export contradicts itself")

// SQL expressions for what totals come to, of a row t of their table. An import
// sets the totals by them (settle.go), a restore compares.
const (
	itemsOfInvoice = `(SELECT coalesce(sum(x.total_price), 0) FROM invoice_items AS x WHERE x.practice_id = t.practice_id AND x.invoice_id = t.id)`
	paidOnInvoice  = `(SELECT coalesce(sum(x.amount), 0) FROM payment_explanations AS x JOIN payments AS p ON p.id = x.payment_id WHERE x.practice_id = t.practice_id AND x.invoice_id = t.id AND NOT p.deleted)`
	outstanding    = `CASE WHEN t.status = 'void' THEN 0 ELSE t.amount - ` + paidOnInvoice + ` END`
	unexplained    = `t.amount - (SELECT coalesce(sum(x.amount), 0) FROM payment_explanations AS x JOIN invoices AS i ON i.id = x.invoice_id WHERE x.practice_id = t.practice_id AND x.payment_id = t.id AND i.status <> 'void')`
	privateOfPlan  = `(SELECT coalesce(sum(x.price), 0) FROM treatment_plan_items AS x JOIN payment_plans AS y ON y.id = x.payment_plan_id WHERE x.practice_id = t.practice_id AND x.treatment_plan_id = t.id AND NOT y.nhs)`
	balance        = `t.opening_balance
		+ (SELECT coalesce(sum(p.amount), 0) FROM payments AS p WHERE p.practice_id = t.practice_id AND p.patient_id = t.patient_id AND NOT p.deleted)
		- (SELECT coalesce(sum(i.amount), 0) FROM invoices AS i WHERE i.practice_id = t.practice_id AND i.patient_id = t.patient_id AND i.status <> 'void')`
	planned        = `(SELECT coalesce(sum(x.price), 0) FROM treatment_plan_items AS x JOIN payment_plans AS y ON y.id = x.payment_plan_id WHERE x.practice_id = t.practice_id AND x.patient_id = t.patient_id AND NOT x.completed AND `
	plannedNHS     = planned + `y.nhs)`
	plannedPrivate = planned + `NOT y.nhs)`
)

// sums are the totals that a database keeps beside the rows they come from. What
// follows from the row itself, such as an item's total_price, is a CHECK.
var sums = []struct{ table, column, comesTo string }{
	{"invoices", "amount", itemsOfInvoice},
	{"invoices", "amount_outstanding", outstanding},
	{"payments", "amount_unexplained", unexplained},
	{"treatment_plans", "private_treatment_value", privateOfPlan},
	{"accounts", "current_balance", balance},
	{"accounts", "planned_nhs_treatment_value", plannedNHS},
	{"accounts", "planned_private_treatment_value", plannedPrivate},
}

// shownContradictions is how many contradictions of one total an error names.
const shownContradictions = 5

// compareSums compares every total with what its rows come to. The database does
// the work, one statement for each total; the indexes have to be there.
func compareSums(ctx context.Context, tx *sql.Tx) error {
	var found []string
	var all int64
	for _, s := range sums {
		query := fmt.Sprintf(`SELECT id, has, CAST(comes_to AS bigint), count(*) OVER () FROM (
			SELECT t.id, t.%s AS has, %s AS comes_to FROM %s AS t
		) AS compared WHERE has <> comes_to ORDER BY id LIMIT %d`, s.column, s.comesTo, s.table, shownContradictions)
		count, some, err := contradictions(ctx, tx, query, s.table, s.column)
		if err != nil {
			return fmt.Errorf("transfer: compare %s.%s: %w", s.table, s.column, err)
		}
		found = append(found, some...)
		all += count
	}
	if all == 0 {
		return nil
	}
	return fmt.Errorf("transfer: %w: %d totals differ from their rows, nothing was imported\n  %s", ErrContradiction, all, strings.Join(found, "\n  "))
}

// contradictions counts the rows of one total that differ, and describes some.
func contradictions(ctx context.Context, tx *sql.Tx, query, table, column string) (count int64, some []string, err error) {
	rows, err := tx.QueryContext(ctx, query)
	if err != nil {
		return 0, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id, has, comesTo int64
		if err := rows.Scan(&id, &has, &comesTo, &count); err != nil {
			return 0, nil, err
		}
		some = append(some, fmt.Sprintf("%s %d: %s is %s, its rows come to %s", table, id, column, decimal.Decimal(has), decimal.Decimal(comesTo)))
	}
	if count > shownContradictions {
		some = append(some, fmt.Sprintf("%s: %s differs in %d rows in all", table, column, count))
	}
	return count, some, rows.Err()
}
