package ask_test

import (
	"cmp"
	"context"
	"fmt"
	"log"

	"chairside/ent"
	"chairside/ent/acquisitionsource"
	"chairside/ent/appointment"
	"chairside/ent/patient"
	"chairside/schema"
	"chairside/schema/ask"
)

// The no-show rate by source and month: the source is two references away from the
// appointment, and months are those of the practice's time zone.
func Example_noShowRate() {
	p, ctx := yourPractice(), context.Background()
	defer p.Close()
	type rate struct {
		Source  string
		Month   ask.Date
		NoShows ask.Ratio
	}
	var rates []rate
	err := p.View(ctx, func(ctx context.Context, client *ent.Client) (err error) {
		rates, err = ask.Group[rate](ctx,
			client.Appointment.Query().Where(
				appointment.PatientIDNotNil(),
				appointment.StateNEQ(schema.Cancelled),
				ask.During(p.Zone, appointment.FieldStartTime, ask.Date{Year: 2026, Month: 3, Day: 1}, ask.Date{Year: 2026, Month: 4, Day: 30}),
			),
			ask.By(appointment.FieldPatientID, patient.FieldAcquisitionSourceID, acquisitionsource.FieldName),
			ask.Month(appointment.FieldStartTime),
			ask.Share(appointment.StateEQ(schema.DidNotAttend)))
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range rates {
		fmt.Printf("%-24s %s %6s of %d\n", cmp.Or(r.Source, "Not recorded"), r.Month, r.NoShows, r.NoShows.Whole)
	}
	// Output:
	// Local newspaper          2026-03-01  0.00% of 3
	// NHS website              2026-04-01  0.00% of 4
	// Recommended by a patient 2026-03-01  0.00% of 1
	// Recommended by a patient 2026-04-01  0.00% of 2
	// Social media             2026-03-01  0.00% of 1
	// Social media             2026-04-01  0.00% of 3
	// Walked past              2026-04-01 50.00% of 2
	// Élan Vital open day      2026-04-01  0.00% of 2
	// Not recorded             2026-03-01  0.00% of 4
	// Not recorded             2026-04-01  0.00% of 4
}
