package provision

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/internal/decimal"
	"chairside/schema"
)

// diaryColour is that of a new practitioner.
const diaryColour = "#3b82f6"

// reasonStyle is how the diary shows a reason of schema.Reasons.
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

// treatment is one line of the price list a practice starts with. The practice
// changes the prices with the API; the patient's charge of NHS treatment follows
// its band, whatever is done.
type treatment struct {
	category, name, patientName string
	minutes                     int
	private                     string // price
	band                        string // of NHS treatment; "" where the NHS does not pay
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

// nhsCharges is what a patient pays for a course of treatment by its band, in
// England since April 2025.
var nhsCharges = map[string]string{"1": "27.40", "urgent": "27.40", "2": "75.30", "3": "326.70"}

// content gives a practice what it starts with: the reasons of appointments, a
// private and an NHS plan, and the treatments with their fees in each.
func content(ctx context.Context, tx *ent.Client, practice uuid.UUID) (privatePlan, nhsPlan int64, err error) {
	for i, name := range schema.Reasons {
		style := reasonStyles[name]
		err := tx.AppointmentReason.Create().
			SetPracticeID(practice).SetReason(name).SetColour(style.colour).
			SetExam(style.exam).SetHygiene(style.hygiene).SetPosition(i + 1).
			Exec(ctx)
		if err != nil {
			return 0, 0, fmt.Errorf("provision: reason: %w", err)
		}
	}
	private, err := tx.PaymentPlan.Create().SetPracticeID(practice).SetName("Private").Save(ctx)
	if err != nil {
		return 0, 0, fmt.Errorf("provision: private plan: %w", err)
	}
	nhs, err := tx.PaymentPlan.Create().SetPracticeID(practice).SetName("NHS").SetNhs(true).Save(ctx)
	if err != nil {
		return 0, 0, fmt.Errorf("provision: NHS plan: %w", err)
	}
	categories := map[string]int64{}
	for _, t := range treatments {
		if categories[t.category] == 0 {
			c, err := tx.TreatmentCategory.Create().SetPracticeID(practice).SetName(t.category).Save(ctx)
			if err != nil {
				return 0, 0, fmt.Errorf("provision: category: %w", err)
			}
			categories[t.category] = c.ID
		}
		if err := offer(ctx, tx, practice, t, categories[t.category], private.ID, nhs.ID); err != nil {
			return 0, 0, err
		}
	}
	return private.ID, nhs.ID, nil
}

// offer adds a treatment and its fees.
func offer(ctx context.Context, tx *ent.Client, practice uuid.UUID, t treatment, category, privatePlan, nhsPlan int64) error {
	create := tx.Treatment.Create().
		SetPracticeID(practice).SetNomenclature(t.name).SetPatientNomenclature(t.patientName).SetTreatmentCategoryID(category)
	if t.band != "" {
		create.SetUdaBand(t.band)
	}
	row, err := create.Save(ctx)
	if err != nil {
		return fmt.Errorf("provision: treatment: %w", err)
	}
	prices := map[int64]string{privatePlan: t.private}
	if t.band != "" {
		prices[nhsPlan] = nhsCharges[t.band]
	}
	for plan, price := range prices {
		if err := flatFee(tx, practice, plan, row.ID, decimal.MustParse(price), t.minutes).Exec(ctx); err != nil {
			return fmt.Errorf("provision: fee: %w", err)
		}
	}
	return nil
}

// flatFee has the same price and duration whatever the count of teeth; the practice
// sets others when it turns multiple pricing on.
func flatFee(tx *ent.Client, practice uuid.UUID, plan, treatment int64, price decimal.Decimal, minutes int) *ent.FeeCreate {
	return tx.Fee.Create().
		SetPracticeID(practice).SetPaymentPlanID(plan).SetTreatmentID(treatment).
		SetPriceOne(price).SetPriceTwo(price).SetPriceThree(price).SetPriceFour(price).SetPriceFive(price).
		SetDurationOne(minutes).SetDurationTwo(minutes).SetDurationThree(minutes).SetDurationFour(minutes).SetDurationFive(minutes)
}
