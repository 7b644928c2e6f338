package api

import (
	"context"
	"fmt"
	"slices"

	"entgo.io/ent/dialect/sql"

	"chairside/ent"
	"chairside/ent/account"
	"chairside/ent/invoice"
	"chairside/ent/payment"
	"chairside/ent/predicate"
	"chairside/internal/civil"
	"chairside/internal/decimal"
	"chairside/internal/entx"
	"chairside/internal/list"
	"chairside/ogent"
	"chairside/schema"
)

// balanceAlias is the name of the balance in queries.
const balanceAlias = "balance"

// ListAccounts filters by credit or debit and adds sums over all pages. With as_at it returns
// the balances at the end of that day (behaviour.md section 3).
func (h *Handler) ListAccounts(ctx context.Context, p ogent.ListAccountsParams) (*ogent.AccountList, error) {
	balance := currentBalance
	if day, ok := p.AsAt.Get(); ok {
		balance = balanceAt(civil.Of(day))
	}
	request := ogent.AccountsRequest(p)
	q := h.Client.Account.Query().Where(request.Where...)
	switch p.State.Or("") {
	case "credit":
		q.Where(func(s *sql.Selector) { s.Where(sql.ExprP(balance(s) + " > 0")) })
	case "debit":
		q.Where(func(s *sql.Selector) { s.Where(sql.ExprP(balance(s) + " < 0")) })
	}
	accounts := ogent.Accounts
	accounts.Sorts = accountSorts(request, h.DB.Dialect, balance)
	var next list.Meta
	var rows []ogent.Account
	var err error
	if request.ByCursor {
		request.Where, request.Filters = nil, nil // q has them; Filters would select rows without the balance
		rows, next, _, err = accounts.Read(ctx, h.View(ctx), q.Clone(), request)
	} else {
		page := q.Clone().Order(accounts.Order(request)...).Limit(request.Limit()).Offset(request.Offset())
		rows, err = list.All(ctx, h.View(ctx), page, ogent.AccountForm, request.Limit())
	}
	if err != nil {
		return nil, err
	}
	if p.AsAt.Set {
		if err := h.setBalances(ctx, rows, balance); err != nil {
			return nil, err
		}
	}
	var sums []struct {
		Total        int
		NHS, Private *decimal.Decimal
		Balance      *decimal.Decimal
	}
	err = q.Aggregate(
		ent.As(ent.Count(), "total"),
		ent.As(ent.Sum(account.FieldPlannedNhsTreatmentValue), "nhs"),
		ent.As(ent.Sum(account.FieldPlannedPrivateTreatmentValue), "private"),
		func(s *sql.Selector) string { return sql.As("SUM("+balance(s)+")", balanceAlias) },
	).Scan(ctx, &sums)
	if err != nil {
		return nil, err
	}
	meta := ogent.MetaOf(next)
	if !request.ByCursor {
		meta = ogent.MetaOf(request.Meta(sums[0].Total))
	}
	return &ogent.AccountList{Accounts: rows, Meta: ogent.AccountMeta{
		Total: meta.Total, Page: meta.Page, CurrentPage: meta.CurrentPage, PerPage: meta.PerPage, TotalPages: meta.TotalPages,
		NextCursor: meta.NextCursor,
		TotalNhs:   total(sums[0].NHS), TotalPrivate: total(sums[0].Private), TotalBalance: total(sums[0].Balance),
	}}, nil
}

// setBalances replaces the current balances by those of a day.
func (h *Handler) setBalances(ctx context.Context, accounts []ogent.Account, b balance) error {
	if len(accounts) == 0 {
		return nil
	}
	ids := list.IDs(accounts, func(a ogent.Account) int64 { return a.ID })
	var balances []struct {
		ID      int64
		Balance decimal.Decimal
	}
	err := h.Client.Account.Query().Where(entx.InArray[predicate.Account](account.FieldID, ids)).Modify(func(s *sql.Selector) {
		s.Select(s.C(account.FieldID)).AppendSelectExprAs(sql.Raw(b(s)), balanceAlias)
	}).Scan(ctx, &balances)
	at := positions(ids)
	for _, b := range balances {
		accounts[at[b.ID]].CurrentBalance = b.Balance.String()
	}
	return err
}

// balance returns a SQL expression for the balance of an account, in hundredths.
type balance func(*sql.Selector) string

func currentBalance(s *sql.Selector) string { return s.C(account.FieldCurrentBalance) }

// balanceAt returns the balance at the end of a day. Indexes on the patient and the date serve
// it. The day is a literal, because a civil.Date has only digits and hyphens.
func balanceAt(day civil.Date) balance {
	return func(s *sql.Selector) string {
		sum := func(table, condition string) string {
			t := sql.Dialect(s.Dialect()).Table(table)
			return fmt.Sprintf("(SELECT COALESCE(SUM(%s), 0) FROM %s WHERE %s = %s AND %s = %s AND %s AND %s <= '%s')",
				t.C(payment.FieldAmount), table,
				t.C(payment.FieldPracticeID), s.C(account.FieldPracticeID),
				t.C(payment.FieldPatientID), s.C(account.FieldPatientID),
				condition, t.C(payment.FieldDatedOn), day)
		}
		return fmt.Sprintf("CAST(%s + %s - %s AS bigint)", s.C(account.FieldOpeningBalance),
			sum(payment.Table, "NOT "+payment.FieldDeleted),
			sum(invoice.Table, fmt.Sprintf("%s <> '%s'", invoice.FieldStatus, schema.InvoiceVoid)))
	}
}

// accountSorts returns the generated orders, except that current_balance sorts by the balances
// in the response.
func accountSorts(r list.Request[predicate.Account], database string, b balance) []list.Sort[account.OrderOption] {
	sorts := slices.Clone(ogent.Accounts.Sorts)
	for i := range sorts {
		if sorts[i].Key != account.FieldCurrentBalance {
			continue
		}
		direction := ""
		if r.Descending {
			direction = " DESC"
		}
		t := sql.Dialect(database).Table(account.Table)
		sorts[i].SQL = b(sql.Dialect(database).Select().From(t))
		sorts[i].By = func(...sql.OrderTermOption) account.OrderOption {
			return func(s *sql.Selector) { s.OrderExpr(sql.Raw(b(s) + direction)) }
		}
	}
	return sorts
}
