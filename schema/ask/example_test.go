package ask_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"testing"

	"chairside/ent"
	"chairside/ent/invoice"
	"chairside/ent/nhsclaim"
	"chairside/ent/patient"
	"chairside/internal/civil"
	"chairside/internal/seed"
	"chairside/internal/store"
	"chairside/schema"
	"chairside/schema/ask"
)

// A question that no report answers: who came through an NHS claim, is due for
// an examination, and may be reached by text message? And how is what was
// invoiced lately spread over the states of invoices?
func Example() {
	ctx := context.Background()
	url, remove := demo(ctx) // yours is there already
	defer remove()

	p, err := ask.Open(ctx, url, "demo")
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()

	today := civil.MustParse("2026-07-01")
	err = p.View(ctx, func(ctx context.Context, client *ent.Client) error {
		due, err := client.Patient.Query().
			Where(
				patient.Active(true),
				patient.UseSms(true),
				patient.DentistRecallDateLTE(today),
				patient.HasClaimsWith(nhsclaim.ClaimStatusEQ(schema.ClaimCompleted)),
			).
			Count(ctx)
		if err != nil {
			return err
		}
		fmt.Println("to be sent a text message:", due)

		var sums []struct {
			Status schema.InvoiceStatus
			Count  int
			Sum    int64 // hundredths
		}
		err = client.Invoice.Query().
			Where(invoice.DatedOnGTE(today.AddMonths(-3)), invoice.DatedOnLT(today)).
			Order(invoice.ByStatus()).
			GroupBy(invoice.FieldStatus).
			Aggregate(ent.Count(), ent.Sum(invoice.FieldAmount)).
			Scan(ctx, &sums)
		for _, s := range sums {
			fmt.Printf("%-9s %3d invoices %6d.%02d\n", s.Status, s.Count, s.Sum/100, s.Sum%100)
		}
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// to be sent a text message: 4
	// new         1 invoices    107.55
	// paid       21 invoices   1288.70
	// sent        2 invoices    139.50
}

// demo makes a small database.
func demo(ctx context.Context) (url string, remove func()) {
	dir, err := os.MkdirTemp("", "chairside-ask-*")
	if err != nil {
		log.Fatal(err)
	}
	url = "sqlite:" + filepath.Join(dir, "demo.db")
	db, err := store.Open(ctx, url)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Migrate(ctx); err != nil {
		log.Fatal(err)
	}
	if err := seed.Run(ctx, db, seed.Options{Patients: 60, Years: 1, RandomSeed: 1, AsOf: civil.MustParse("2026-07-01")}); err != nil {
		log.Fatal(err)
	}
	return url, func() { os.RemoveAll(dir) }
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	url, remove := demo(t.Context())
	defer remove()
	if _, err := ask.Open(t.Context(), url, "nobody"); !errors.Is(err, ask.ErrNoPractice) {
		t.Errorf("a practice that is not there: %v", err)
	}
	if _, err := ask.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "empty.db"), "demo"); !errors.Is(err, store.ErrPending) {
		t.Errorf("a database without tables: %v", err)
	}
	p, err := ask.Open(t.Context(), url, "second")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	err = p.View(t.Context(), func(ctx context.Context, client *ent.Client) error {
		return client.Patient.Update().SetActive(false).Exec(ctx)
	})
	var still int
	err = errors.Join(err, p.View(t.Context(), func(ctx context.Context, client *ent.Client) (err error) {
		still, err = client.Patient.Query().Where(patient.Active(true)).Count(ctx)
		return err
	}))
	if still == 0 {
		t.Errorf("a view has written: %v", err)
	}
}
