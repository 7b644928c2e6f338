package report

import (
	"context"

	"chairside/ent"
	"chairside/ent/nhsclaim"
	"chairside/ent/predicate"
	"chairside/internal/civil"
	"chairside/internal/principal"
	"chairside/schema/ask"
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

// groupDated adds up the claims of a query that are dated in the period (see claimDatedBetween).
// bucket is ask.Day or ask.Month of that date, the first column of a row; the others follow. A row
// adds up either submitted claims or others, so two rows can have the same keys.
func groupDated[Row any](ctx context.Context, q *ent.NHSClaimQuery, f Filter, bucket func(path ...string) ask.Column, columns ...ask.Column) ([]Row, error) {
	zone := principal.Must(ctx).Zone
	submitted, err := ask.Group[Row](ctx, q.Clone().Where(ask.During(zone, nhsclaim.FieldSubmittedDate, f.From, f.To)),
		append([]ask.Column{bucket(nhsclaim.FieldSubmittedDate)}, columns...)...)
	if err != nil {
		return nil, err
	}
	others, err := ask.Group[Row](ctx, q.Clone().Where(nhsclaim.SubmittedDateIsNil(), ask.During(zone, nhsclaim.FieldCreatedAt, f.From, f.To)),
		append([]ask.Column{bucket(nhsclaim.FieldCreatedAt)}, columns...)...)
	return append(submitted, others...), err
}
