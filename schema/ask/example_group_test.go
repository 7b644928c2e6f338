package ask_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"chairside/ent"
	"chairside/ent/appointment"
	"chairside/ent/invoice"
	"chairside/ent/payment"
	"chairside/ent/site"
	"chairside/schema"
	"chairside/schema/ask"
)

// show runs a query of an example and prints its rows.
func show[Row any](query func(ctx context.Context, client *ent.Client, zone *time.Location) ([]Row, error)) {
	p := yourPractice()
	defer p.Close()
	err := p.View(context.Background(), func(ctx context.Context, client *ent.Client) error {
		rows, err := query(ctx, client, p.Zone)
		for _, row := range rows {
			fmt.Println(row)
		}
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
}

// from and to are days around the change to summer time on 29 March 2026.
var from, to = ask.Date{Year: 2026, Month: 3, Day: 24}, ask.Date{Year: 2026, Month: 4, Day: 2}

// By follows the reference to the site of each payment.
func ExampleBy() {
	type taken struct {
		Site     string
		Payments int
		Amount   ask.Decimal
	}
	show(func(ctx context.Context, client *ent.Client, zone *time.Location) ([]taken, error) {
		return ask.Group[taken](ctx,
			client.Payment.Query().Where(payment.Deleted(false), ask.During(zone, payment.FieldDatedOn, from, to)),
			ask.By(payment.FieldSiteID, site.FieldName),
			ask.Count(),
			ask.Sum(payment.FieldAmount))
	})
	// Output:
	// {High Street Dental 1 27.90}
	// {Riverside Dental 2 136.15}
}

// Days are those of the practice's time zone: until 29 March 2026, when the clocks go forward,
// they begin at midnight UTC, and from then on an hour earlier.
func ExampleDay() {
	type day struct {
		Day          ask.Date
		Appointments int
	}
	show(func(ctx context.Context, client *ent.Client, zone *time.Location) ([]day, error) {
		return ask.Group[day](ctx,
			client.Appointment.Query().Where(ask.During(zone, appointment.FieldStartTime, from, to)),
			ask.Day(appointment.FieldStartTime),
			ask.Count())
	})
	// Output:
	// {2026-03-24 1}
	// {2026-03-30 1}
	// {2026-04-01 3}
}

// Weeks start on Monday.
func ExampleWeek() {
	type week struct {
		Monday       ask.Date
		Appointments int
	}
	show(func(ctx context.Context, client *ent.Client, zone *time.Location) ([]week, error) {
		return ask.Group[week](ctx,
			client.Appointment.Query().Where(ask.During(zone, appointment.FieldStartTime, from.AddDays(-14), to.AddDays(14))),
			ask.Week(appointment.FieldStartTime),
			ask.Count())
	})
	// Output:
	// {2026-03-09 2}
	// {2026-03-16 1}
	// {2026-03-23 1}
	// {2026-03-30 9}
	// {2026-04-06 9}
	// {2026-04-13 2}
}

// Both a time and a date have a month.
func ExampleMonth() {
	type month struct {
		Month    ask.Date
		Invoices int
		Amount   ask.Decimal
	}
	show(func(ctx context.Context, client *ent.Client, zone *time.Location) ([]month, error) {
		return ask.Group[month](ctx,
			client.Invoice.Query().Where(invoice.StatusNEQ(schema.InvoiceVoid), ask.During(zone, invoice.FieldDatedOn, from.AddMonths(-1), to.AddMonths(1))),
			ask.Month(invoice.FieldDatedOn),
			ask.Count(),
			ask.Sum(invoice.FieldAmount))
	})
	// Output:
	// {2026-02-01 1 449.00}
	// {2026-03-01 9 1257.85}
	// {2026-04-01 11 923.30}
	// {2026-05-01 1 65.00}
}

// Quarters are those of the calendar year.
func ExampleQuarter() {
	type quarter struct {
		Quarter      ask.Date
		Appointments int
	}
	show(func(ctx context.Context, client *ent.Client, _ *time.Location) ([]quarter, error) {
		return ask.Group[quarter](ctx, client.Appointment.Query(), ask.Quarter(appointment.FieldStartTime), ask.Count())
	})
	// Output:
	// {2025-07-01 100}
	// {2025-10-01 68}
	// {2026-01-01 80}
	// {2026-04-01 68}
	// {2026-07-01 70}
	// {2026-10-01 22}
	// {2027-01-01 6}
}

// Rate divides sums as well as counts, without floats.
func ExampleRate() {
	type paid struct {
		Invoices ask.Ratio
		Amount   ask.Ratio
	}
	show(func(ctx context.Context, client *ent.Client, _ *time.Location) ([]paid, error) {
		return ask.Group[paid](ctx,
			client.Invoice.Query().Where(invoice.StatusNEQ(schema.InvoiceVoid)),
			ask.Share(invoice.Paid(true)),
			ask.Rate(ask.Sum(invoice.FieldAmount, invoice.Paid(true)), ask.Sum(invoice.FieldAmount)))
	})
	// Output:
	// {93.33% 95.22%}
}

// A day has a first instant in the practice's time zone, and an instant has a day.
func ExampleDate() {
	p := yourPractice()
	defer p.Close()
	sunday := ask.Date{Year: 2026, Month: time.March, Day: 29} // the clocks go forward
	begins, ends := sunday.In(p.Zone), sunday.AddDays(1).In(p.Zone)
	fmt.Println(begins.UTC(), "lasts", ends.Sub(begins))
	fmt.Println(ask.DateOf(time.Date(2026, time.March, 30, 23, 30, 0, 0, time.UTC).In(p.Zone)))
	fmt.Println(sunday.Weekday(), sunday.AddMonths(1), sunday.Before(sunday.AddDays(1)))
	// Output:
	// 2026-03-29 00:00:00 +0000 UTC lasts 23h0m0s
	// 2026-03-31
	// Sunday 2026-04-29 true
}
