package subject

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/auditevent"
	"chairside/ent/webhookdelivery"
	"chairside/internal/audit"
	"chairside/internal/clock"
	"chairside/internal/entx/table"
	"chairside/internal/principal"
	"chairside/internal/seal"
	"chairside/internal/store"
)

// File is what the database holds about a patient.
type File struct {
	Practice *ent.Practice
	Patient  *ent.Patient
	At       time.Time // in the practice's zone
	Keeping  Keeping
	Sections []Section // also those without rows; logs last

	keys *seal.Keys
}

// Section is the rows of one table.
type Section struct {
	Table *table.Table
	Rows  [][]Value // a value for each column of Table
}

// Value is a value of a column.
type Value struct {
	Text  string // the form of table.Kind.Format; times are in the practice's zone
	Null  bool
	Label string // name of the row that the column references, if it has one
}

// errSite refuses callers who see only the records of a site.
var errSite = errors.New("subject: the caller is limited to a site, and records of a patient can be of several")

// Read collects the file of a patient of the caller's practice, in one snapshot of the database,
// and notes the records in the access log. It returns ent's error for a row that does not exist if
// the practice has no such patient.
func Read(ctx context.Context, db *store.DB, patient int64) (*File, error) {
	caller := principal.Must(ctx)
	if caller.SiteID != nil {
		return nil, errSite
	}
	f := &File{At: clock.Now(ctx).In(caller.Zone), keys: db.Keys}
	err := db.Snapshot(ctx, func(client *ent.Client, tx *sql.Tx) (err error) {
		if f.Patient, err = client.Patient.Get(ctx, patient); err != nil {
			return err
		}
		if f.Practice, err = client.Practice.Get(ctx, f.Patient.PracticeID); err != nil {
			return err
		}
		if f.Keeping, err = keeping(ctx, tx, f.Practice, f.Patient, caller.Zone); err != nil {
			return err
		}
		for _, t := range ent.Tables {
			if rows := condition(t); rows != "" {
				s := Section{Table: t}
				if s.Rows, err = f.read(ctx, tx, t, rows, f.Practice.ID, patient); err != nil {
					return err
				}
				if t.Name == auditevent.Table {
					withoutReads(s)
				} else {
					note(ctx, s)
				}
				f.Sections = append(f.Sections, s)
			}
		}
		ids := f.ids()
		for _, t := range ent.Tables {
			if isLog(t) {
				s := Section{Table: t}
				if s.Rows, err = f.readLog(ctx, tx, t, ids); err != nil {
					return err
				}
				f.Sections = append(f.Sections, s)
			}
		}
		slices.SortStableFunc(f.Sections, func(a, b Section) int { return cmp.Compare(rank(a.Table), rank(b.Table)) })
		return nil
	})
	return f, err
}

// rank sorts logs after records.
func rank(t *table.Table) int {
	if t.Has("resource") {
		return 1
	}
	return 0
}

// withoutReads clears what was read in entries of the audit log, because one entry names the
// records of several patients.
func withoutReads(s Section) {
	action := slices.IndexFunc(s.Table.Columns, func(c table.Column) bool { return c.Name == auditevent.FieldAction })
	details := slices.IndexFunc(s.Table.Columns, func(c table.Column) bool { return c.Name == auditevent.FieldDetails })
	for _, row := range s.Rows {
		if row[action].Text == "read" {
			row[details] = Value{Null: true}
		}
	}
}

// note notes the rows in the access log.
func note(ctx context.Context, s Section) {
	log := audit.From(ctx)
	for _, row := range s.Rows {
		if n, err := strconv.ParseInt(row[0].Text, 10, 64); err == nil {
			log.Note(s.Table.Name, n)
		} else if id, err := uuid.Parse(row[0].Text); err == nil {
			log.NoteUUID(s.Table.Name, id)
		}
	}
}

// ids returns the ids of all rows, by what logs call their table: Patient or patients.
func (f *File) ids() map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for _, s := range f.Sections {
		of := map[string]bool{}
		for _, row := range s.Rows {
			of[row[0].Text] = true
		}
		all[s.Table.Name], all[s.Table.Type] = of, of
	}
	return all
}

// logBatch is the number of ids in one statement.
const logBatch = 500

// readLog reads the rows of a log that name one of the records with these ids.
func (f *File) readLog(ctx context.Context, tx *sql.Tx, t *table.Table, ids map[string]map[string]bool) (all [][]Value, err error) {
	distinct := map[string]bool{}
	for _, of := range ids {
		maps.Copy(distinct, of)
	}
	resource := slices.IndexFunc(t.Columns, func(c table.Column) bool { return c.Name == "resource" })
	record := slices.IndexFunc(t.Columns, func(c table.Column) bool { return c.Name == "record_id" })
	for batch := range slices.Chunk(slices.Sorted(maps.Keys(distinct)), logBatch) {
		args := []any{f.Practice.ID}
		places := make([]string, len(batch))
		for i, id := range batch {
			args = append(args, id)
			places[i] = "$" + strconv.Itoa(len(args))
		}
		rows, err := f.read(ctx, tx, t, table.Quote(t.Name)+".record_id IN ("+strings.Join(places, ", ")+")", args...)
		if err != nil {
			return nil, err
		}
		for _, row := range rows { // records of other kinds have the same numbers
			if ids[row[resource].Text][row[record].Text] {
				all = append(all, row)
			}
		}
	}
	return all, nil
}

// read reads the rows of a table that satisfy a condition, oldest first. The practice is $1.
func (f *File) read(ctx context.Context, tx *sql.Tx, t *table.Table, where string, args ...any) (all [][]Value, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("subject: %s: %w", t.Name, err)
		}
	}()
	columns, order := "", table.Quote(t.Name)+".id"
	for i := range t.Columns {
		c := &t.Columns[i]
		if i > 0 {
			columns += ", "
		}
		columns += table.Quote(t.Name) + "." + table.Quote(c.Name) + ", "
		if l := label(t, c); l != "" {
			columns += l
		} else {
			columns += "NULL"
		}
		if c.Name == "created_at" || c.Name == "at" {
			order = table.Quote(t.Name) + "." + table.Quote(c.Name) + ", " + order
		}
	}
	rows, err := tx.QueryContext(ctx, "SELECT "+columns+" FROM "+table.Quote(t.Name)+" WHERE "+where+" AND "+practiceColumn(t)+" = $1 ORDER BY "+order, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	values, places := table.Scan(2 * len(t.Columns))
	for rows.Next() {
		if err := rows.Scan(places...); err != nil {
			return nil, err
		}
		row := make([]Value, len(t.Columns))
		for i, c := range t.Columns {
			if c.IsSealed() {
				if values[2*i], err = f.open(t, c.Name, values[0], values[2*i]); err != nil {
					return nil, fmt.Errorf("%s: %w", c.Name, err)
				}
			}
			if row[i], err = f.value(c, values[2*i], values[2*i+1]); err != nil {
				return nil, fmt.Errorf("%s: %w", c.Name, err)
			}
		}
		all = append(all, row)
	}
	return all, rows.Err()
}

// open opens a scanned value of a sealed column; nil is null.
func (f *File) open(t *table.Table, column string, id, scanned any) (any, error) {
	if scanned == nil {
		return nil, nil
	}
	var v seal.Value
	if err := v.Scan(scanned); err != nil {
		return nil, err
	}
	row, _, err := t.Columns[0].Stored.Format(id)
	if err != nil {
		return nil, err
	}
	return f.keys.Open(seal.Place{Practice: f.Practice.ID, Table: t.Name, Column: column, Row: row}, v)
}

// practiceColumn returns the column with the practice of a row.
func practiceColumn(t *table.Table) string {
	return table.Quote(t.Name) + "." + table.Quote("practice_id")
}

// value returns a scanned value and the label beside it.
func (f *File) value(c table.Column, scanned, label any) (v Value, err error) {
	text, found, err := c.Stored.Format(scanned)
	if err != nil {
		return v, err
	}
	if at, isTime := scanned.(time.Time); isTime && c.Stored == table.Time {
		text = at.In(f.At.Location()).Format(time.RFC3339Nano)
	}
	v = Value{Text: text, Null: !found}
	v.Label, _, err = table.Text.Format(label)
	if c.Name == webhookdelivery.FieldWebhookID { // the rest of the address may hold a token
		address, wrong := url.Parse(v.Label)
		if v.Label = ""; wrong == nil {
			v.Label = address.Host
		}
	}
	return v, err
}
