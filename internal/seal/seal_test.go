package seal_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"chairside/internal/seal"
)

func place(row string) seal.Place {
	return seal.Place{Practice: uuid.MustParse("11111111-1111-4111-8111-111111111111"), Table: "users", Column: "totp_secret", Row: row}
}

// newKeys returns the keys of a new file, and its path.
func newKeys(t *testing.T) (*seal.Keys, string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "test.keys")
	keys, err := seal.File(file, true)
	if err != nil {
		t.Fatal(err)
	}
	return keys, file
}

func sealed(t *testing.T, keys *seal.Keys, at seal.Place, plain string) seal.Value {
	t.Helper()
	v, err := keys.Seal(at, plain)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestValueOpensOnlyInItsPlace(t *testing.T) {
	t.Parallel()
	keys, _ := newKeys(t)
	v := sealed(t, keys, place("7"), "JBSWY3DP")
	if got, err := keys.Open(place("7"), v); got != "JBSWY3DP" || err != nil {
		t.Errorf("in its place: %q, %v", got, err)
	}
	for name, change := range map[string]func(*seal.Place){
		"row":      func(p *seal.Place) { p.Row = "8" },
		"column":   func(p *seal.Place) { p.Column = "secret" },
		"table":    func(p *seal.Place) { p.Table = "webhooks" },
		"practice": func(p *seal.Place) { p.Practice = uuid.Nil },
	} {
		elsewhere := place("7")
		change(&elsewhere)
		if got, err := keys.Open(elsewhere, v); got != "" || !errors.Is(err, seal.ErrMoved) {
			t.Errorf("in another %s: %q, %v", name, got, err)
		}
	}
}

func TestChangedValueDoesNotOpen(t *testing.T) {
	t.Parallel()
	keys, _ := newKeys(t)
	text := sealed(t, keys, place("7"), "JBSWY3DP").String()
	start := strings.LastIndex(text, ":") + 1
	for i := start; i < len(text); i++ {
		for _, other := range []byte{'A', 'B'} {
			if text[i] == other {
				continue
			}
			v, err := seal.Parse(text[:i] + string(other) + text[i+1:])
			if err != nil {
				t.Fatal(err)
			}
			if got, err := keys.Open(place("7"), v); err == nil && got != "JBSWY3DP" {
				t.Fatalf("byte %d changed: opened as %q", i-start, got)
			}
		}
	}
}

func TestPlainTextLeavesNoProcess(t *testing.T) {
	t.Parallel()
	v := seal.Plain("JBSWY3DP")
	if _, err := v.Value(); !errors.Is(err, seal.ErrNotSealed) {
		t.Errorf("to the database: %v, want ErrNotSealed", err)
	}
	if _, err := json.Marshal(v); err == nil {
		t.Error("as JSON: no error")
	}
	for _, form := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		if got := fmt.Sprintf(form, v); strings.Contains(got, "JBSWY3DP") {
			t.Errorf("%s prints %s", form, got)
		}
		if got := fmt.Sprintf(form, struct{ V seal.Value }{v}); strings.Contains(got, "JBSWY3DP") {
			t.Errorf("%s of a struct prints %s", form, got)
		}
	}
}

func TestOnlySealedValuesAreRead(t *testing.T) {
	t.Parallel()
	var v seal.Value
	for _, stored := range []any{"JBSWY3DP", "", "sealed:", "sealed:xyz:AA", "sealed:00000001", 7} {
		if err := v.Scan(stored); err == nil {
			t.Errorf("%#v was read", stored)
		}
	}
	if err := v.Scan(nil); err != nil || !v.IsNull() {
		t.Errorf("NULL: %v, null %t", err, v.IsNull())
	}
}

func TestNoKeys(t *testing.T) {
	t.Parallel()
	var none *seal.Keys
	keys, _ := newKeys(t)
	if _, err := none.Seal(place("7"), "x"); !errors.Is(err, seal.ErrNoKeys) {
		t.Errorf("seal: %v", err)
	}
	if _, err := none.Open(place("7"), sealed(t, keys, place("7"), "x")); !errors.Is(err, seal.ErrNoKeys) {
		t.Errorf("open: %v", err)
	}
	if got, err := none.Open(place("7"), seal.Value{}); got != "" || err != nil {
		t.Errorf("open NULL: %q, %v", got, err)
	}
	others, _ := newKeys(t)
	sealed(t, others, place("7"), "x")
	if _, err := others.Open(place("7"), sealed(t, keys, place("7"), "x")); !errors.Is(err, seal.ErrLostKey) {
		t.Errorf("other keys: %v", err)
	}
}

// TestFirstValueCreatesTheFile seals at once through several Keys of one file that is not there.
func TestFirstValueCreatesTheFile(t *testing.T) {
	t.Parallel()
	_, file := newKeys(t)
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Fatalf("before the first value: %v", err)
	}
	var all sync.WaitGroup
	values := make([]seal.Value, 8)
	for i := range values {
		all.Go(func() {
			keys, err := seal.File(file, true)
			if err == nil {
				values[i], err = keys.Seal(place("7"), "x")
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	keys, err := seal.File(file, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range values {
		if got, err := keys.Open(place("7"), v); got != "x" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if left, _ := filepath.Glob(file + ".*"); len(left) > 0 {
		t.Errorf("files left: %v", left)
	}
}

// TestServersSeeAnAddedKey: another process adds a key, and removes the old one.
func TestServersSeeAnAddedKey(t *testing.T) {
	t.Parallel()
	admin, file := newKeys(t)
	old := sealed(t, admin, place("7"), "old")
	server, err := seal.File(file, false)
	if err != nil {
		t.Fatal(err)
	}
	added, err := admin.Add()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := server.Open(place("8"), sealed(t, admin, place("8"), "new")); got != "new" || err != nil {
		t.Errorf("a value of the new key: %q, %v", got, err)
	}
	if got, err := server.Open(place("7"), old); got != "old" || err != nil {
		t.Errorf("a value of the old key: %q, %v", got, err)
	}
	if ids := server.IDs(); len(ids) != 2 || ids[0] != added {
		t.Errorf("keys %v, want %v first of two", ids, added)
	}
	if err := admin.Remove(added); err == nil {
		t.Error("the key that seals was removed")
	}
	if err := admin.Remove(admin.IDs()[1]); err != nil {
		t.Fatal(err)
	}
	sealed(t, server, place("9"), "x") // reads the file again
	if _, err := server.Open(place("7"), old); !errors.Is(err, seal.ErrLostKey) {
		t.Errorf("a value of the removed key: %v", err)
	}
}

func TestErrorsDoNotShowKeys(t *testing.T) {
	t.Parallel()
	_, err := seal.Text(`{"primaryKeyId": 1, "key": [{"keyData": {"value": "c2VjcmV0"}}]}`)
	if err == nil || strings.Contains(err.Error(), "c2VjcmV0") {
		t.Errorf("%v", err)
	}
	keys, err := seal.Text("")
	if err == nil {
		t.Errorf("no text: %v", keys.IDs())
	}
}
