package ask_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"chairside/ent"
	"chairside/ent/invoice"
	"chairside/ent/nhsclaim"
	"chairside/ent/patient"
	"chairside/schema"
	"chairside/schema/ask"
)

// Two questions that no report answers: how many patients with a completed NHS claim are
// due for an exam within a month and accept text messages, and how do recent invoices
// divide by status?
func Example() {
	ctx := context.Background()
	p, err := ask.Open(ctx, demo(), "demo") // the URL of your database
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()

	today := ask.DateOf(time.Date(2026, time.July, 1, 9, 0, 0, 0, p.Zone)) // use time.Now().In(p.Zone)
	err = p.View(ctx, func(ctx context.Context, client *ent.Client) error {
		due, err := client.Patient.Query().
			Where(
				patient.Active(true),
				patient.UseSms(true),
				patient.DentistRecallDateLTE(today.AddMonths(1)),
				patient.HasClaimsWith(nhsclaim.ClaimStatusEQ(schema.ClaimCompleted)),
			).
			Count(ctx)
		if err != nil {
			return err
		}
		fmt.Println("text messages to send:", due)

		var sums []struct {
			Status schema.InvoiceStatus
			Count  int
			Sum    ask.Decimal
		}
		err = client.Invoice.Query().
			Where(invoice.DatedOnGTE(today.AddMonths(-3)), invoice.DatedOnLT(today)).
			Order(invoice.ByStatus()).
			GroupBy(invoice.FieldStatus).
			Aggregate(ent.Count(), ent.Sum(invoice.FieldAmount)).
			Scan(ctx, &sums)
		for _, s := range sums {
			fmt.Printf("%-9s %3d invoices %9s\n", s.Status, s.Count, s.Sum)
		}
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// text messages to send: 20
	// new         2 invoices    112.70
	// paid       20 invoices   2220.85
	// part_paid   1 invoices     64.00
	// sent        2 invoices    176.80
	// void        3 invoices    430.20
}
