package report

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"entgo.io/ent/dialect/sql"

	"chairside/ent"
	"chairside/ent/patient"
	"chairside/ent/practitioner"
	"chairside/ent/user"
	"chairside/schema"
)

// practitionerNames are the names of all practitioners the caller may know of.
func practitionerNames(ctx context.Context, client *ent.Client) (map[int64]string, error) {
	rows, err := client.Practitioner.Query().
		Select(practitioner.FieldID, practitioner.FieldUserID).
		WithUser(func(q *ent.UserQuery) { q.Select(user.FieldID, user.FieldFirstName, user.FieldLastName) }).
		All(ctx)
	if err != nil {
		return nil, err
	}
	names := make(map[int64]string, len(rows))
	for _, r := range rows {
		names[r.ID] = practitionerName(r)
	}
	return names, nil
}

// practitionerName is the name of a practitioner's user, or a number without one.
func practitionerName(p *ent.Practitioner) string {
	if u := p.Edges.User; u != nil {
		return schema.FullName(u.FirstName, u.LastName)
	}
	return fmt.Sprintf("Practitioner %d", p.ID)
}

// idsAtOnce keeps lists of ids under what a statement of either database takes.
const idsAtOnce = 10_000

// patientNames are the names of the patients with the ids. Whom the caller may
// not know of, a patient of another site, is a number.
func patientNames(ctx context.Context, client *ent.Client, ids []int64) (map[int64]string, error) {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	names := make(map[int64]string, len(ids))
	for _, id := range ids {
		names[id] = fmt.Sprintf("Patient %d", id)
	}
	for some := range slices.Chunk(ids, idsAtOnce) {
		rows, err := client.Patient.Query().
			Where(patient.IDIn(some...)).
			Select(patient.FieldID, patient.FieldFirstName, patient.FieldLastName).
			All(ctx)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			names[r.ID] = schema.FullName(r.FirstName, r.LastName)
		}
	}
	return names, nil
}

// compareNames orders names as people expect, whatever their case.
func compareNames(a, b string) int { return strings.Compare(schema.Fold(a), schema.Fold(b)) }

// sumOf adds up a SQL expression over a group, as a whole number that is never
// null.
func sumOf(expression, alias string) string {
	return sql.As("CAST(COALESCE(SUM("+expression+"), 0) AS bigint)", alias)
}

// monthOf is a SQL expression, YYYY-MM, for a date column: the same on both databases.
func monthOf(column string) string { return "SUBSTR(CAST(" + column + " AS text), 1, 7)" }
