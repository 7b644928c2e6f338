package subject

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"chairside/ent"
	"chairside/ent/patient"
	"chairside/internal/civil"
	"chairside/internal/clock"
	"chairside/internal/entx/table"
	"chairside/internal/store"
)

// Kept says which patients' records of a practice must be kept.
type Kept struct {
	Patients int        // whose record the law still keeps
	Held     int        // under a legal hold, whether or not the law keeps the record
	Until    civil.Date // the first day on which the law keeps none
	Rule     string     // how long records are kept, and why
}

// Any reports whether any record must be kept.
func (k Kept) Any() bool { return k.Patients+k.Held > 0 }

// String describes the records for an operator.
func (k Kept) String() string {
	if !k.Any() {
		return "no patient's record must be kept any more: " + k.Rule
	}
	return fmt.Sprintf("records of %d patients must be kept, the last until %s, and %d are under a legal hold: %s", k.Patients, k.Until, k.Held, k.Rule)
}

// KeptRecords returns which records of a practice must be kept today. It reads the last entry of every
// patient. ctx must allow reading the practice's rows.
func KeptRecords(ctx context.Context, db *store.DB, practice *ent.Practice) (k Kept, err error) {
	zone, err := time.LoadLocation(practice.TimeZone)
	if err != nil {
		return k, fmt.Errorf("load the practice's time zone: %w", err)
	}
	k.Rule = retentionRule(practice)
	last := map[int64]civil.Date{}
	for _, t := range ent.Tables {
		for _, column := range entries[t.Name] {
			if err := lastEntries(ctx, db.SQL, t, t.Column(column), practice, zone, last); err != nil {
				return k, fmt.Errorf("subject: the last entries of %s: %w", t.Name, err)
			}
		}
	}
	rows, err := db.SQL.QueryContext(ctx, "SELECT id, created_at, date_of_birth, legal_hold_at FROM patients WHERE practice_id = $1 AND erased_at IS NULL", practice.ID)
	if err != nil {
		return k, err
	}
	defer rows.Close()
	today := civil.Of(clock.Now(ctx).In(zone))
	for rows.Next() {
		var id int64
		var registered time.Time
		var born civil.Date
		var held *time.Time
		if err := rows.Scan(&id, &registered, &born, &held); err != nil {
			return k, err
		}
		if held != nil {
			k.Held++
		}
		on, ok := last[id]
		if !ok {
			on = civil.Of(registered.In(zone))
		}
		until, _, _ := retentionOf(practice).until(practice, on, born)
		if today.Before(until) {
			k.Patients++
			if k.Until.Before(until) {
				k.Until = until
			}
		}
	}
	return k, rows.Err()
}

// ChangedSince returns how many patients of a practice have a row that was made or changed after a time,
// such as the patient, an appointment or a payment. ctx must allow reading the practice's rows.
func ChangedSince(ctx context.Context, db *store.DB, practice *ent.Practice, since time.Time) (n int, err error) {
	var changed []string
	for _, t := range ent.Tables {
		column := patientColumn(t)
		if column == "" || t.Column("updated_at") == nil {
			continue
		}
		changed = append(changed, "SELECT "+table.Quote(column)+" AS patient_id FROM "+table.Quote(t.Name)+" WHERE practice_id = $1 AND updated_at > $2")
	}
	err = db.SQL.QueryRowContext(ctx, "SELECT count(DISTINCT patient_id) FROM ("+strings.Join(changed, " UNION ALL ")+") AS changed", practice.ID, since).Scan(&n)
	if err != nil {
		err = fmt.Errorf("subject: count the records that changed: %w", err)
	}
	return n, err
}

// patientColumn returns the column of t that names the patient, or "".
func patientColumn(t *table.Table) string {
	if notAboutPatients[t.Name] != "" {
		return ""
	}
	for i := range t.Columns {
		c := &t.Columns[i]
		if to := find(referenced(t, c)); t.Name == patient.Table && c.Name == patient.FieldID || to != nil && to.Name == patient.Table {
			return c.Name
		}
	}
	return ""
}

// lastEntries raises the days of patients' last entries by those of a column.
func lastEntries(ctx context.Context, pool *sql.DB, t *table.Table, c *table.Column, practice *ent.Practice, zone *time.Location, last map[int64]civil.Date) error {
	rows, err := pool.QueryContext(ctx, "SELECT patient_id, "+table.Quote(c.Name)+" FROM "+table.Quote(t.Name)+
		" WHERE practice_id = $1 AND patient_id IS NOT NULL AND "+table.Quote(c.Name)+" IS NOT NULL", practice.ID)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var patient int64
		var value any
		if err := rows.Scan(&patient, &value); err != nil {
			return err
		}
		day, err := dayOf(c, value, zone)
		if err != nil {
			return err
		}
		if before, ok := last[patient]; !ok || before.Before(day) {
			last[patient] = day
		}
	}
	return rows.Err()
}

// dayOf returns the local day of a scanned date or time.
func dayOf(c *table.Column, value any, zone *time.Location) (day civil.Date, err error) {
	if c.Stored == table.Date {
		err = day.Scan(value)
		return day, err
	}
	text, _, err := c.Stored.Format(value)
	if err != nil {
		return day, err
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	return civil.Of(at.In(zone)), err
}
