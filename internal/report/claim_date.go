package report

import (
	"context"

	"chairside/ent/nhsclaim"
	"chairside/ent/predicate"
	"chairside/internal/civil"
	"chairside/internal/principal"
)

// claimDatedBetween matches the claims dated from one day to another, both included. A
// claim's date is the day it was last submitted or, until then, the day it was created,
// in the practice's time zone. claimedOn returns the same date.
func claimDatedBetween(ctx context.Context, from, to civil.Date) []predicate.NHSClaim {
	zone := principal.Must(ctx).Zone
	return []predicate.NHSClaim{nhsclaim.Or(
		nhsclaim.And(nhsclaim.SubmittedDateGTE(from), nhsclaim.SubmittedDateLTE(to)),
		nhsclaim.And(nhsclaim.SubmittedDateIsNil(), nhsclaim.CreatedAtGTE(from.In(zone)), nhsclaim.CreatedAtLT(to.AddDays(1).In(zone))),
	)}
}
