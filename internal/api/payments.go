package api

import (
	"context"

	"chairside/ent"
	"chairside/ent/payment"
	"chairside/internal/decimal"
	"chairside/ogent"
)

// ListPayments adds the sum of all pages. Deleted payments are listed and count
// for nothing in the sum, as they do in balances.
func (h *Handler) ListPayments(ctx context.Context, p ogent.ListPaymentsParams) (*ogent.PaymentList, error) {
	shown, meta, all, err := h.ReadPayments(ctx, p)
	if err != nil {
		return nil, err
	}
	var sums []struct{ Sum *decimal.Decimal }
	if err := all.Where(payment.Deleted(false)).Aggregate(ent.Sum(payment.FieldAmount)).Scan(ctx, &sums); err != nil {
		return nil, err
	}
	return &ogent.PaymentList{Payments: shown, Meta: ogent.PaymentMeta{
		Total: meta.Total, Page: meta.Page, CurrentPage: meta.CurrentPage, PerPage: meta.PerPage, TotalPages: meta.TotalPages,
		TotalAmount: total(sums[0].Sum),
	}}, nil
}

// total prints a sum, which is null over no rows.
func total(sum *decimal.Decimal) string {
	if sum == nil {
		return decimal.Decimal(0).String()
	}
	return sum.String()
}
