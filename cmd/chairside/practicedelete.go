package main

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/practice"
	"chairside/ent/practicedeletion"
	"chairside/internal/clock"
	"chairside/internal/closure"
	"chairside/internal/config"
	"chairside/internal/principal"
	"chairside/internal/store"
	"chairside/internal/subject"
)

type practiceList struct {
	config.Database
	listing
}

// Run prints the practices, one per line, then those that were deleted.
func (p *practiceList) Run(c *console) error {
	return c.withDatabase(p.Database, func(db *store.DB) error {
		system := principal.AsSystem(c)
		all, err := db.Ent.Practice.Query().Order(practice.ByCreatedAt(), practice.ByID()).All(system)
		if err != nil {
			return err
		}
		deletions, err := db.Ent.PracticeDeletion.Query().Order(practicedeletion.ByDeletedAt()).All(system)
		if err != nil {
			return err
		}
		var gone []*ent.PracticeDeletion
		began := map[uuid.UUID]bool{}
		for _, d := range deletions {
			began[d.ID] = d.BeganAt != nil
			if d.DeletedAt != nil {
				gone = append(gone, d)
			}
		}
		var cells [][]any
		for _, row := range all {
			cells = append(cells, []any{row.ID, row.Slug, row.Name, practiceState(c, row, began[row.ID])})
		}
		for _, row := range gone {
			state := "deleted " + row.DeletedAt.UTC().Format(time.RFC3339)
			if row.KeptElsewhere != "" {
				state += ", records kept elsewhere: " + row.KeptElsewhere
			}
			cells = append(cells, []any{row.ID, nil, nil, state})
		}
		return p.print(c, []string{"ID", "SHORT NAME", "NAME", "STATE"}, cells)
	})
}

// practiceState says whether a practice closes, and whether its deletion began.
func practiceState(ctx context.Context, row *ent.Practice, began bool) string {
	switch {
	case row.ClosesAt == nil:
		return "open"
	case clock.Now(ctx).Before(*row.ClosesAt):
		return "closes " + row.ClosesAt.UTC().Format(time.RFC3339)
	case !began:
		return "closed, not deleted yet"
	}
	return "being deleted"
}

type practiceDelete struct {
	config.DeletePracticeFlags
	confirmation
}

// Help is the text of --help.
func (practiceDelete) Help() string {
	return `Until the practice closes, it works as before, its managers see the day on every settings page, and "chairside practice keep" cancels the deletion. From then on no one can sign in, tokens are refused, and the server deletes all rows of the practice in the background, unless records have changed since. This cannot be undone. Only the practice's id, the times, and the text of --records-kept-elsewhere stay.

Refuses while the law or a legal hold keeps patients' records (see "chairside practice retention"), unless --records-kept-elsewhere says where they are. Export the practice first, with "chairside export --practice". If a patient's record changes before the practice closes, nothing is deleted: export the closed practice, then confirm with the same command. Backups still contain the practice.

On PostgreSQL, run the command as the tables' owner.`
}

var (
	errMustBeKept = errors.New("nothing was changed: say with --records-kept-elsewhere where the records are")
)

// Run schedules the deletion, after saying what it means.
func (p *practiceDelete) Run(c *console) error {
	flags, err := p.Read()
	if err != nil {
		return err
	}
	return c.withDatabase(flags.Database, func(db *store.DB) error {
		practice, err := findPractice(c, db.Ent, flags.Practice)
		if err != nil {
			return err
		}
		ctx, err := c.actFor(practice)
		if err != nil {
			return err
		}
		closed := practice.ClosesAt != nil && !clock.Now(ctx).Before(*practice.ClosesAt)
		if practice.ClosesAt != nil && !closed {
			return fmt.Errorf("%w: it %s", closure.ErrScheduled, practiceState(ctx, practice, false))
		}
		rows, err := closure.Count(c, db, practice.ID)
		if err != nil {
			return err
		}
		table := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "GOES\tROWS")
		for _, r := range rows {
			fmt.Fprintf(table, "%s\t%d\n", r.Table, r.Rows)
		}
		if err := table.Flush(); err != nil {
			return err
		}
		kept, err := subject.KeptRecords(ctx, db, practice)
		if err != nil {
			return err
		}
		fmt.Fprintln(c.out, kept)
		if kept.Any() && flags.KeptElsewhere == "" {
			return errMustBeKept
		}
		due := clock.Now(ctx).AddDate(0, 0, flags.GraceDays)
		means := fmt.Sprintf("This closes %s on %s and then deletes everything above for good.", practice.Name, due.UTC().Format(time.RFC3339))
		if closed {
			means = practice.Name + " is closed. This deletes everything above for good."
		}
		if err := p.confirmDeletion(c, means); err != nil {
			return err
		}
		if err := closure.Schedule(c, db, practice.ID, due, flags.KeptElsewhere); err != nil {
			return err
		}
		if closed {
			fmt.Fprintf(c.out, "The deletion of %s begins within three minutes, unless records have changed again\n", practice.Name)
			return nil
		}
		fmt.Fprintf(c.out, "%s closes %s; \"chairside practice keep %s\" cancels that\n", practice.Name, due.UTC().Format(time.RFC3339), practice.Slug)
		return nil
	})
}

type practiceKeep struct {
	config.Database
	Practice string `arg:"" help:"Practice: its id or its short name."`
}

// Run cancels the deletion, also of a closed practice whose deletion has not begun.
func (p *practiceKeep) Run(c *console) error {
	return c.withDatabase(p.Database, func(db *store.DB) error {
		practice, err := findPractice(c, db.Ent, p.Practice)
		if err != nil {
			return err
		}
		if err := closure.Cancel(c, db, practice.ID); err != nil {
			return err
		}
		fmt.Fprintf(c.out, "%s stays open\n", practice.Name)
		return nil
	})
}
