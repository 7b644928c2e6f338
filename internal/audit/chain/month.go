package chain

import (
	"database/sql"
	"fmt"
	"time"

	"github.com/google/uuid"

	"chairside/internal/store/migrate"
)

// monthTables are the partitioned tables with their column of an entry's id.
var monthTables = []struct{ table, id string }{{"audit_events", "id"}, {"audit_reads", "event_id"}}

// pruneMonth finds what goes with a month: audit_cut has the last block of each practice that was sealed
// by its end, audit_pruned the entries of the blocks up to there. A practice's last block stays. All
// of a practice's blocks from the first one that was sealed later stay too: servers' clocks differ.
const pruneMonth = `
CREATE TEMPORARY TABLE audit_cut ON COMMIT DROP AS
	SELECT practice_id, least(max(number), min(number) FILTER (WHERE at >= '%[1]s')) - 1 AS number FROM audit_blocks GROUP BY practice_id;
CREATE TEMPORARY TABLE audit_pruned ON COMMIT DROP AS
	SELECT b.practice_id, ('x' || encode(substring(b.entries FROM i * %[2]d + 1 FOR %[3]d), 'hex'))::bit(64)::bigint AS id
	FROM audit_blocks AS b JOIN audit_cut AS c ON c.practice_id = b.practice_id AND b.number <= c.number
	CROSS JOIN LATERAL generate_series(0, length(b.entries) / %[2]d - 1) AS i;
CREATE INDEX ON audit_pruned (id);
ANALYZE audit_pruned`

// month deletes the blocks that were sealed by the end of a month with their entries, drops the
// partitions of the month, and returns the number of entries. It is one transaction, so the log
// verifies whenever it is interrupted. What the month has of other blocks, or of none, moves to the default
// partition: the entries of the block that was sealed across midnight, and of quiet practices.
func (p *pruning) month(m migrate.Month) (entries int, err error) {
	tx, err := p.pool.BeginTx(p.ctx, nil)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback() // after a commit it does nothing
	exec := func(format string, a ...any) {
		if err == nil {
			_, err = tx.ExecContext(p.ctx, fmt.Sprintf(format, a...))
		}
	}
	// Block writers to the month, so that its entries stay as they are counted below.
	exec("LOCK TABLE %s, %s IN SHARE MODE", m.Partition(monthTables[0].table), m.Partition(monthTables[1].table))
	exec(pruneMonth, m.End().Format(time.RFC3339), entrySize, idSize)
	for _, t := range monthTables {
		exec("CREATE TEMPORARY TABLE kept_%[1]s ON COMMIT DROP AS SELECT * FROM %[2]s AS row WHERE NOT EXISTS (SELECT FROM audit_pruned AS p WHERE p.id = row.%[3]s AND p.practice_id = row.practice_id)", t.table, m.Partition(t.table), t.id)
	}
	if err != nil {
		return 0, err
	}
	cuts, numbers, err := p.cuts(tx)
	if err != nil {
		return 0, err
	}
	if err := p.deleteOutside(tx, m); err != nil {
		return 0, err
	}
	exec("DELETE FROM audit_blocks AS b USING audit_cut AS c WHERE b.practice_id = c.practice_id AND b.number <= c.number")
	if err != nil {
		return 0, err
	}
	// Writers wait from here until the commit.
	if err := migrate.LockExclusively(p.ctx, tx, monthTables[0].table, monthTables[1].table); err != nil {
		return 0, err
	}
	if err := migrate.DropMonth(p.ctx, tx, m); err != nil {
		return 0, err
	}
	for _, t := range monthTables {
		exec("INSERT INTO %[1]s SELECT * FROM kept_%[1]s", t.table)
	}
	for i, c := range cuts {
		if err == nil {
			err = p.record(tx, c, numbers[i])
		}
		entries += numbers[i]
	}
	if err != nil {
		return 0, err
	}
	return entries, tx.Commit()
}

// cuts returns the cuts of a month, with the number of entries of each.
func (p *pruning) cuts(tx *sql.Tx) (cuts []cut, entries []int, err error) {
	err = forEach(p.ctx, tx, `SELECT b.practice_id, b.number, b.hash, (SELECT count(*) FROM audit_pruned AS p WHERE p.practice_id = b.practice_id)
		FROM audit_blocks AS b JOIN audit_cut AS c ON c.practice_id = b.practice_id AND c.number = b.number ORDER BY b.practice_id`, func(rows *sql.Rows) error {
		var c cut
		var n int
		err := rows.Scan(&c.practice, &c.number, &c.hash, &n)
		cuts, entries = append(cuts, c), append(entries, n)
		return err
	})
	return cuts, entries, err
}

// deleteOutside deletes the entries of the cut blocks that are in other partitions.
func (p *pruning) deleteOutside(tx *sql.Tx, m migrate.Month) error {
	outside := map[uuid.UUID][]int64{}
	err := forEach(p.ctx, tx, "SELECT p.practice_id, p.id FROM audit_pruned AS p WHERE NOT EXISTS (SELECT FROM "+m.Partition(monthTables[0].table)+" AS e WHERE e.id = p.id AND e.practice_id = p.practice_id) ORDER BY p.id", func(rows *sql.Rows) error {
		var practice uuid.UUID
		var id int64
		err := rows.Scan(&practice, &id)
		outside[practice] = append(outside[practice], id)
		return err
	})
	for practice, ids := range outside {
		if err == nil {
			err = p.deleteEntries(tx, practice, ids)
		}
	}
	return err
}
