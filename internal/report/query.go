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
	"chairside/ent/predicate"
	"chairside/ent/user"
	"chairside/internal/audit"
	"chairside/internal/entx"
	"chairside/internal/entx/rowscan"
	"chairside/schema"
)

// practitionerNames returns the names of all practitioners that the caller may see, by ID.
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

// practitionerName returns the name of the practitioner's user, or "Practitioner 7" if the
// user is not loaded.
func practitionerName(p *ent.Practitioner) string {
	if u := p.Edges.User; u != nil {
		return schema.FullName(u.FirstName, u.LastName)
	}
	return fmt.Sprintf("Practitioner %d", p.ID)
}

// patientNames returns the names of the patients with the IDs. A patient that the caller
// may not see, because of another site, is named "Patient 7". The others are recorded in the access
// log.
func patientNames(ctx context.Context, client *ent.Client, ids []int64) (map[int64]string, error) {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	names := make(map[int64]string, len(ids))
	for _, id := range ids {
		names[id] = fmt.Sprintf("Patient %d", id)
	}
	if len(ids) == 0 {
		return names, nil
	}
	rows, err := client.Patient.Query().Where(entx.InArray[predicate.Patient](patient.FieldID, ids)).
		Rows(ctx, rowscan.Columns(patient.Table, patient.FieldID, patient.FieldFirstName, patient.FieldLastName))
	if err != nil {
		return nil, err
	}
	accessLog := audit.From(ctx)
	return names, rowscan.ForEach(rows, 3, func(r *rowscan.Scanner) {
		id := r.Int64(0)
		names[id] = schema.FullName(r.Text(1), r.Text(2))
		accessLog.Note(patient.Table, id)
	})
}

// compareNames compares names without regard to case and accents.
func compareNames(a, b string) int { return strings.Compare(schema.Fold(a), schema.Fold(b)) }

// sumOf returns the SQL sum of an expression: a bigint, 0 instead of null. Both
// databases would otherwise return other types.
func sumOf(expression, alias string) string {
	return sql.As("CAST(COALESCE(SUM("+expression+"), 0) AS bigint)", alias)
}

// monthOf returns SQL that both databases evaluate to the month of a date column, as
// YYYY-MM.
func monthOf(column string) string { return "SUBSTR(CAST(" + column + " AS text), 1, 7)" }
