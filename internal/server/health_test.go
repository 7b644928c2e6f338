package server

import (
	"path/filepath"
	"testing"

	"chairside/internal/api"
	"chairside/internal/store"
	"chairside/internal/store/migrate"
)

func TestReadyNeedsMigrations(t *testing.T) {
	t.Parallel()
	db, err := store.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "new.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	b := setup(t)
	if b.Server, err = build(Options{DB: db, BaseURL: "https://api.example.test", Logger: b.Logger}, operations{api.New(db, "")}); err != nil {
		t.Fatal(err)
	}
	b.get("/healthz").ok(t, 200)
	b.get("/readyz").refused(t, 503, "unavailable")
	if _, err := migrate.Up(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	b.get("/readyz").ok(t, 200)
	b.stopping.Store(draining)
	b.get("/readyz").refused(t, 503, "unavailable")
}
