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

// credentials are the methods that write a user's credentials, and the packages that may call
// them. Elsewhere a setter would skip the check of a new password, or leave sessions and
// tokens that the change must end (package signin, events.go).
var credentials = map[string][]string{
	"SetPasswordHash":     {"internal/signin", "internal/provision"},
	"SetTotpSecret":       {"internal/signin"},
	"ClearTotpSecret":     {"internal/signin"},
	"SetRecoveryCodes":    {"internal/signin"},
	"ClearRecoveryCodes":  {"internal/signin"},
	"AppendRecoveryCodes": nil,
	"SetCredentialID":     {"internal/signin"},
}

func TestCredentialsAreSetInOnePlace(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	eachSource(t, func(path string, source []byte) {
		for method, allowed := range credentials {
			if regexp.MustCompile(`\.\s*` + method + `\b`).Match(source) {
				found[method] = true
				if !slices.Contains(allowed, filepath.ToSlash(filepath.Dir(path))) {
					t.Errorf("%s calls %s: only %v may", path, method, allowed)
				}
			}
		}
	})
	if !found["SetPasswordHash"] || !found["SetTotpSecret"] || !found["SetCredentialID"] {
		t.Error("no setter found: were they renamed?")
	}
}

// TestHandlerIsLent: a process that uses the server's handler without Run gets it from Lend, which writes the
// audit log.
func TestHandlerIsLent(t *testing.T) {
	t.Parallel()
	lent := false
	eachSource(t, func(path string, source []byte) {
		command := strings.HasPrefix(path, "cmd/chairside/")
		lent = lent || command && regexp.MustCompile(`\.Lend\(`).Match(source)
		if command && regexp.MustCompile(`\bsrv\.Handler\(\)|server\.New\([^\n]*\)\.Handler`).Match(source) {
			t.Errorf("%s takes the handler without the audit log: use Lend", path)
		}
	})
	if !lent {
		t.Error("no command uses Lend: was it renamed?")
	}
}

// staticFiles are the source files that serve embedded files, which are in memory anyway.
var staticFiles = []string{"internal/server/docs.go", "internal/web/assets.go"}

// TestResponsesAreWrittenWhole refuses http.ServeContent and io.Copy, which write a response in
// small parts: the parts not written yet would stay in memory without counting as unsent. What is
// read and dropped is no response.
func TestResponsesAreWrittenWhole(t *testing.T) {
	t.Parallel()
	found := 0
	dropped := regexp.MustCompile(`io\.CopyN?\(io\.Discard,`)
	eachSource(t, func(path string, source []byte) {
		source = dropped.ReplaceAll(source, nil)
		switch {
		case !strings.HasPrefix(path, "internal/server/") && !strings.HasPrefix(path, "internal/web/"):
		case !regexp.MustCompile(`\b(http\.Serve(Content|File|FileFS)|io\.Copy(N|Buffer)?)\(`).Match(source):
		case slices.Contains(staticFiles, path):
			found++
		default:
			t.Errorf("%s copies a response in parts: write it with one Write", path)
		}
	})
	if found != len(staticFiles) {
		t.Errorf("found %d of %v", found, staticFiles)
	}
}

// eachSource calls check for every hand-written Go file except tests.
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
