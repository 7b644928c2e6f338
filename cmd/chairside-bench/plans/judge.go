package plans

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
)

// Many is the number of rows that no list may read for a page, and from which a table is
// big.
const Many = 50_000

// Big returns the tables with many rows, by PostgreSQL's statistics.
func Big(ctx context.Context, db *pgx.Conn, many float64) (map[string]bool, error) {
	rows, err := db.Query(ctx, "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND reltuples > $1", many)
	if err != nil {
		return nil, err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	big := map[string]bool{}
	for _, name := range names {
		big[name] = true
	}
	return big, err
}

// Offences returns the problems of an executed plan: a big table read without an index,
// many rows sorted, or many rows read and discarded.
func (e Executed) Offences(big map[string]bool, many float64) []string {
	if e.TooLong {
		return []string{"takes more than " + statementTimeout}
	}
	found := e.First.offences(big, many)
	for _, o := range e.Later.offences(big, many) {
		if !slices.Contains(found, o) {
			found = append(found, o+", from the sixth execution on")
		}
	}
	return found
}

// offences returns the problems of a node and of those below it.
func (n Node) offences(big map[string]bool, many float64) (found []string) {
	if n.Type == "Seq Scan" && big[n.Relation] {
		found = append(found, "reads all of "+n.Relation)
	}
	if discarded := n.Filtered * n.Loops; n.Type != "Seq Scan" && discarded > many {
		found = append(found, fmt.Sprintf("discards %.0f rows of %s (%s)", discarded, n.Relation, n.Index))
	}
	for _, c := range n.Children {
		if rows := c.Rows * c.Loops; (n.Type == "Sort" || n.Type == "Incremental Sort") && rows > many {
			found = append(found, fmt.Sprintf("sorts %.0f rows", rows))
		}
		found = append(found, c.offences(big, many)...)
	}
	return found
}
