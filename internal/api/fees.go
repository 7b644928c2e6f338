package api

import (
	"context"

	"chairside/ent"
	"chairside/internal/caller"
	"chairside/internal/clock"
	"chairside/internal/fault"
	"chairside/internal/store"
	"chairside/internal/wire"
	"chairside/ogent"
)

// ListFees needs a payment plan or a treatment (behaviour.md section 5).
func (h *Handler) ListFees(ctx context.Context, p ogent.ListFeesParams) (*ogent.FeeList, error) {
	if !p.PaymentPlanID.Set && !p.TreatmentID.Set {
		const message = "is missing: one of payment_plan_id and treatment_id is required"
		return nil, fault.InvalidParameter(fault.Params{"payment_plan_id": {message}, "treatment_id": {message}})
	}
	shown, meta, err := h.ReadFees(ctx, p)
	if err != nil {
		return nil, err
	}
	return &ogent.FeeList{Fees: shown, Meta: meta}, nil
}

// UpdateFee changes what is sent.
func (h *Handler) UpdateFee(ctx context.Context, req *ogent.FeeInputRequest, p ogent.UpdateFeeParams) (*ogent.FeeResponse, error) {
	if caller.Must(ctx).SiteID != nil { // before the fee is looked for
		return nil, fault.SiteLimited()
	}
	var response *ogent.FeeResponse
	err := h.db.Tx(ctx, func(tx *ent.Client) error {
		old, err := ogent.FindFee(ctx, tx, p.ID, store.ForUpdate)
		if err != nil {
			return err
		}
		if err := ifMatch(ctx, h.In(tx).ShowFee, old.ID); err != nil {
			return err
		}
		if problems := wire.Problems(ctx); len(problems) > 0 {
			return fault.ValidationFailed(problems)
		}
		update := tx.Fee.UpdateOne(old)
		ogent.SetFee(update.Mutation(), &req.Fee, old)
		response, err = h.In(tx).ChangeFee(clock.Again(ctx), update)
		return err
	})
	return response, err
}
