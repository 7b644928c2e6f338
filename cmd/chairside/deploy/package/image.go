package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// user is the user and group of the image: not root, and the number that such images use.
const user = "65532:65532"

// image writes an image from scratch as an OCI archive. It holds the program, and the
// certificates of this machine for webhooks; time zones are in the program. Its data belong in
// the volume /data.
func (b *build) image(ctx context.Context, archive string) (err error) {
	certificates, err := os.ReadFile("/etc/ssl/certs/ca-certificates.crt")
	if err != nil {
		return fmt.Errorf("the image needs the package ca-certificates: %w", err)
	}
	root, owned := filepath.Join(b.dir, "root"), filepath.Join(b.dir, "owned")
	for _, dir := range []string{filepath.Join(root, "etc/ssl/certs"), filepath.Join(owned, "data")} {
		if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // others read it in the container
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(root, "etc/ssl/certs/ca-certificates.crt"), certificates, 0o644); err != nil { //nolint:gosec // as above
		return err
	}
	if err := os.Link(filepath.Join(b.dir, "chairside"), filepath.Join(root, "chairside")); err != nil {
		return err
	}

	store := filepath.Join(b.dir, "containers")
	buildah := func(arguments ...string) (string, error) {
		command := exec.CommandContext(ctx, "buildah", append([]string{"--storage-driver", "vfs", "--root", store, "--runroot", store + "-run"}, arguments...)...) //nolint:gosec // constants
		command.Stderr = &strings.Builder{}
		output, err := command.Output()
		if err != nil {
			err = fmt.Errorf("buildah %s: %w\n%s", arguments[0], err, command.Stderr)
		}
		return strings.TrimSpace(string(output)), err
	}
	container, err := buildah("from", "--arch", b.arch, "scratch")
	if err != nil {
		return err
	}
	defer func() {
		_, rmErr := buildah("rm", container)
		err = errors.Join(err, rmErr)
	}()
	layout, seconds := filepath.Join(b.dir, "layout"), fmt.Sprint(b.committed.Unix())
	for _, arguments := range [][]string{
		{"copy", container, root, "/"},
		{"copy", "--chown", user, container, owned, "/"}, // buildah changes the owner of a directory's content, not of the directory
		{
			"config", "--arch", b.arch, "--user", user, "--workingdir", "/data", "--volume", "/data", "--port", "8080",
			"--entrypoint", `["/chairside"]`, "--cmd", "serve", "--stop-signal", "SIGTERM",
			"--env", "CHAIRSIDE_ADDR=0.0.0.0:8080", "--env", "CHAIRSIDE_DATABASE_URL=sqlite:/data/chairside.db",
			"--label", "org.opencontainers.image.title=chairside", "--label", "org.opencontainers.image.version=" + b.version, container,
		},
		{"commit", "--timestamp", seconds, container, "oci:" + layout + ":chairside:" + b.version},
	} {
		if _, err := buildah(arguments...); err != nil {
			return err
		}
	}
	// buildah's own archives differ in the times of their files.
	if output, err := exec.CommandContext(ctx, "tar", "--create", "--file", archive, "--directory", layout, "--sort=name", "--format=ustar",
		"--mtime=@"+seconds, "--owner=0", "--group=0", "--numeric-owner", ".").CombinedOutput(); err != nil { //nolint:gosec // constants
		return fmt.Errorf("tar: %w\n%s", err, output)
	}
	return nil
}
