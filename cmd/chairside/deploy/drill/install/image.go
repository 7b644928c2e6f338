package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"chairside/cmd/chairside/deploy/drill/internal/drill"
)

// descriptor names a blob of an image (OCI Image Specification 1.1).
type descriptor struct{ Digest string }

// path returns the file of the blob in a layout.
func (d descriptor) path(layout string) string {
	return filepath.Join(layout, "blobs", strings.ReplaceAll(d.Digest, ":", string(filepath.Separator)))
}

// imageSettings are what the configuration of an image tells a container runtime.
type imageSettings struct {
	User, WorkingDir     string
	Env, Entrypoint, Cmd []string
}

// imageStarts runs the image as a container runtime does, with a root that is read-only but for /data: it serves
// and books, as a user without rights.
func imageStarts(ctx context.Context, archive, dir string) (err error) {
	settings, err := unpackImage(ctx, archive, dir)
	if err != nil {
		return err
	}
	command := slices.Concat(settings.Entrypoint, settings.Cmd)
	user, _, _ := strings.Cut(settings.User, ":")
	id, err := strconv.ParseUint(user, 10, 32)
	if err != nil || id == 0 || !slices.Equal(command, []string{"/chairside", "serve"}) {
		return fmt.Errorf("the image runs %q as the user %q", command, settings.User)
	}
	data := filepath.Join(dir, "data")
	for _, arguments := range [][]string{{"--bind", dir, dir}, {"--bind", data, data}, {"--options", "remount,bind,ro", dir}} {
		if _, err := drill.Execute(ctx, ".", nil, "mount", arguments...); err != nil {
			return err
		}
	}
	defer func() {
		_, unmounting := drill.Execute(context.WithoutCancel(ctx), ".", nil, "umount", "--recursive", dir)
		err = errors.Join(err, unmounting)
	}()
	if err := os.WriteFile(filepath.Join(dir, "written"), nil, 0o600); err == nil {
		return errors.New("the root of the image is not read-only")
	}

	address, err := drill.FreeAddress(ctx)
	if err != nil {
		return err
	}
	container := &root{
		dir: dir, url: "http://" + address, environment: append(settings.Env, "CHAIRSIDE_ADDR="+address),
		binary: command[0], home: settings.WorkingDir, user: uint32(id),
	}
	if err := container.start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, container.stop()) }()
	token, err := container.provision(ctx)
	if err != nil {
		return err
	}
	clients, err := startClients(ctx, container.url, token)
	if err != nil {
		return err
	}
	defer clients.stop()
	if err := drill.Pause(ctx, 2*time.Second); err != nil {
		return err
	}
	clients.stop()
	if err := clients.verify(ctx); err != nil {
		return err
	}
	step("started the image, its root read-only", fmt.Sprintf("user %d, %d bookings", id, clients.booked.Load()))
	return nil
}

// unpackImage unpacks an OCI archive of one image to a directory.
func unpackImage(ctx context.Context, archive, dir string) (*imageSettings, error) {
	layout := dir + "-layout"
	if err := errors.Join(os.Mkdir(dir, 0o755), os.Mkdir(layout, 0o700)); err != nil { //nolint:gosec // the image's user reads it
		return nil, err
	}
	if _, err := drill.Execute(ctx, ".", nil, "tar", "--extract", "--file", archive, "--directory", layout); err != nil {
		return nil, err
	}
	var index struct{ Manifests []descriptor }
	if err := readJSON(filepath.Join(layout, "index.json"), &index); err != nil {
		return nil, err
	}
	if len(index.Manifests) != 1 {
		return nil, fmt.Errorf("the archive has %d images, want 1", len(index.Manifests))
	}
	var manifest struct {
		Config descriptor
		Layers []descriptor
	}
	if err := readJSON(index.Manifests[0].path(layout), &manifest); err != nil {
		return nil, err
	}
	for _, layer := range manifest.Layers {
		if _, err := drill.Execute(ctx, ".", nil, "tar", "--extract", "--numeric-owner", "--file", layer.path(layout), "--directory", dir); err != nil {
			return nil, err
		}
	}
	var image struct{ Config imageSettings }
	return &image.Config, readJSON(manifest.Config.path(layout), &image)
}

// readJSON reads a file into value.
func readJSON(file string, value any) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return json.Unmarshal(content, value)
}
