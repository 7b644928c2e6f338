package plans

import (
	"fmt"
	"slices"
	"strings"
)

// Wide is the number of rows beyond which Chairside no longer filters first but walks the
// order (maxSortRows of package list).
const Wide = 200_000

// exception is an accepted offence.
type exception struct {
	operation string   // "" for all
	what      string   // prefix of the filter or order
	summed    bool     // the list's meta sums all rows
	filters   int      // only with at least this many filters
	wide      bool     // only if the list has more than Wide rows
	most      int      // only up to this many rows; 0 for any number
	in        []string // only in statements of these kinds; nil for all
	offence   string   // prefix of the offence
	reason    string
}

var exceptions = []exception{
	{operation: "listAccounts", summed: true, offence: "reads all of accounts", reason: "meta has sums over all accounts of the list"},
	{operation: "listPayments", summed: true, offence: "reads all of payments", reason: "meta has the sum of all payments of the list, and its rows are small"},
	{filters: 1, wide: true, in: []string{Picked, Count}, offence: "reads all of ", reason: "a total over a large part of the table is counted in table order"},
	{filters: 1, most: Wide + 1, in: []string{Picked}, offence: "sorts ", reason: "up to Wide rows are selected and sorted; beyond that, the list walks the order"},
	{filters: 1, wide: true, offence: "discards ", reason: "a large part of the table in the order of another column: no index has both, and walking the order is faster than sorting"},
	{filters: 2, wide: true, in: []string{Picked}, offence: "sorts ", reason: "a large part of the table by two filters: no index has both with the order"},
	{filters: 2, in: []string{Picked, Count}, offence: "discards ", reason: "no index has both filters: the rows of one are scanned"},
	{operation: "listAppointments", what: "by state ", filters: 1, wide: true, in: []string{Rows}, offence: "sorts ", reason: "the index of all appointments orders a state by start: with cancelled=true, the first state's are sorted by id"},
}

// summed reports whether the meta of a list has sums over all its rows.
func summed(operation string) bool {
	return slices.ContainsFunc(exceptions, func(e exception) bool { return e.summed && e.operation == operation })
}

// Excused returns the reason why an offence is accepted, or "" if it is not. kind is that
// of the statement, total the number of rows in the list.
func (r Request) Excused(kind, offence string, total int) string {
	for _, e := range exceptions {
		rest, ok := strings.CutPrefix(offence, e.offence)
		if !ok || e.operation != "" && e.operation != r.Operation || !strings.HasPrefix(r.What, e.what) ||
			r.Filters < e.filters || e.wide && total <= Wide || e.in != nil && !slices.Contains(e.in, kind) {
			continue
		}
		if rows := 0; e.most > 0 {
			if _, err := fmt.Sscan(rest, &rows); err != nil || rows > e.most {
				continue
			}
		}
		return e.reason
	}
	return ""
}
