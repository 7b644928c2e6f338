// Command install builds the packages twice, installs the .deb of the last release in a clean Debian,
// and upgrades it while clients book:
//
//	go run ./cmd/chairside/deploy/drill/install
//
// The last release is the newest tag (v…) before the last commit. Without a tag it installs the last commit
// itself; the upgrade is the last commit with one more migration.
//
// It fails if the same commit gives different bytes in another directory, or if a booking that was
// acknowledged is missing or there twice. It unpacks the image and starts it without a container runtime, as its user
// and with a read-only root. The service runs as an unprivileged user with the settings of
// the package, in the directory of the installation (chroot). A single server cannot be upgraded without a
// pause: clients repeat what got no response, with the same Idempotency-Key. Then it removes the package and
// installs it again, and does the same with the .rpm, which must install the same files. Finally it boots the
// Debian under systemd, where the machine can (systemd-nspawn): the service must start without root's rights,
// come back when it is killed, and drain when it is stopped. It needs mmdebstrap, buildah, rpm,
// systemd-container and root, and takes about three minutes, or five with a release.
//
//	main.go     the steps
//	root.go     the installation
//	image.go    the image for containers, started as a container runtime does
//	removal.go  what becomes of the service and the data when packages come and go
//	boot.go     the service under systemd
//	clients.go  the clients
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"chairside/cmd/chairside/deploy/drill/internal/drill"
)

var limit = flag.Duration("limit", 15*time.Minute, "the drill fails if it takes longer")

func main() { drill.Main(limit, run) }

// newerMigration is what the newer program adds to an embedded database.
const newerMigration = "ALTER TABLE `appointments` ADD COLUMN `drill` bool NULL;\n"

func run(ctx context.Context) (err error) {
	if os.Getuid() != 0 {
		return errors.New("the drill installs a package: run it as root")
	}
	dir, err := os.MkdirTemp("", "chairside-install-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()

	fmt.Println("step                                     result")
	first, err := packages(ctx, dir, "first", "HEAD")
	if err != nil {
		return err
	}
	second, err := packages(ctx, dir, "second", "HEAD")
	if err != nil {
		return err
	}
	if !bytes.Equal(first.checksums, second.checksums) {
		return fmt.Errorf("the same commit gives different bytes:\n%s\n%s", first.checksums, second.checksums)
	}
	step("packages built twice", "the same bytes")
	if err := imageStarts(ctx, second.image, filepath.Join(dir, "image")); err != nil {
		return err
	}
	if err := second.addMigration(ctx); err != nil {
		return err
	}

	older, err := first.released(ctx, dir)
	if err != nil {
		return err
	}

	root, err := createRoot(ctx, filepath.Join(dir, "root"))
	if err != nil {
		return err
	}
	if err := root.install(ctx, older.deb); err != nil {
		return err
	}
	step("installed in a clean Debian", filepath.Base(older.deb))
	if err := root.start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.stop()) }()
	token, err := root.provision(ctx)
	if err != nil {
		return err
	}
	clients, err := startClients(ctx, root.url, token)
	if err != nil {
		return err
	}
	defer clients.stop()
	time.Sleep(3 * time.Second)
	step("started and booked", fmt.Sprintf("%d bookings", clients.booked.Load()))

	if err := root.install(ctx, second.deb); err != nil {
		return err
	}
	stopped := time.Now()
	if err := errors.Join(root.stop(), root.start(ctx)); err != nil {
		return err
	}
	pause := time.Since(stopped)
	version, err := root.command(ctx, "", "version")
	if err != nil {
		return err
	}
	time.Sleep(3 * time.Second)
	clients.stop()
	step("upgraded under load", fmt.Sprintf("%s; no server for %.1f s", strings.Fields(version)[1], pause.Seconds()))
	if err := clients.verify(ctx); err != nil {
		return err
	}
	step("every booking is there once", fmt.Sprintf("%d bookings, %d requests repeated", clients.booked.Load(), clients.repeated.Load()))
	if err := root.stop(); err != nil {
		return err
	}
	if err := root.removeDeb(ctx, second.deb); err != nil {
		return err
	}
	step("removed and installed again", "the service is enabled, the data are there")
	if err := root.replaceByRPM(ctx, second.deb, second.rpm); err != nil {
		return err
	}
	step("the .rpm in place of the .deb", "the same files, owners and states of the service")
	if err := root.install(ctx, second.deb); err != nil {
		return err
	}
	return root.underSystemd(ctx, clients)
}

func step(name, result string) { fmt.Printf("%-40s %s\n", name, result) }

// packaged is a clone of the repository and the packages built from it.
type packaged struct {
	repository, deb, rpm, image string
	checksums                   []byte
}

// packages clones a revision of the repository to a directory of its own and builds the packages.
func packages(ctx context.Context, dir, name, revision string) (*packaged, error) {
	p := &packaged{repository: filepath.Join(dir, name)}
	if _, err := drill.Execute(ctx, ".", nil, "git", "clone", "--quiet", ".", p.repository); err != nil {
		return nil, err
	}
	if _, err := drill.Execute(ctx, p.repository, nil, "git", "checkout", "--quiet", "--detach", revision); err != nil {
		return nil, err
	}
	return p, p.build(ctx)
}

// released builds the packages of the last release. Without a release it returns p.
func (p *packaged) released(ctx context.Context, dir string) (*packaged, error) {
	tag, err := lastTag(ctx, p.repository)
	switch {
	case err != nil:
		return nil, err
	case tag == "":
		return p, nil
	}
	return packages(ctx, dir, "released", tag)
}

// lastTag returns the tag with the highest version before the last commit, or "" without one.
func lastTag(ctx context.Context, repository string) (string, error) {
	tags, err := drill.Execute(ctx, repository, nil, "git", "-c", "versionsort.suffix=-", "tag", "--list", "v[0-9]*", "--merged", "HEAD", "--no-contains", "HEAD", "--sort", "-version:refname")
	highest, _, _ := strings.Cut(strings.TrimSpace(tags), "\n")
	return highest, err
}

func (p *packaged) build(ctx context.Context) error {
	dist := filepath.Join(p.repository, "dist")
	if err := os.RemoveAll(dist); err != nil {
		return err
	}
	if _, err := drill.Execute(ctx, p.repository, nil, "go", "run", "./cmd/chairside/deploy/package", "-out", "dist"); err != nil {
		return err
	}
	for suffix, path := range map[string]*string{".deb": &p.deb, ".rpm": &p.rpm, ".oci.tar": &p.image} {
		found, err := filepath.Glob(filepath.Join(dist, "*"+suffix))
		if err != nil || len(found) != 1 {
			return errors.Join(err, fmt.Errorf("%d %s in %s, want 1", len(found), suffix, dist))
		}
		*path = found[0]
	}
	var err error
	p.checksums, err = os.ReadFile(filepath.Join(dist, "SHA256SUMS"))
	return err
}

// addMigration commits a migration to the clone, whose packages are then newer ones.
func (p *packaged) addMigration(ctx context.Context) error {
	file := filepath.Join(p.repository, "internal/store/migrate/migrations/sqlite/29990101000001_drill.sql")
	if err := os.WriteFile(file, []byte(newerMigration), 0o600); err != nil {
		return err
	}
	for _, command := range [][]string{
		{"go", "run", "./internal/store/migrate/diff", "-hash"},
		{"git", "add", "--all"},
		{"git", "-c", "user.name=drill", "-c", "user.email=drill@example.com", "commit", "--quiet", "--message", "migrate: add a column"},
	} {
		if _, err := drill.Execute(ctx, p.repository, nil, command[0], command[1:]...); err != nil {
			return err
		}
	}
	return p.build(ctx)
}
