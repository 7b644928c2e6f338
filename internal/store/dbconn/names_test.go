package dbconn

import "testing"

func TestStatementsAreNamedAfterTheirTables(t *testing.T) {
	t.Parallel()
	names := NewNames([]string{"appointments", "audit_events", "counters", "patients"})
	for text, want := range map[string]string{
		`SELECT "a"."id" FROM "appointments" AS "a" WHERE "a"."id" = $1`:                                                                                  "select appointments",
		"SELECT `id` FROM `patients` ORDER BY `id` LIMIT 5":                                                                                               "select patients",
		`SELECT (SELECT sum("n") FROM "counters"), "t"."id" FROM "appointments" AS "t"`:                                                                   "select appointments",
		`WITH "new" AS (INSERT INTO "appointments" ("id") VALUES ($1) RETURNING *), "audit" AS (INSERT INTO "audit_events" SELECT 1) SELECT * FROM "new"`: "insert appointments",
		`INSERT INTO "patients" ("id") VALUES ($1) ON CONFLICT ("id") DO UPDATE SET "n" = 1`:                                                              "insert patients",
		`UPDATE "patients" SET "last_name" = $1`:                                                                                                          "update patients",
		`DELETE FROM "patients" WHERE "id" = $1`:                                                                                                          "delete patients",
		`SELECT 1 FROM "patients" WHERE "id" = $1 FOR UPDATE`:                                                                                             "select patients",
		`SELECT * FROM "unknown" JOIN "patients" ON true`:                                                                                                 "select patients",
		"SELECT pg_try_advisory_xact_lock(1)":                                                                                                             "lock",
		`SELECT nextval('patients_id_seq')`:                                                                                                               "reserve ids",
		`SELECT 'it is FROM patients'`:                                                                                                                    "other",
		`SELECT 'FROM patients`:                                                                                                                           "other",
		`SELECT "FROM qanary"`:                                                                                                                            "other",
		"SELECT * FROM qanary":                                                                                                                            "other",
		"":                                                                                                                                                "other",
	} {
		if got := names.of(text); got != want {
			t.Errorf("%s is named %q, want %q", text, got, want)
		}
	}
}

// TestStatementTimesAreBounded: neither many names nor many statements take more memory.
func TestStatementTimesAreBounded(t *testing.T) {
	t.Parallel()
	s := &Statements{Keep: true}
	for i := range 10_000 {
		s.add(Statement{Name: string(rune('a' + i%500))})
	}
	if n := len(s.Times()); n != maxNames+1 {
		t.Errorf("%d names", n)
	}
	kept, dropped := s.Each()
	if len(kept) != maxKept || dropped != 10_000-maxKept {
		t.Errorf("%d statements are kept, %d dropped", len(kept), dropped)
	}
	total := 0
	for _, one := range s.Times() {
		total += one.Count
	}
	if total != 10_000 {
		t.Errorf("%d statements are counted", total)
	}
}
