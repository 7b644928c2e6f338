package plans

import (
	"fmt"
	"slices"
	"strings"
)

// Wide is the number of rows from which a list is no longer found by the range
// that it is asked for: Chairside then reads the order.
const Wide = 200_000

// exception is an offence that has a reason.
type exception struct {
	operation string // "" for all
	summed    bool   // all rows of the list are read for its meta, whatever is asked
	wide      bool   // only where the list is of a range, and more than Wide rows are within it
	offence   string // how it begins
	reason    string
}

var exceptions = []exception{
	{"listAccounts", true, false, "reads all of accounts", "meta has sums over all accounts of the list"},
	{"listPayments", true, false, "reads all of payments", "meta has the sum of all payments of the list, and its rows are small"},
	{"", false, true, "reads all of ", "a total over a large part of the table is counted in the order in which its rows lie"},
	{"", false, true, fmt.Sprintf("sorts %d rows", Wide+1), "a range is picked from at most so many rows, before the order is read"},
	{"", false, true, "throws ", "a large part of the table in the order of another column: no index has both, and the order is met sooner than the range is sorted"},
}

func summed(operation string) bool {
	return slices.ContainsFunc(exceptions, func(e exception) bool { return e.summed && e.operation == operation })
}

// Excused gives the reason of an offence that has one, "" for others. total is
// the number of rows of the whole list.
func (r Request) Excused(offence string, total int) string {
	for _, e := range exceptions {
		if (e.operation == "" || e.operation == r.Operation) && (!e.wide || r.Range && total > Wide) && strings.HasPrefix(offence, e.offence) {
			return e.reason
		}
	}
	return ""
}
