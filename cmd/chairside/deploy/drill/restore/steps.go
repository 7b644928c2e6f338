package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"chairside/cmd/chairside/deploy/drill/internal/drill"
	"chairside/internal/store"
	"chairside/internal/test/localpg"
)

// database is the name of the database.
const database = "restore"

func (d *setting) start(ctx context.Context) (_ string, err error) {
	if d.archive, err = newArchive(d.dir); err != nil {
		return "", err
	}
	if d.postgres, err = localpg.StartIn(ctx, d.archive.cluster, d.archive.settings()...); err != nil {
		return "", err
	}
	if err := errors.Join(d.archive.configure(d.postgres), d.postgres.CreateDatabase(ctx, database)); err != nil {
		return "", err
	}
	if _, err := d.archive.run(ctx, "stanza-create"); err != nil {
		return "", err
	}
	d.connect()
	if _, err := d.server.Command(ctx, "keys", "create", filepath.Join(d.dir, "keys")); err != nil {
		return "", err
	}
	if err := d.server.Prepare(ctx, *patients); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d patients in each practice", *patients), d.server.Start(ctx)
}

// connect gives the program the database, whose port changes when PostgreSQL starts.
func (d *setting) connect() {
	d.server.Environment = []string{"CHAIRSIDE_DATABASE_URL=" + d.postgres.URL(database), "CHAIRSIDE_KEYS_FILE=" + filepath.Join(d.dir, "keys")}
}

func (d *setting) fullBackup(ctx context.Context) (string, error) {
	_, err := d.archive.run(ctx, "backup", "--type=full")
	return "pgbackrest backup --type=full", err
}

// book books as many slots as asked, from the given one on.
func (d *setting) book(ctx context.Context, from int) (ids []int64, err error) {
	for slot := from; slot < from+*bookings && err == nil; slot++ {
		var id int64
		id, err = d.server.Book(ctx, slot)
		ids = append(ids, id)
	}
	return ids, err
}

func (d *setting) bookBefore(ctx context.Context) (_ string, err error) {
	d.booked, err = d.book(ctx, 0)
	return fmt.Sprintf("%d, after the backup", len(d.booked)), err
}

// destroy waits a second first, to put time between the last booking and the deletion.
func (d *setting) destroy(ctx context.Context) (_ string, err error) {
	db, err := store.Open(ctx, d.postgres.URL(database))
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := db.SQL.QueryRowContext(ctx, "SELECT clock_timestamp() FROM pg_sleep(1)").Scan(&d.before); err != nil {
		return "", err
	}
	if _, err := db.SQL.ExecContext(ctx, "SELECT pg_sleep(1)"); err != nil {
		return "", err
	}
	deleted, err := db.SQL.ExecContext(ctx, "DELETE FROM appointments WHERE start_time >= $1", drill.FirstDay)
	if err != nil {
		return "", err
	}
	n, err := deleted.RowsAffected()
	return fmt.Sprintf("%d appointments, at %s", n, d.before.Add(time.Second).UTC().Format(time.TimeOnly)), err
}

func (d *setting) bookAfter(ctx context.Context) (string, error) {
	ids, err := d.book(ctx, *bookings)
	return fmt.Sprint(len(ids)), err
}

// lose stops the server and PostgreSQL, which archives its last segment, and removes the cluster's data.
func (d *setting) lose(ctx context.Context) (string, error) {
	if err := d.server.Stop(); err != nil {
		return "", err
	}
	if err := d.postgres.Stop(); err != nil {
		return "", err
	}
	data := filepath.Join(d.archive.cluster, "data")
	return "its data are deleted", exec.CommandContext(ctx, "find", data, "-mindepth", "1", "-delete").Run()
}

func (d *setting) restore(ctx context.Context) (_ string, err error) {
	if err := d.archive.restoreTo(ctx, d.before); err != nil {
		return "", err
	}
	if d.postgres, err = localpg.StartIn(ctx, d.archive.cluster, d.archive.settings()...); err != nil {
		return "", err
	}
	if err := d.archive.configure(d.postgres); err != nil { // on its new port
		return "", err
	}
	d.connect()
	return "to " + d.before.UTC().Format("15:04:05.000 UTC"), d.promoted(ctx)
}

// promoted waits until the server has replayed the archive and accepts writes.
func (d *setting) promoted(ctx context.Context) (err error) {
	db, err := store.Open(ctx, d.postgres.URL(database))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for replaying := true; replaying; {
		if err := db.SQL.QueryRowContext(ctx, "SELECT pg_is_in_recovery() FROM pg_sleep(0.05)").Scan(&replaying); err != nil {
			return err
		}
	}
	return nil
}

func (d *setting) check(ctx context.Context) (string, error) {
	output, err := d.server.Command(ctx, "restore-check", d.postgres.URL(database), "--format=json")
	if err != nil {
		return "", err
	}
	checks := strings.Count(output, `"result":"ok"`)
	return fmt.Sprintf("%d checks passed", checks), nil
}

func (d *setting) firstRequest(ctx context.Context) (string, error) {
	if err := d.server.Start(ctx); err != nil {
		return "", err
	}
	_, err := d.server.Send(ctx, http.MethodGet, "/v1/patients?per_page=1", "", http.StatusOK)
	return "GET /v1/patients: 200, with the server's start", err
}

// compare finds exactly the bookings from before the deletion.
func (d *setting) compare(ctx context.Context) (string, error) {
	held, err := d.server.Booked(ctx)
	if err != nil {
		return "", err
	}
	slices.Sort(held)
	slices.Sort(d.booked)
	if !slices.Equal(held, d.booked) {
		return "", fmt.Errorf("the server holds %d bookings, want %d: %v, want %v", len(held), len(d.booked), held, d.booked)
	}
	return fmt.Sprintf("%d of %d, and none from after", len(held), len(d.booked)), nil
}
