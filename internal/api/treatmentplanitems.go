package api

import (
	"context"

	"chairside/ent"
	"chairside/ogent"
)

// GetTreatmentPlanItem answers one item with the answers to the practice's questions.
func (h *Handler) GetTreatmentPlanItem(ctx context.Context, p ogent.GetTreatmentPlanItemParams) (*ogent.TreatmentPlanItemResponse, error) {
	row, err := ogent.FindTreatmentPlanItem(ctx, h.Client, p.ID)
	if err != nil {
		return nil, err
	}
	shown, err := h.items(ctx, []*ent.TreatmentPlanItem{row})
	if err != nil {
		return nil, err
	}
	return &ogent.TreatmentPlanItemResponse{TreatmentPlanItem: shown[0]}, nil
}

// ListTreatmentPlanItems is the list with the answers.
func (h *Handler) ListTreatmentPlanItems(ctx context.Context, p ogent.ListTreatmentPlanItemsParams) (*ogent.TreatmentPlanItemList, error) {
	rows, meta, err := ogent.ReadTreatmentPlanItems(ctx, h.Client.TreatmentPlanItem.Query(), p)
	if err != nil {
		return nil, err
	}
	shown, err := h.items(ctx, rows)
	if err != nil {
		return nil, err
	}
	return &ogent.TreatmentPlanItemList{TreatmentPlanItems: shown, Meta: meta}, nil
}

func (h *Handler) items(ctx context.Context, rows []*ent.TreatmentPlanItem) ([]ogent.TreatmentPlanItem, error) {
	entries, err := itemAnswers(ctx, h.Client, rows)
	if err != nil {
		return nil, err
	}
	shown := ogent.TreatmentPlanItemsOut(rows, h.View(ctx))
	for i := range shown {
		shown[i].CustomFields = entries[shown[i].ID]
	}
	return shown, nil
}
