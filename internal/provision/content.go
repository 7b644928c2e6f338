package provision

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/internal/decimal"
	"chairside/schema"
)

// diaryColour is a new practitioner's colour.
const diaryColour = "#3b82f6"

// reasonStyle describes how the diary shows a reason of schema.Reasons.
type reasonStyle struct {
	colour        string
	exam, hygiene bool
}

var reasonStyles = map[string]reasonStyle{
	"Exam":                  {colour: "#3b82f6", exam: true},
	"Scale & Polish":        {colour: "#14b8a6", hygiene: true},
	"Exam + Scale & Polish": {colour: "#6366f1", exam: true, hygiene: true},
	"Continuing Treatment":  {colour: "#22c55e"},
	"Emergency":             {colour: "#ef4444"},
	"Review":                {colour: "#f59e0b", exam: true},
	"Other":                 {colour: "#6b7280"},
}

// treatment is one line of a new practice's price list. The practice can change the
// prices through the API. The patient's charge for NHS treatment depends only on the
// band.
type treatment struct {
	category, name, patientName string
	minutes                     int
	private                     string // price
	band                        string // NHS band; "" if the NHS does not cover it
}

var treatments = []treatment{
	{"Examination", "Examination", "Check-up", 20, "55.00", "1"},
	{"Examination", "Examination, new patient", "First check-up", 30, "75.00", "1"},
	{"Examination", "Bitewing radiograph", "X-ray of the back teeth", 10, "15.00", "1"},
	{"Examination", "Emergency examination", "Urgent appointment", 20, "80.00", "urgent"},
	{"Hygiene", "Scale and polish", "Cleaning", 30, "65.00", "1"},
	{"Hygiene", "Periodontal therapy", "Gum treatment", 60, "140.00", "2"},
	{"Restorative", "Amalgam filling", "Silver filling", 30, "110.00", "2"},
	{"Restorative", "Composite filling", "White filling", 40, "145.00", "2"},
	{"Restorative", "Root canal treatment", "Root filling", 90, "420.00", "2"},
	{"Restorative", "Porcelain crown", "Crown", 60, "650.00", "3"},
	{"Surgery", "Extraction", "Taking out a tooth", 30, "130.00", "2"},
	{"Prosthetics", "Full acrylic denture", "Denture", 45, "750.00", "3"},
	{"Cosmetic", "Tooth whitening", "Whitening", 45, "350.00", ""},
}

// nhsCharges are the patient charges by band, in England since April 2025.
var nhsCharges = map[string]string{"1": "27.40", "urgent": "27.40", "2": "75.30", "3": "326.70"}

// addDefaults adds the appointment and cancellation reasons, a private and an NHS plan, and the
// treatments with their fees in each.
func addDefaults(ctx context.Context, tx *ent.Client, practice uuid.UUID) (privatePlan, nhsPlan int64, err error) {
	for i, name := range schema.Reasons {
		style := reasonStyles[name]
		err := tx.AppointmentReason.Create().
			SetPracticeID(practice).SetReason(name).SetColour(style.colour).
			SetExam(style.exam).SetHygiene(style.hygiene).SetPosition(i + 1).
			Exec(ctx)
		if err != nil {
			return 0, 0, fmt.Errorf("create reason: %w", err)
		}
	}
	for _, r := range schema.CancellationReasons {
		err := tx.AppointmentCancellationReason.Create().SetPracticeID(practice).SetReason(r.Name).SetReasonType(r.Type).Exec(ctx)
		if err != nil {
			return 0, 0, fmt.Errorf("create cancellation reason: %w", err)
		}
	}
	private, err := tx.PaymentPlan.Create().SetPracticeID(practice).SetName("Private").Save(ctx)
	if err != nil {
		return 0, 0, fmt.Errorf("create private plan: %w", err)
	}
	nhs, err := tx.PaymentPlan.Create().SetPracticeID(practice).SetName("NHS").SetNhs(true).Save(ctx)
	if err != nil {
		return 0, 0, fmt.Errorf("create NHS plan: %w", err)
	}
	categories := map[string]int64{}
	for _, t := range treatments {
		if categories[t.category] == 0 {
			c, err := tx.TreatmentCategory.Create().SetPracticeID(practice).SetName(t.category).Save(ctx)
			if err != nil {
				return 0, 0, fmt.Errorf("create category: %w", err)
			}
			categories[t.category] = c.ID
		}
		if err := addTreatment(ctx, tx, practice, t, categories[t.category], private.ID, nhs.ID); err != nil {
			return 0, 0, err
		}
	}
	return private.ID, nhs.ID, nil
}

// addTreatment adds a treatment and its fees.
func addTreatment(ctx context.Context, tx *ent.Client, practice uuid.UUID, t treatment, category, privatePlan, nhsPlan int64) error {
	create := tx.Treatment.Create().
		SetPracticeID(practice).SetNomenclature(t.name).SetPatientNomenclature(t.patientName).SetTreatmentCategoryID(category)
	if t.band != "" {
		create.SetUdaBand(t.band)
	}
	row, err := create.Save(ctx)
	if err != nil {
		return fmt.Errorf("create treatment: %w", err)
	}
	prices := map[int64]string{privatePlan: t.private}
	if t.band != "" {
		prices[nhsPlan] = nhsCharges[t.band]
	}
	for plan, price := range prices {
		if err := flatFee(tx, practice, plan, row.ID, decimal.MustParse(price), t.minutes).Exec(ctx); err != nil {
			return fmt.Errorf("create fee: %w", err)
		}
	}
	return nil
}

// flatFee is a fee with the same price and duration for any number of teeth. The
// practice can set others when it turns on multiple pricing.
func flatFee(tx *ent.Client, practice uuid.UUID, plan, treatment int64, price decimal.Decimal, minutes int) *ent.FeeCreate {
	return tx.Fee.Create().
		SetPracticeID(practice).SetPaymentPlanID(plan).SetTreatmentID(treatment).
		SetPriceOne(price).SetPriceTwo(price).SetPriceThree(price).SetPriceFour(price).SetPriceFive(price).
		SetDurationOne(minutes).SetDurationTwo(minutes).SetDurationThree(minutes).SetDurationFour(minutes).SetDurationFive(minutes)
}
