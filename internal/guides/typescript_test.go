package guides_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTypeScriptClient checks the program in the guide on clients against types that
// openapi-typescript generates from the served document, and runs it.
func TestTypeScriptClient(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("clients.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```ts program\n(.*?)```").FindSubmatch(guide)
	if block == nil {
		t.Fatal("the guide has no program")
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "typescript"))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "client.ts"), block[1], 0o600); err != nil {
		t.Fatal(err)
	}
	modules := exec.CommandContext(t.Context(), "npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")
	modules.Dir = dir
	if out, err := modules.CombinedOutput(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("npm ci: %v\n%s", err, out)
		}
		t.Skip("no Node, or no way to install its modules: ", err)
	}
	for _, databases := range []kind{sqlite, postgres} { // one after the other, in one directory
		t.Run(string(databases), func(t *testing.T) { checkTypeScriptClient(t, dir, databases) })
	}
}

// checkTypeScriptClient compiles and runs the program in a directory.
func checkTypeScriptClient(t *testing.T, dir string, databases kind) {
	d := demo(t, databases)
	run := func(name string, args ...string) (out string, err error) {
		command := exec.CommandContext(t.Context(), name, args...)
		command.Dir = dir
		command.Env = append(os.Environ(), "BASE="+d.URL, "TOKEN="+d.token)
		output, err := command.CombinedOutput()
		return string(output), err
	}
	var out string
	var err error
	for _, command := range [][]string{
		{"curl", "-sS", "--fail", "-A", "guide/1.0", "-o", "openapi.json", d.URL + "/openapi.json"},
		{"node", "node_modules/openapi-typescript/bin/cli.js", "openapi.json", "-o", "chairside.d.ts"},
		{"node", "node_modules/typescript/bin/tsc", "--strict", "--noUncheckedIndexedAccess", "--target", "es2022", "--module", "nodenext", "--lib", "es2022,dom,dom.iterable", "client.ts"},
		{"node", "client.js"},
	} {
		if out, err = run(command[0], command[1:]...); err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, out)
		}
	}
	want := `^\d+ patients\nbooked \S+\ndouble_booking \[ \d+ \]\nPrefers mornings\nversion_mismatch\n$`
	if !regexp.MustCompile(want).MatchString(out) {
		t.Errorf("the program prints\n%s", out)
	}
}
