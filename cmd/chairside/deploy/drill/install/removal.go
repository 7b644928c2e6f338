package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"chairside/cmd/chairside/deploy/drill/internal/drill"
)

// expect fails unless the service is enabled, or is not, and the database is there.
func (r *root) expect(after string, enabled bool) error {
	_, err := os.Lstat(filepath.Join(r.dir, "etc/systemd/system/multi-user.target.wants/chairside.service"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if enabled != (err == nil) {
		return fmt.Errorf("after %s: the service is enabled: %t, want %t", after, err == nil, enabled)
	}
	if _, err := os.Stat(filepath.Join(r.dir, "var/lib/chairside/chairside.db")); err != nil {
		return fmt.Errorf("after %s: %w", after, err)
	}
	return nil
}

// turn is a command of root in the installation, and whether the service is enabled after it.
type turn struct {
	name    string
	command []string
	enabled bool
}

// take runs commands and checks the service after each.
func (r *root) take(ctx context.Context, turns []turn) error {
	for _, t := range turns {
		if _, err := r.chroot(ctx, t.command...); err != nil {
			return err
		}
		if err := r.expect(t.name, t.enabled); err != nil {
			return err
		}
	}
	return nil
}

var (
	enable  = []string{"systemctl", "enable", "chairside.service"}
	disable = []string{"systemctl", "disable", "chairside.service"}
)

// removeDeb removes the package, installs it again, and upgrades it while an administrator has the
// service disabled.
func (r *root) removeDeb(ctx context.Context, deb string) error {
	if err := r.expect("an upgrade", true); err != nil {
		return err
	}
	if err := r.take(ctx, []turn{{"a removal", []string{"dpkg", "--remove", "chairside"}, false}}); err != nil {
		return err
	}
	if err := r.install(ctx, deb); err != nil {
		return err
	}
	if err := r.expect("a removal and an installation", true); err != nil {
		return err
	}
	if err := r.take(ctx, []turn{{"disabling", disable, false}}); err != nil {
		return err
	}
	if err := r.install(ctx, deb); err != nil {
		return err
	}
	if err := r.expect("an upgrade while it was disabled", false); err != nil {
		return err
	}
	return r.take(ctx, []turn{{"a purge", []string{"dpkg", "--purge", "chairside"}, false}})
}

// replaceByRPM installs, upgrades and removes the .rpm, in an installation without the .deb.
func (r *root) replaceByRPM(ctx context.Context, deb, rpm string) error {
	if err := sameFiles(ctx, deb, rpm); err != nil {
		return err
	}
	// rpm runs the scripts in the installation; what they need is there without a .rpm that says so.
	manage := func(after string, enabled bool, arguments ...string) error {
		arguments = append([]string{"SYSTEMD_OFFLINE=1", "rpm", "--root", r.dir, "--dbpath", "/var/lib/rpm"}, arguments...)
		if output, err := drill.Execute(ctx, ".", nil, "env", arguments...); err != nil {
			return fmt.Errorf("%s: %w\n%s", after, err, output) // --verify names the files on standard output
		}
		return r.expect(after, enabled)
	}
	if err := manage("the installation of the .rpm", true, "--install", "--nodeps", rpm); err != nil {
		return err
	}
	if err := manage("the check of the installed files", true, "--verify", "--nodeps", "chairside"); err != nil {
		return err
	}
	if _, err := r.command(ctx, "", "version"); err != nil {
		return err
	}
	if err := r.take(ctx, []turn{{"disabling", disable, false}}); err != nil {
		return err
	}
	if err := manage("an upgrade while it was disabled", false, "--upgrade", "--replacepkgs", "--nodeps", rpm); err != nil {
		return err
	}
	if err := r.take(ctx, []turn{{"enabling", enable, true}}); err != nil {
		return err
	}
	return manage("the removal of the .rpm", false, "--erase", "--nodeps", "chairside")
}

// sameFiles fails unless two packages have the same files, with the same modes and owners.
func sameFiles(ctx context.Context, deb, rpm string) error {
	inDeb, err := drill.Execute(ctx, ".", nil, "dpkg-deb", "--contents", deb)
	if err != nil {
		return err
	}
	inRPM, err := drill.Execute(ctx, ".", nil, "rpm", "--query", "--list", "--verbose", "--package", rpm)
	if err != nil {
		return err
	}
	one := files(inDeb, func(f []string) string { return f[0] + " " + f[1] + " " + strings.TrimPrefix(f[len(f)-1], ".") })
	other := files(inRPM, func(f []string) string { return f[0] + " " + f[2] + "/" + f[3] + " " + f[len(f)-1] })
	if len(one) == 0 || !slices.Equal(one, other) {
		return fmt.Errorf("the .deb and the .rpm have different files:\n%s\n\n%s", strings.Join(one, "\n"), strings.Join(other, "\n"))
	}
	return nil
}

// files returns the form of each line of a listing that is about a file, in order. It skips
// directories, because the .rpm does not list the system's.
func files(listing string, form func(fields []string) string) (all []string) {
	for line := range strings.Lines(listing) {
		if fields := strings.Fields(line); len(fields) > 4 && fields[0][0] == '-' {
			all = append(all, form(fields))
		}
	}
	slices.Sort(all)
	return all
}
