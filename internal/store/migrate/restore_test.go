package migrate_test

import (
	"bytes"
	"errors"
	"net/http"
	"os/exec"
	"testing"

	"chairside/internal/store/migrate"
	"chairside/internal/store/storetest"
	"chairside/internal/test/harness"
	"chairside/internal/test/localpg"
	"chairside/internal/test/localpg/pgtest"
)

// program runs a program of PostgreSQL.
func program(t *testing.T, input []byte, name string, args ...string) []byte {
	t.Helper()
	path, err := localpg.Program(name)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), path, args...)
	command.Stdin = bytes.NewReader(input)
	var output, failure bytes.Buffer
	command.Stdout, command.Stderr = &output, &failure
	if err := command.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, failure.Bytes())
	}
	return output.Bytes()
}

// The drill: what pg_dump has written and psql has read back equals the schema,
// its totals are right, and a server works with it. So does a dump of that.
func TestRestoredDump(t *testing.T) {
	t.Parallel()
	for kind, restore := range map[string]func(t *testing.T, from, to string){
		"whole": func(t *testing.T, from, to string) {
			program(t, program(t, nil, "pg_dump", from), "psql", "-q", "-v", "ON_ERROR_STOP=1", "-d", to)
		},
		"schema and data": func(t *testing.T, from, to string) {
			program(t, program(t, nil, "pg_dump", "--schema-only", from), "psql", "-q", "-v", "ON_ERROR_STOP=1", "-d", to)
			program(t, program(t, nil, "pg_dump", "--data-only", "--disable-triggers", from), "psql", "-q", "-v", "ON_ERROR_STOP=1", "-d", to)
		},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			from := harness.Postgres(t)
			if _, err := migrate.AddMonths(t.Context(), storetest.Open(t, from)); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				to := pgtest.New(t)
				restore(t, from, to)
				db := storetest.Open(t, to)
				if err := migrate.Verify(t.Context(), db); err != nil {
					t.Errorf("verify: %v", err)
				}
				storetest.CheckCounters(t, db)
				e := harness.Start(t, to)
				token := e.Token(t, "")
				e.Get(t, "/v1/appointments?per_page=3", token).Status(t, http.StatusOK)
				storetest.Exec(t, db, "UPDATE appointments SET state = 'Cancelled', cancelled_at = now(), did_not_attend_at = NULL WHERE id % 7 = 0")
				storetest.CheckCounters(t, db)
				from = to
			}
			// What is changed by hand is still found.
			db := storetest.Open(t, from)
			storetest.Exec(t, db, "ALTER TABLE appointments DROP CONSTRAINT appointments_finishes_after_start, ADD CONSTRAINT appointments_finishes_after_start CHECK (finish_time >= start_time)")
			storetest.Exec(t, db, "DROP TRIGGER keep_patients_update ON patients")
			storetest.Exec(t, db, "CREATE TRIGGER keep_patients_update AFTER UPDATE ON patients FOR EACH ROW WHEN (OLD.id IS DISTINCT FROM NEW.id) EXECUTE FUNCTION keep_patients_update()")
			var drift *migrate.DriftError
			if err := migrate.Verify(t.Context(), db); !errors.As(err, &drift) || len(drift.Differences) != 2 {
				t.Errorf("verify: %v", err)
			}
		})
	}
}
