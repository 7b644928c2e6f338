package migrate_test

import (
	"testing"

	"chairside/internal/store/bulk"
	"chairside/internal/store/migrate"
	"chairside/internal/store/storetest"
	"chairside/internal/test/localpg/pgtest"
)

// TestMonthsKeepTheSchema: partitions by month are no drift, and a bulk load restores the indexes of
// each.
func TestMonthsKeepTheSchema(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, pgtest.New(t))
	ctx := t.Context()
	if _, err := migrate.Up(ctx, db); err != nil {
		t.Fatal(err)
	}
	if _, err := migrate.AddMonths(ctx, db); err != nil {
		t.Fatal(err)
	}
	indexes := func() string {
		return storetest.Value(t, db.SQL, `SELECT string_agg(definition, E'\n' ORDER BY definition) FROM (SELECT regexp_replace(pg_get_indexdef(x.indexrelid), ' INDEX \S+', '') || ' ' || x.indisvalid AS definition
			FROM pg_index AS x JOIN pg_inherits AS i ON i.inhrelid = x.indrelid) AS indexes`)
	}
	before := indexes()
	if err := migrate.Verify(ctx, db); err != nil {
		t.Error(err)
	}
	err := bulk.Load(ctx, db, func(tx *bulk.Tx) error {
		return tx.Unindexed(ctx, []string{"audit_events", "audit_reads"}, func() error { return nil })
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := migrate.Verify(ctx, db); err != nil {
		t.Errorf("after a bulk load: %v", err)
	}
	if after := indexes(); after != before {
		t.Errorf("the indexes after a bulk load:\n%s\nwant\n%s", after, before)
	}
	storetest.Exec(t, db, "DROP TABLE audit_events_default")
	if err := migrate.Verify(ctx, db); err == nil || err.Error() != "the database differs from the schema: default partition of audit_events differs" {
		t.Errorf("without the default partition: %v", err)
	}
}
