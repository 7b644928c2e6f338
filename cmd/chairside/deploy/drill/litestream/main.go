// Command litestream loses the machine of an embedded database under load and brings the database back
// from Litestream's copy, and fails if more is missing than the last moments:
//
//	go run ./cmd/chairside/deploy/drill/litestream
//
// A server, Litestream, and the directory that it copies to are on one machine. While a client books, both
// processes are killed, and the database is deleted. "litestream restore" gets the copy, "chairside
// restore" checks it and puts it in the database's place, and a server on it must hold each booking that
// was acknowledged longer before the kill than -loses. It needs Litestream, and takes less than a minute.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"chairside/cmd/chairside/deploy/drill/internal/drill"
)

var (
	program  = flag.String("litestream", "litestream", "Litestream's program")
	patients = flag.Int("patients", 500, "patients of each seeded practice")
	booking  = flag.Duration("booking", 10*time.Second, "how long the client books before the machine is lost")
	loses    = flag.Duration("loses", 5*time.Second, "bookings acknowledged this long before the loss must be in the copy; Litestream copies each second")
	limit    = flag.Duration("limit", 2*time.Minute, "the drill fails if it takes longer")
)

func main() { drill.MainWithProgram(limit, run) }

func run(ctx context.Context, program string) (err error) {
	dir, err := os.MkdirTemp("", "chairside-drill-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	d := &setting{dir: dir, server: &drill.Server{
		Program: program, Log: filepath.Join(dir, "server.log"),
		Environment: []string{"CHAIRSIDE_DATABASE_URL=sqlite:" + filepath.Join(dir, "data", "chairside.db"), "CHAIRSIDE_KEYS_FILE=" + filepath.Join(dir, "keys")},
	}}
	defer d.kill()
	return drill.Steps(ctx,
		drill.NewStep("practices, server, Litestream", d.start),
		drill.NewStep("the machine is lost under load", d.lose),
		drill.NewStep("litestream restore", d.fetch),
		drill.NewStep("chairside restore", d.restore),
		drill.NewStep("first request", d.firstRequest),
		drill.NewStep("bookings in the copy", d.compare),
	)
}

// setting is the server and Litestream beside it.
type setting struct {
	dir        string
	server     *drill.Server
	litestream *drill.Process
	booked     []acknowledged
	lost       time.Time
}

// acknowledged is a booking that the server has answered.
type acknowledged struct {
	id int64
	at time.Time
}

// kill ends both processes as a loss of power does.
func (d *setting) kill() {
	d.litestream.Stop(syscall.SIGKILL)
	d.server.Kill()
}

func (d *setting) path(name string) string { return filepath.Join(d.dir, name) }

// copies is where Litestream copies to.
func (d *setting) copies() string { return "file://" + d.path("copies") }

func (d *setting) start(ctx context.Context) (string, error) {
	if err := os.Mkdir(d.path("data"), 0o700); err != nil {
		return "", err
	}
	if _, err := d.server.Command(ctx, "keys", "create", d.path("keys")); err != nil {
		return "", err
	}
	if err := errors.Join(d.server.Prepare(ctx, *patients), d.server.Start(ctx)); err != nil {
		return "", err
	}
	replicate := exec.Command(*program, "replicate", d.path("data/chairside.db"), d.copies()) //nolint:noctx // it is killed
	var err error
	if d.litestream, err = drill.Start(replicate, d.path("litestream.log")); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d patients in each practice", *patients), nil
}

// lose kills both processes while a client books, and deletes the database.
func (d *setting) lose(ctx context.Context) (string, error) {
	ended := make(chan error, 1)
	go func() { ended <- d.book(ctx) }()
	select {
	case err := <-ended:
		return "", err
	case <-time.After(*booking):
	}
	if err := d.litestream.Err(); err != nil {
		return "", err
	}
	d.lost = time.Now()
	d.kill()
	if err := <-ended; err == nil { // the error of the booking that the kill cut off
		return "", errors.New("the server went on after it was killed")
	}
	return fmt.Sprintf("%d bookings were acknowledged", len(d.booked)), os.RemoveAll(d.path("data"))
}

// book books until the server does not answer.
func (d *setting) book(ctx context.Context) error {
	for {
		id, err := d.server.Book(ctx, len(d.booked))
		if err != nil {
			return err
		}
		d.booked = append(d.booked, acknowledged{id, time.Now()})
	}
}

func (d *setting) fetch(ctx context.Context) (string, error) {
	_, err := drill.Execute(ctx, "", nil, *program, "restore", "-o", d.path("copy.db"), d.copies())
	return "", err
}

func (d *setting) restore(ctx context.Context) (string, error) {
	if err := os.Mkdir(d.path("data"), 0o700); err != nil {
		return "", err
	}
	_, err := d.server.Command(ctx, "restore", d.path("copy.db"))
	return "every check passed", err
}

func (d *setting) firstRequest(ctx context.Context) (string, error) {
	if err := d.server.Start(ctx); err != nil {
		return "", err
	}
	_, err := d.server.Send(ctx, "GET", "/v1/patients?per_page=1", "", 200)
	return "GET /v1/patients: 200, with the server's start", err
}

// compare finds the bookings up to a moment shortly before the loss, and none missing between them.
func (d *setting) compare(ctx context.Context) (string, error) {
	held, err := d.server.Booked(ctx)
	if err != nil {
		return "", err
	}
	slices.Sort(held)
	for i, b := range d.booked {
		switch copied := i < len(held); {
		case copied && held[i] != b.id:
			return "", fmt.Errorf("booking %d is missing before later ones", b.id)
		case !copied && d.lost.Sub(b.at) > *loses:
			return "", fmt.Errorf("booking %d, acknowledged %s before the loss, is missing", b.id, d.lost.Sub(b.at).Round(time.Millisecond))
		}
	}
	if len(held) == len(d.booked) {
		return fmt.Sprintf("all %d", len(held)), nil
	}
	return fmt.Sprintf("%d of %d; the first missing one was acknowledged %s before the loss", len(held), len(d.booked), d.lost.Sub(d.booked[len(held)].at).Round(time.Millisecond)), nil
}
