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
	"fmt"
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

func main() { drill.Main(limit, run) }

// step does something and prints a line of the table.
func step(name string, do func() (string, error)) error {
	began := time.Now()
	result, err := do()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	fmt.Printf("%-38s %6.1fs  %s\n", name, time.Since(began).Seconds(), result)
	return nil
}

func run(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp("", "chairside-drill-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.Chmod(dir, 0o711); err != nil { // PostgreSQL's account enters it
		return err
	}
	d := &setting{dir: dir, program: filepath.Join(dir, "chairside")}
	defer func() { err = errors.Join(err, d.stop()) }()

	fmt.Println("step                                     time  result")
	for _, s := range []struct {
		name string
		do   func(context.Context) (string, error)
	}{
		{"PostgreSQL, archive, practices, server", d.start},
		{"full backup", d.fullBackup},
		{"bookings", d.bookBefore},
		{"deletion by mistake", d.destroy},
		{"bookings after the deletion", d.bookAfter},
		{"the cluster is lost", d.lose},
		{"restore to a second before", d.restore},
		{"chairside restore-check", d.check},
		{"first request", d.firstRequest},
		{"all bookings from before", d.compare},
	} {
		if err := step(s.name, func() (string, error) { return s.do(ctx) }); err != nil {
			return err
		}
	}
	return nil
}

// setting is the database, its archive and the server on it.
type setting struct {
	dir, program string
	archive      *archive
	postgres     *localpg.Server
	server       *server
	token        string
	booked       []int64   // ids, before the deletion
	before       time.Time // the time to restore to
}

// stop ends all processes.
func (d *setting) stop() error {
	err := d.server.stop()
	if d.postgres != nil {
		err = errors.Join(err, d.postgres.Stop())
	}
	return err
}
