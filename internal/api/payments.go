package api

import (
	"context"

	"chairside/ent"
	"chairside/ent/payment"
	"chairside/internal/decimal"
	"chairside/ogent"
)

// ListPayments adds the sum over all pages. Deleted payments are listed but excluded from the
// sum, as from balances.
func (h *Handler) ListPayments(ctx context.Context, p ogent.ListPaymentsParams) (*ogent.PaymentList, error) {
	rows, meta, all, err := h.ReadPayments(ctx, p)
	if err != nil {
		return nil, err
	}
	var sums []struct{ Sum *decimal.Decimal }
	if err := all.Where(payment.Deleted(false)).Aggregate(ent.Sum(payment.FieldAmount)).Scan(ctx, &sums); err != nil {
		return nil, err
	}
	return &ogent.PaymentList{Payments: rows, Meta: ogent.PaymentMeta{
		Total: meta.Total, Page: meta.Page, CurrentPage: meta.CurrentPage, PerPage: meta.PerPage, TotalPages: meta.TotalPages,
		NextCursor:  meta.NextCursor,
		TotalAmount: total(sums[0].Sum),
	}}, nil
}

// total formats a sum, which is NULL over no rows.
func total(sum *decimal.Decimal) string {
	if sum == nil {
		return decimal.Decimal(0).String()
	}
	return sum.String()
}
