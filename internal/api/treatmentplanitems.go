package api

import (
	"context"

	"chairside/ogent"
)

// GetTreatmentPlanItem answers one item with the answers to the practice's questions.
func (h *Handler) GetTreatmentPlanItem(ctx context.Context, p ogent.GetTreatmentPlanItemParams) (*ogent.TreatmentPlanItemResponse, error) {
	response, err := h.ShowTreatmentPlanItem(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	response.TreatmentPlanItem.CustomFields, err = oneOf(itemAnswers(ctx, h.Client, []int64{p.ID}))
	return response, err
}

// ListTreatmentPlanItems is the list with the answers.
func (h *Handler) ListTreatmentPlanItems(ctx context.Context, p ogent.ListTreatmentPlanItemsParams) (*ogent.TreatmentPlanItemList, error) {
	shown, meta, err := h.ReadTreatmentPlanItems(ctx, p)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(shown))
	for i := range shown {
		ids[i] = shown[i].ID
	}
	entries, err := itemAnswers(ctx, h.Client, ids)
	if err != nil {
		return nil, err
	}
	for i := range shown {
		shown[i].CustomFields = entries[i]
	}
	return &ogent.TreatmentPlanItemList{TreatmentPlanItems: shown, Meta: meta}, nil
}
