package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestUnitIsHardened checks the service with systemd's own audit: an exposure of at most 1.5 on
// its scale from 0 to 10.
func TestUnitIsHardened(t *testing.T) {
	t.Parallel()
	need(t, "systemd-analyze")
	output, err := exec.CommandContext(t.Context(), "systemd-analyze", "security", "--offline=yes", "--threshold=15", "./chairside.service").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
}

// TestKubernetesManifests checks the manifests by the published schemas and types of Kubernetes.
func TestKubernetesManifests(t *testing.T) {
	t.Parallel()
	need(t, "npm")
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/kubernetes")); err != nil {
		t.Fatal(err)
	}
	file, err := filepath.Abs("kubernetes/chairside.yaml")
	if err != nil {
		t.Fatal(err)
	}
	in(t, dir, "npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")
	kinds := in(t, dir, "node", "validate.js", file)
	if want := "ConfigMap Job Deployment Service PodDisruptionBudget"; strings.Join(strings.Fields(kinds), " ") != want {
		t.Errorf("the file has %q, want %q", kinds, want)
	}
	in(t, dir, "npx", "--no-install", "tsc", "--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2022", "manifests.ts")
}

// TestComposeFile checks the file with the library of Docker Compose, by the specification's schema
// and for consistency.
func TestComposeFile(t *testing.T) {
	t.Parallel()
	in(t, ".", "go", "run", "github.com/compose-spec/compose-go/v2/cmd@v2.16.2", "-no-interpolation", "compose.yaml")
}

// in runs a command in a directory and returns what it writes.
func in(t *testing.T, dir, name string, arguments ...string) string {
	t.Helper()
	command := exec.CommandContext(context.WithoutCancel(t.Context()), name, arguments...)
	command.Dir = dir
	command.Stderr = &strings.Builder{}
	output, err := command.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", name, err, output, command.Stderr)
	}
	return string(output)
}

// need skips the test where a program is missing; with CI=true it fails.
func need(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err == nil {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is missing", program)
	}
	t.Skipf("%s is missing", program)
}
