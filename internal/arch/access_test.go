package arch

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// credentials are the methods that write what a user signs in with, and where
// they may be called: a setter elsewhere would skip the check of a new password,
// or leave alive what the change has to end (package signin, events.go).
var credentials = map[string][]string{
	"SetPasswordHash":     {"internal/signin", "internal/onboard"},
	"SetTotpSecret":       {"internal/signin"},
	"SetRecoveryCodes":    {"internal/signin"},
	"ClearRecoveryCodes":  {"internal/signin"},
	"AppendRecoveryCodes": nil,
}

func TestCredentialsAreSetInOnePlace(t *testing.T) {
	t.Parallel()
	root := os.DirFS("../..")
	found := map[string]bool{}
	err := fs.WalkDir(root, ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		dir := filepath.ToSlash(filepath.Dir(path))
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || within(dir, "ent/...") {
			return nil
		}
		source, err := fs.ReadFile(root, path)
		if err != nil {
			return err
		}
		for method, allowed := range credentials {
			if regexp.MustCompile(`\.\s*` + method + `\b`).Match(source) {
				found[method] = true
				if !slices.Contains(allowed, dir) {
					t.Errorf("%s calls %s, which is for %v", path, method, allowed)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !found["SetPasswordHash"] || !found["SetTotpSecret"] {
		t.Error("the rule finds no setter: were they renamed?")
	}
}
