package ask_test

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"chairside/ent"
	"chairside/ent/patient"
	"chairside/internal/store/migrate"
	"chairside/internal/test/localpg/pgtest"
	"chairside/internal/test/testdb"
	"chairside/schema/ask"
)

// demo is the URL of a small database, which TestMain removes.
var demo = sync.OnceValue(func() string {
	url, err := testdb.Practice.CopySQLite(demoDir)
	if err != nil {
		log.Fatal(err)
	}
	return url
})

var demoDir string

func TestMain(m *testing.M) {
	var err error
	if demoDir, err = os.MkdirTemp("", "chairside-ask-*"); err != nil {
		log.Fatal(err)
	}
	status := pgtest.With{M: m}.Run()
	os.RemoveAll(demoDir)
	os.Exit(status)
}

// yourPractice opens the demo practice for an example.
func yourPractice() *ask.Practice {
	p, err := ask.Open(context.Background(), demo(), "demo")
	if err != nil {
		log.Fatal(err)
	}
	return p
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	url := demo()
	if _, err := ask.Open(t.Context(), url, "unknown"); !errors.Is(err, ask.ErrNoPractice) {
		t.Errorf("an unknown practice: %v", err)
	}
	if _, err := ask.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "empty.db"), "demo"); !errors.Is(err, migrate.ErrPending) {
		t.Errorf("a database without tables: %v", err)
	}
	p, err := ask.Open(t.Context(), url, "second")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	err = p.View(t.Context(), func(ctx context.Context, client *ent.Client) error {
		return client.Patient.Update().SetActive(false).Exec(ctx)
	})
	var still int
	err = errors.Join(err, p.View(t.Context(), func(ctx context.Context, client *ent.Client) (err error) {
		still, err = client.Patient.Query().Where(patient.Active(true)).Count(ctx)
		return err
	}))
	if still == 0 || !errors.Is(err, ask.ErrReadOnly) {
		t.Errorf("%d active patients after an update: %v", still, err)
	}
}

// TestExamplesNeedNoInternalPackage checks that programs of other modules can do what the
// examples do.
func TestExamplesNeedNoInternalPackage(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("example*_test.go")
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range file.Imports {
			if strings.Contains(i.Path.Value, "/internal/") {
				t.Errorf("%s imports %s", name, i.Path.Value)
			}
		}
	}
}

// TestNoShowRateIsShort: the example that groups by source and month stays within 30 lines.
func TestNoShowRateIsShort(t *testing.T) {
	t.Parallel()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "example_no_shows_test.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Name.Name != "Example_noShowRate" {
			continue
		}
		last := f.Body.List[len(f.Body.List)-1]
		if lines := files.Position(last.End()).Line - files.Position(f.Pos()).Line + 2; lines > 30 { // with the closing brace
			t.Errorf("the example has %d lines, want at most 30", lines)
		}
		return
	}
	t.Error("there is no example")
}
