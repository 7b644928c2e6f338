package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// cyclonedx lists the modules that a program was built from, with their licences.
const cyclonedx = "github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0"

// maxProgram is the most bytes of the program, so that it grows only on purpose. What weighs in it is in
// internal/arch/decisions/0005-generated-code-size.md.
const maxProgram = 84_000_000

// build is a program and what its packages have in common.
type build struct {
	dir, arch string
	version   string    // without "v", as packages want it
	committed time.Time // the time of every file in a package
}

// buildProgram builds the program for one processor. It is linked statically and does not name
// the directory of its sources.
func buildProgram(ctx context.Context, dir, arch string) (*build, error) {
	program := filepath.Join(dir, "chairside")
	command := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w", "-o", program, "./cmd/chairside")
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch, "GOFLAGS=")
	if output, err := command.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the program: %w\n%s", err, output)
	}
	file, err := os.Stat(program)
	if err != nil {
		return nil, err
	}
	if file.Size() > maxProgram {
		return nil, fmt.Errorf("the program has %d bytes, more than %d: see what has grown with \"go tool nm -size -sort size\"", file.Size(), maxProgram)
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, err
	}
	b := &build{dir: dir, arch: arch, version: strings.TrimPrefix(info.Main.Version, "v")}
	for _, s := range info.Settings {
		if s.Key == "vcs.time" {
			b.committed, err = time.Parse(time.RFC3339, s.Value)
		}
	}
	if err == nil && b.committed.IsZero() {
		err = errors.New("the program was built without version information: package a clone of the repository")
	}
	return b, err
}

// describe writes the manual page, completion and list of components. A program for another
// processor cannot write them itself, so they come from one for this machine.
func (b *build) describe(ctx context.Context) error {
	writer := filepath.Join(b.dir, "chairside")
	if b.arch != runtime.GOARCH {
		if err := os.Mkdir(filepath.Join(b.dir, "native"), 0o700); err != nil {
			return err
		}
		native, err := buildProgram(ctx, filepath.Join(b.dir, "native"), runtime.GOARCH)
		if err != nil {
			return err
		}
		writer = filepath.Join(native.dir, "chairside")
	}
	for name, arguments := range map[string][]string{
		"chairside.1.gz": {"man"},
		"chairside.bash": {"completion", "bash"},
		"chairside.zsh":  {"completion", "zsh"},
		"chairside.fish": {"completion", "fish"},
	} {
		text, err := exec.CommandContext(ctx, writer, arguments...).Output() //nolint:gosec // the program that was just built
		if err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
		if arguments[0] == "man" {
			if text, err = compress(text); err != nil {
				return err
			}
		}
		if err := os.WriteFile(filepath.Join(b.dir, name), text, 0o600); err != nil {
			return err
		}
	}
	// A serial number or a timestamp would differ each time.
	return b.tool(ctx, cyclonedx, "bin", "-json", "-noserial", "-notimestamp", "-std", "-version", "v"+b.version,
		"-output", filepath.Join(b.dir, "chairside.cdx.json"), filepath.Join(b.dir, "chairside"))
}

// compress returns text as gzip does, without a time.
func compress(text []byte) ([]byte, error) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write(text)
	err = errors.Join(err, w.Close())
	return packed.Bytes(), err
}

// tool runs a Go program of another module with the variables of nfpm.yaml.
func (b *build) tool(ctx context.Context, program string, arguments ...string) error {
	command := exec.CommandContext(ctx, "go", append([]string{"run", program}, arguments...)...) //nolint:gosec // constants
	seconds := fmt.Sprint(b.committed.Unix())
	command.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GOFLAGS=") }),
		"BUILD="+b.dir, "ARCH="+b.arch, "VERSION="+b.version, "SOURCE_DATE_EPOCH="+seconds)
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", program, err, output)
	}
	return nil
}
