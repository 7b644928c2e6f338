// Command restore deletes a practice's records by mistake and brings them back from pgBackRest's
// archive, as they were a second before, and fails if anything is missing:
//
//	go run ./cmd/chairside/deploy/drill/restore
//
// Everything runs on loopback: PostgreSQL with a pgBackRest repository, and a server. A full backup is
// made, then clients book. A deletion by SQL follows at a known time, and more bookings after it.
// The cluster is lost and restored to the second before the deletion. "chairside restore-check" must
// find it whole, and a server on it must hold each booking from before the deletion, and none of
// those after it. It needs pgBackRest and PostgreSQL, and takes less than a minute.
package main

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"time"

	"chairside/cmd/chairside/deploy/drill/internal/drill"
	"chairside/internal/test/localpg"
)

var (
	patients = flag.Int("patients", 500, "patients of each seeded practice")
	bookings = flag.Int("bookings", 50, "bookings before the deletion, and again after it")
	limit    = flag.Duration("limit", 2*time.Minute, "the drill fails if it takes longer")
)

func main() { drill.MainWithProgram(limit, run) }

func run(ctx context.Context, program string) (err error) {
	dir, err := os.MkdirTemp("", "chairside-drill-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.Chmod(dir, 0o711); err != nil { // PostgreSQL's account enters it
		return err
	}
	d := &setting{dir: dir, server: &drill.Server{Program: program, Log: filepath.Join(dir, "server.log")}}
	defer func() { err = errors.Join(err, d.stop()) }()

	return drill.Steps(ctx,
		drill.NewStep("PostgreSQL, archive, practices, server", d.start),
		drill.NewStep("full backup", d.fullBackup),
		drill.NewStep("bookings", d.bookBefore),
		drill.NewStep("deletion by mistake", d.destroy),
		drill.NewStep("bookings after the deletion", d.bookAfter),
		drill.NewStep("the cluster is lost", d.lose),
		drill.NewStep("restore to a second before", d.restore),
		drill.NewStep("chairside restore-check", d.check),
		drill.NewStep("first request", d.firstRequest),
		drill.NewStep("all bookings from before", d.compare),
	)
}

// setting is the database, its archive and the server on it.
type setting struct {
	dir      string
	archive  *archive
	postgres *localpg.Server
	server   *drill.Server
	booked   []int64   // ids, before the deletion
	before   time.Time // the time to restore to
}

// stop ends all processes.
func (d *setting) stop() error {
	err := d.server.Stop()
	if d.postgres != nil {
		err = errors.Join(err, d.postgres.Stop())
	}
	return err
}
