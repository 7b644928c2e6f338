package contract

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	entschema "entgo.io/ent/dialect/sql/schema"
	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/user"
	"chairside/internal/seed"
	"chairside/internal/store"
	"chairside/internal/store/rowsecurity"
	"chairside/internal/test/harness"
)

// TestForeignKeysStayInThePractice tries, in plain SQL, to make each table's rows
// reference the other practice's. Its tables are those that row-level security treats as a
// practice's.
func TestForeignKeysStayInThePractice(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		e.Token(t, "") // for a row in the tokens table
		e.TokenOf(t, seed.SecondAdmin, "", nil)
		prepare(t, e)
		own, foreign := loadWorld(t, e, "demo"), loadWorld(t, e, "second")
		tried := 0
		for _, table := range store.Tables(e.DB.Dialect) {
			owner := rowsecurity.PracticeColumn(table)
			for _, key := range table.ForeignKeys {
				target := key.RefTable.Name
				link := key.Columns[len(key.Columns)-1].Name
				if owner == "" || target == "practices" || rowsecurity.PracticeColumn(key.RefTable) == "" || target == "applications" {
					continue // users of every practice can authorise an application
				}
				tried++
				rows := column(t, e, fmt.Sprintf("SELECT id FROM %s WHERE %s = $1 AND %s IS NOT NULL", table.Name, owner, link), own.practice)
				if len(rows) == 0 {
					t.Errorf("no row of %s has a %s", table.Name, link)
					continue
				}
				set := fmt.Sprintf("UPDATE %s SET %s = $1 WHERE id = $2", table.Name, link)
				was := column(t, e, fmt.Sprintf("SELECT %s FROM %s WHERE id = $1", link, table.Name), rows[0])[0]
				if err := tryStatement(t, e, set, was, rows[0]); err != nil {
					t.Errorf("%s.%s cannot keep its value: %v", table.Name, link, err)
				}
				checkForeignKeyError(t, table, link, tryStatement(t, e, set, foreign.ids[target][0], rows[0]))

				insert, args := copyOf(table, link, foreign.ids[target][0], rows[0])
				checkForeignKeyError(t, table, link, tryStatement(t, e, insert, args...))

				move := fmt.Sprintf("UPDATE %s SET %s = $1 WHERE id = $2", table.Name, owner)
				checkForeignKeyError(t, table, owner, tryStatement(t, e, move, foreign.practice, rows[0]))
			}
		}
		if tried < 50 {
			t.Errorf("only %d links were tried", tried)
		}
	})
}

// prepare fills the references that the seed may leave empty.
func prepare(t testing.TB, e *harness.Env) {
	t.Helper()
	w := loadWorld(t, e, "demo")
	for _, fill := range []string{
		"UPDATE access_tokens SET site_id = '" + w.ids["sites"][0] + "' WHERE practice_id = '" + w.practice + "'",
	} {
		execute(t, e, fill)
	}
	execute(t, e, `INSERT INTO report_schedules (practice_id, user_id, report, weekday, minute, period, format, folder, created_at, due_at, attempt_at, leased_until)
		SELECT practice_id, id, 'income', 1, 420, 'default', 'csv', '/reports', $1, $1, $1, $1 FROM users WHERE email = $2`, e.Clock.Now(), seed.DemoAdmin)
	e.Browser(t).SignIn(seed.DemoAdmin) // for a row in the sessions table
	ctx := e.As(t, "demo")
	e.Tx(t, ctx, func(tx *ent.Client) error {
		admin, err := tx.User.Query().Where(user.Email(seed.DemoAdmin)).Only(ctx)
		if err != nil {
			return err
		}
		app, err := tx.Application.Create().SetUserID(admin.ID).SetOwnerID(admin.PracticeID).
			SetName("Recall Robot").SetRedirectUris([]string{"https://app.example.com/"}).SetScopes("patient").SetPublic(true).
			Save(ctx)
		if err != nil {
			return err
		}
		given, err := tx.AccessToken.Query().FirstID(ctx)
		if err != nil {
			return err
		}
		if err := tx.RefreshToken.Create().SetPracticeID(admin.PracticeID).SetTokenID(given).SetHash([]byte("hash")).SetScopes("patient").
			SetCreatedAt(e.Clock.Now()).SetExpiresAt(e.Clock.Now()).Exec(ctx); err != nil {
			return err
		}
		if err := tx.Passkey.Create().SetPracticeID(admin.PracticeID).SetUserID(admin.ID).SetName("Laptop").SetHost("localhost").
			SetCredentialID([]byte("id")).SetPublicKey([]byte("key")).SetSignCount(0).SetBackupEligible(false).SetBackedUp(false).SetAaguid(uuid.Nil).
			Exec(ctx); err != nil {
			return err
		}
		return tx.AuthorizationCode.Create().SetPracticeID(admin.PracticeID).SetUserID(admin.ID).SetApplicationID(app.ID).SetTokenID(given).
			SetHash([]byte("hash")).SetRedirectURI("https://app.example.com/").SetScopes("patient").SetExpiresAt(e.Clock.Now()).
			Exec(ctx)
	})
}

// copyOf inserts a copy of a row with another reference and other unique values.
func copyOf(table *entschema.Table, link, value, row string) (statement string, args []any) {
	var names, values []string
	args = []any{row, value}
	for _, c := range table.Columns {
		names = append(names, c.Name)
		switch {
		case c.Name == link:
			values = append(values, "$2")
		case c.Name == "id":
			args = append(args, missing(row))
			values = append(values, fmt.Sprintf("$%d", len(args)))
		default:
			values = append(values, c.Name)
		}
	}
	return fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM %[1]s WHERE id = $1", table.Name, strings.Join(names, ", "), strings.Join(values, ", ")), args
}

// tryStatement runs a statement in a transaction that is rolled back.
func tryStatement(t testing.TB, e *harness.Env, statement string, args ...any) error {
	t.Helper()
	tx, err := e.Owner().BeginTx(context.WithoutCancel(t.Context()), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := tx.Rollback(); err != nil && !errors.Is(err, sql.ErrTxDone) {
			t.Error(err)
		}
	}()
	result, err := tx.ExecContext(t.Context(), statement, args...)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		t.Errorf("%s: %d rows, %v", statement, n, err)
	}
	return nil
}

// checkForeignKeyError fails unless a foreign key, or a unique index before it, refused
// the row.
func checkForeignKeyError(t testing.TB, table *entschema.Table, link string, err error) {
	t.Helper()
	if err == nil {
		t.Errorf("%s.%s can point at another practice", table.Name, link)
		return
	}
	if text := strings.ToLower(err.Error()); !strings.Contains(text, "foreign key") && !strings.Contains(text, "unique") && !strings.Contains(text, "duplicate key") {
		t.Errorf("%s.%s: %v", table.Name, link, err)
	}
}
