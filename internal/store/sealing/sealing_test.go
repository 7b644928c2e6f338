package sealing_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"chairside/ent"
	"chairside/ent/webhook"
	"chairside/internal/seal"
	"chairside/internal/store"
	"chairside/internal/store/sealing"
	"chairside/internal/store/storetest"
	"chairside/internal/test/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// each runs test on both databases, with keys in a new file. url is the database.
func each(t *testing.T, test func(t *testing.T, e *harness.Env, keys, url string)) {
	t.Helper()
	t.Parallel()
	for name, database := range map[string]func(testing.TB) string{"sqlite": harness.SQLite, "postgres": harness.Postgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, file := database(t), filepath.Join(t.TempDir(), "test.keys")
			if err := seal.Create(file); err != nil {
				t.Fatal(err)
			}
			e := harness.Start(t, url)
			e.DB.Keys = load(t, file)
			test(t, e, file, url)
		})
	}
}

func load(t *testing.T, file string) *seal.Keys {
	t.Helper()
	keys, err := seal.File(file, false)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// hooks creates n webhooks whose secrets are secret-0, secret-1 and so on.
func hooks(t *testing.T, e *harness.Env, n int) (all []*ent.Webhook) {
	t.Helper()
	ctx := e.As(t, "demo")
	err := e.DB.Tx(ctx, func(tx *ent.Client) error {
		for i := range n {
			w, err := tx.Webhook.Create().SetURL("https://example.com").SetEvents([]string{"*"}).SetSecret(seal.Plain(fmt.Sprintf("secret-%d", i))).Save(ctx)
			if err != nil {
				return err
			}
			all = append(all, w)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// secrets opens the secrets of all webhooks.
func secrets(ctx context.Context, db *store.DB) (open []string, err error) {
	rows, err := db.Ent.Webhook.Query().Order(webhook.ByID()).All(ctx)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		secret, err := row.OpenSecret(db.Keys)
		if err != nil {
			return open, err
		}
		open = append(open, secret)
	}
	return open, nil
}

// TestDatabaseHoldsNoPlainSecret: neither Ent nor SQL can store one.
func TestDatabaseHoldsNoPlainSecret(t *testing.T) {
	each(t, func(t *testing.T, e *harness.Env, _, _ string) {
		w := hooks(t, e, 1)[0]
		var stored string
		if err := e.DB.SQL.QueryRowContext(t.Context(), "SELECT secret FROM webhooks WHERE id = $1", w.ID).Scan(&stored); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(stored, "sealed:") || strings.Contains(stored, "secret-0") {
			t.Errorf("stored %q", stored)
		}
		if _, err := e.DB.SQL.ExecContext(t.Context(), "UPDATE webhooks SET secret = 'secret-0'"); err == nil {
			t.Error("the database took a plain text")
		}
		if _, err := e.DB.SQL.ExecContext(t.Context(), "UPDATE users SET totp_secret = 'JBSWY3DP'"); err == nil {
			t.Error("the database took a plain text")
		}
		ctx := e.As(t, "demo")
		err := e.DB.Tx(ctx, func(tx *ent.Client) error {
			return tx.Webhook.Update().Where(webhook.ID(w.ID)).SetSecret(seal.Plain("x")).Exec(ctx)
		})
		if err == nil {
			t.Error("an update of many rows sealed one value for all")
		}
	})
}

func TestMovedValueDoesNotOpen(t *testing.T) {
	each(t, func(t *testing.T, e *harness.Env, _, _ string) {
		all := hooks(t, e, 2)
		storetest.Exec(t, e.DB, "UPDATE webhooks SET secret = (SELECT o.secret FROM webhooks AS o WHERE o.id = $1)", all[0].ID)
		if open, err := secrets(e.As(t, "demo"), e.DB); !errors.Is(err, seal.ErrMoved) || len(open) != 1 {
			t.Errorf("opened %q, %v", open, err)
		}
	})
}

// TestResealWhileServersWrite rotates while another process with its own Keys replaces secrets.
func TestResealWhileServersWrite(t *testing.T) {
	each(t, func(t *testing.T, e *harness.Env, file, url string) {
		const n = 1200 // more than two batches
		all := hooks(t, e, n)
		want, err := secrets(e.As(t, "demo"), e.DB)
		if err != nil {
			t.Fatal(err)
		}
		admin := storetest.Open(t, url)
		admin.Keys = load(t, file)
		added, err := admin.Keys.Add()
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() {
			ctx := e.As(t, "demo")
			for i := 0; i < n; i += 100 {
				secret := fmt.Sprintf("replaced-%d", i)
				for at, w := range want {
					if w == fmt.Sprintf("secret-%d", i) {
						want[at] = secret
					}
				}
				if err := e.DB.Tx(ctx, func(tx *ent.Client) error {
					return tx.Webhook.UpdateOne(all[i]).SetSecret(seal.Plain(secret)).Exec(ctx)
				}); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
		if _, err := sealing.Reseal(t.Context(), admin); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if _, err := sealing.Reseal(t.Context(), admin); err != nil { // what was written meanwhile
			t.Fatal(err)
		}
		uses, err := sealing.Uses(t.Context(), e.DB)
		if err != nil || len(uses) != 1 || uses[0] != (sealing.Use{Table: "webhooks", Column: "secret", Key: added, Values: n}) {
			t.Errorf("uses %+v, %v", uses, err)
		}
		if got, err := secrets(e.As(t, "demo"), e.DB); err != nil || strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("the secrets have changed: %v", err)
		}
	})
}

// TestResealNamesBrokenValues: one value that does not open keeps no other from being sealed again.
func TestResealNamesBrokenValues(t *testing.T) {
	each(t, func(t *testing.T, e *harness.Env, _, _ string) {
		all := hooks(t, e, 3)
		storetest.Exec(t, e.DB, "UPDATE webhooks SET secret = (SELECT o.secret FROM webhooks AS o WHERE o.id = $1) WHERE id = $2", all[0].ID, all[1].ID)
		if _, err := e.DB.Keys.Add(); err != nil {
			t.Fatal(err)
		}
		n, err := sealing.Reseal(t.Context(), e.DB)
		if n != 2 || !errors.Is(err, seal.ErrMoved) || !strings.Contains(err.Error(), "secret of webhooks "+all[1].ID.String()) {
			t.Errorf("sealed %d again, %v", n, err)
		}
	})
}

func TestLostKeysAreNamed(t *testing.T) {
	each(t, func(t *testing.T, e *harness.Env, file, _ string) {
		hooks(t, e, 1)
		id := e.DB.Keys.IDs()[0].String()
		if err := sealing.Check(t.Context(), e.DB); err != nil {
			t.Errorf("with its keys: %v", err)
		}
		e.DB.Keys = nil
		if err := sealing.Check(t.Context(), e.DB); err == nil || !strings.Contains(err.Error(), id) {
			t.Errorf("without keys: %v", err)
		}
		if err := seal.Create(file + ".other"); err != nil {
			t.Fatal(err)
		}
		e.DB.Keys = load(t, file+".other")
		if err := sealing.Check(t.Context(), e.DB); err == nil || !strings.Contains(err.Error(), id) {
			t.Errorf("with other keys: %v", err)
		}
		if _, err := secrets(e.As(t, "demo"), e.DB); !errors.Is(err, seal.ErrLostKey) {
			t.Errorf("open: %v", err)
		}
	})
}
