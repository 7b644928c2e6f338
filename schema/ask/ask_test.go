package ask_test

import (
	"context"
	"errors"
	"go/parser"
	"go/token"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chairside/ent"
	"chairside/ent/patient"
	"chairside/internal/civil"
	"chairside/internal/seed"
	"chairside/internal/store"
	"chairside/internal/store/migrate"
	"chairside/internal/test/testkeys"
	"chairside/schema/ask"
)

// demo creates a small database.
func demo(ctx context.Context) (url string, remove func()) {
	dir, err := os.MkdirTemp("", "chairside-ask-*")
	if err != nil {
		log.Fatal(err)
	}
	url = "sqlite:" + filepath.Join(dir, "demo.db")
	db, err := store.Open(ctx, url)
	if err != nil {
		log.Fatal(err)
	}
	db.Keys = testkeys.Keys()
	defer db.Close()
	if _, err := migrate.Up(ctx, db); err != nil {
		log.Fatal(err)
	}
	if err := seed.Run(ctx, db, seed.Options{Patients: 60, Years: 1, RandomSeed: 1, AsOf: civil.MustParse("2026-07-01")}); err != nil {
		log.Fatal(err)
	}
	return url, func() { os.RemoveAll(dir) }
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	url, remove := demo(t.Context())
	defer remove()
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

// TestExampleNeedsNoInternalPackage checks that programs of other modules can do what the
// example does.
func TestExampleNeedsNoInternalPackage(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "example_test.go", nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range file.Imports {
		if strings.Contains(i.Path.Value, "/internal/") {
			t.Errorf("the example imports %s", i.Path.Value)
		}
	}
}
