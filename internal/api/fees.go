package api

import (
	"context"

	"chairside/internal/apierror"
	"chairside/ogent"
)

// ListFees requires a payment plan or a treatment (behaviour.md section 5).
func (h *Handler) ListFees(ctx context.Context, p ogent.ListFeesParams) (*ogent.FeeList, error) {
	if !p.PaymentPlanID.Set && !p.TreatmentID.Set {
		const message = "is missing: one of payment_plan_id and treatment_id is required"
		return nil, apierror.InvalidParameter(apierror.Params{"payment_plan_id": {message}, "treatment_id": {message}})
	}
	rows, meta, err := h.ReadFees(ctx, p)
	if err != nil {
		return nil, err
	}
	return &ogent.FeeList{Fees: rows, Meta: meta}, nil
}
