// Command package builds what operators install: the program, a .deb, a .rpm, an image for
// containers, and their checksums.
//
//	go run ./cmd/chairside/deploy/package -out dist
//
//	dist/chairside_0.1.0_amd64.deb         program, service of systemd, settings, manual page, completion, list of components
//	dist/chairside-0.1.0-1.x86_64.rpm      the same
//	dist/chairside_0.1.0_amd64.oci.tar     image with the program and certificates alone (needs buildah)
//	dist/SHA256SUMS
//
// The version is what "chairside version" prints: the commit's tag, or its time and hash. The same
// commit and the same Go give the same bytes, in any directory and at any time: the drill of packages checks it. The
// image also depends on the certificates of this machine.
//
//	main.go      the steps
//	build.go     the program and the files that it writes about itself
//	image.go     the image
package main

import (
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

// nfpm makes .deb and .rpm without the tools of either system.
const nfpm = "github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.2"

var (
	out   = flag.String("out", "dist", "directory of the packages")
	arch  = flag.String("arch", "amd64", "processor: amd64 or arm64")
	image = flag.Bool("image", true, "also build the image for containers")
)

func main() {
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1) //nolint:gocritic // the process ends, and its contexts with it
	}
}

func run(ctx context.Context) error {
	if err := os.MkdirAll(*out, 0o755); err != nil { //nolint:gosec // packages are public
		return err
	}
	dir, err := os.MkdirTemp("", "chairside-package-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b, err := buildProgram(ctx, dir, *arch)
	if err != nil {
		return err
	}
	if err := b.describe(ctx); err != nil {
		return err
	}
	for _, packager := range []string{"deb", "rpm"} {
		if err := b.tool(ctx, nfpm, "package", "--config", "cmd/chairside/deploy/package/nfpm.yaml", "--packager", packager, "--target", *out); err != nil {
			return err
		}
	}
	if *image {
		if err := b.image(ctx, filepath.Join(*out, fmt.Sprintf("chairside_%s_%s.oci.tar", b.version, b.arch))); err != nil {
			return err
		}
	}
	return checksums(*out)
}

// checksums writes SHA256SUMS of the packages, as sha256sum does.
func checksums(dir string) error {
	names, err := filepath.Glob(filepath.Join(dir, "chairside*"))
	if err != nil {
		return err
	}
	var lines strings.Builder
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(&lines, "%x  %s\n", sha256.Sum256(content), filepath.Base(name))
	}
	fmt.Print(lines.String())
	return os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(lines.String()), 0o644) //nolint:gosec // public
}
