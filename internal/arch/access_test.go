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
	"SetPasswordHash":     {"internal/signin", "internal/provision"},
	"SetTotpSecret":       {"internal/signin"},
	"SetRecoveryCodes":    {"internal/signin"},
	"ClearRecoveryCodes":  {"internal/signin"},
	"AppendRecoveryCodes": nil,
}

func TestCredentialsAreSetInOnePlace(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	eachSource(t, func(path string, source []byte) {
		for method, allowed := range credentials {
			if regexp.MustCompile(`\.\s*` + method + `\b`).Match(source) {
				found[method] = true
				if !slices.Contains(allowed, filepath.ToSlash(filepath.Dir(path))) {
					t.Errorf("%s calls %s, which is for %v", path, method, allowed)
				}
			}
		}
	})
	if !found["SetPasswordHash"] || !found["SetTotpSecret"] {
		t.Error("the rule finds no setter: were they renamed?")
	}
}

// staticFiles are the files that serve content which is in memory all the time.
var staticFiles = []string{"internal/server/docs.go", "internal/web/assets.go"}

// TestAnswersAreWrittenWhole: http.ServeContent and io.Copy write an answer in small
// parts. The rest of it then stays in memory without counting as unsent.
func TestAnswersAreWrittenWhole(t *testing.T) {
	t.Parallel()
	found := 0
	eachSource(t, func(path string, source []byte) {
		switch {
		case !strings.HasPrefix(path, "internal/server/") && !strings.HasPrefix(path, "internal/web/"):
		case !regexp.MustCompile(`\b(http\.Serve(Content|File|FileFS)|io\.Copy(N|Buffer)?)\(`).Match(source):
		case slices.Contains(staticFiles, path):
			found++
		default:
			t.Errorf("%s copies an answer in parts: write it with one Write", path)
		}
	})
	if found != len(staticFiles) {
		t.Errorf("the rule finds %d of %v", found, staticFiles)
	}
}

// eachSource calls check for every file of Go that is written by hand, but for tests.
func eachSource(t *testing.T, check func(path string, source []byte)) {
	t.Helper()
	root := os.DirFS("../..")
	err := fs.WalkDir(root, ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || within(filepath.ToSlash(filepath.Dir(path)), "ent/...") {
			return nil
		}
		source, err := fs.ReadFile(root, path)
		if err != nil {
			return err
		}
		check(path, source)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
