package codegen_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the driver, to insert a row of the new entity
)

// vaccine is the schema file of a new read-only resource.
const vaccine = `package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"

	"chairside/internal/apispec"
)

// Vaccine is something staff are given.
type Vaccine struct{ ent.Schema }

// Mixin of Vaccine.
func (Vaccine) Mixin() []ent.Mixin { return []ent.Mixin{tenant{}, timestamps{}} }

// Fields of Vaccine.
func (Vaccine) Fields() []ent.Field {
	return []ent.Field{uuidID(), text("name", "Name."), amount("price", "Price of a dose."), boolTrue("active", "Whether it is given.")}
}

// Annotations of Vaccine.
func (Vaccine) Annotations() []schema.Annotation {
	return []schema.Annotation{apispec.Resource{Key: "vaccine", Plural: "vaccines", Scope: "practice", Doc: "Vaccines.", Verbs: readable}}
}
`

// TestGenerate checks that a tree without generated code generates what is committed, and that
// a new resource needs only a schema file, generated code and a migration.
func TestGenerate(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the program")
	}
	root := repository(t)
	copied := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum", "generate.go", "schema", "internal", "cmd"} {
		duplicate(t, filepath.Join(root, name), filepath.Join(copied, name))
	}

	run(t, copied, "go", "generate", ".") // creates ent/ and ogent/
	for _, name := range []string{"ent", "ogent"} {
		compare(t, filepath.Join(root, name), filepath.Join(copied, name))
	}

	if err := os.WriteFile(filepath.Join(copied, "schema/vaccine.go"), []byte(vaccine), 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, copied, "go", "generate", ".")
	run(t, copied, "go", "run", "./internal/store/migrate/diff", "vaccines")
	run(t, copied, "go", "build", "-o", "chairside", "./cmd/chairside")
	readVaccine(t, copied)
}

// readVaccine starts the program with the new resource and reads a row over HTTP.
func readVaccine(t *testing.T, dir string) {
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	server := exec.CommandContext(ctx, filepath.Join(dir, "chairside"), "serve", "--demo", "--addr", "127.0.0.1:0", "--database-url", "sqlite:new.db")
	server.Dir = dir
	server.Cancel = func() error { return server.Process.Signal(os.Interrupt) }
	output, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		stop()
		_ = server.Wait() // it was interrupted
	}()
	base, token := readStartup(t, output)
	go io.Copy(io.Discard, output)

	db, err := sql.Open("sqlite", filepath.Join(dir, "new.db")+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	const insert = `INSERT INTO vaccines (id, name, price, active, practice_id, created_at, updated_at)
		SELECT '0198f2a4-c1d0-7b3e-9a51-3f6f0c9d2e10', 'Influenza', 1250, true, id, created_at, updated_at FROM practices WHERE slug = 'demo'`
	if _, err := db.ExecContext(ctx, insert); err != nil {
		t.Fatal(err)
	}

	for _, path := range []string{"/v1/vaccines?active=true&sort_by=created_at", "/v1/vaccines/0198f2a4-c1d0-7b3e-9a51-3f6f0c9d2e10"} {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %s %v", path, res.StatusCode, body, err)
		}
		var response struct {
			Vaccine  map[string]any
			Vaccines []map[string]any
			Meta     map[string]any
		}
		if err := json.Unmarshal(body, &response); err != nil {
			t.Fatal(err)
		}
		one := response.Vaccine
		if one == nil && len(response.Vaccines) == 1 && fmt.Sprint(response.Meta["total"]) == "1" {
			one = response.Vaccines[0]
		}
		if one["name"] != "Influenza" || one["price"] != "12.50" {
			t.Errorf("%s: %s", path, body)
		}
	}
}

var (
	baseLine  = regexp.MustCompile(`http://[0-9.:]+`)
	tokenLine = regexp.MustCompile(`cs_pat_\S+`)
)

// readStartup reads the address and the token that the demo prints when it starts.
func readStartup(t *testing.T, output io.Reader) (base, token string) {
	var text strings.Builder
	for chunk := make([]byte, 4096); base == "" || token == ""; {
		n, err := output.Read(chunk)
		text.Write(chunk[:n])
		base, token = baseLine.FindString(text.String()), strings.Trim(tokenLine.FindString(text.String()), `"'`)
		if err != nil && (base == "" || token == "") {
			t.Fatalf("the demo printed no address and token: %v\n%s", err, text.String())
		}
	}
	return base, token
}

func repository(t *testing.T) string {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// duplicate copies a file or a directory.
func duplicate(t *testing.T, from, to string) {
	t.Helper()
	info, err := os.Stat(from)
	if err != nil {
		t.Fatal(err)
	}
	if info.IsDir() {
		err = os.CopyFS(to, os.DirFS(from))
	} else {
		var content []byte
		if content, err = os.ReadFile(from); err == nil {
			err = os.WriteFile(to, content, 0o644)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// compare reports every file that differs between two directories.
func compare(t *testing.T, want, got string) {
	t.Helper()
	seen := map[string]bool{}
	for _, dir := range []string{want, got} {
		err := fs.WalkDir(os.DirFS(dir), ".", func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || seen[path] {
				return err
			}
			seen[path] = true
			a, _ := os.ReadFile(filepath.Join(want, path))
			b, _ := os.ReadFile(filepath.Join(got, path))
			if !bytes.Equal(a, b) {
				t.Errorf("%s is outdated: run go generate ./...", filepath.Join(filepath.Base(want), path))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func run(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, args...)
	command.Dir = dir
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, output)
	}
}
