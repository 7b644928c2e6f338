package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"chairside/cmd/chairside-bench/floor"
	"chairside/internal/civil"
)

// reportFloor runs the hand-written SQL of reports.
type reportFloor struct {
	db       *pgx.Conn
	practice pgtype.UUID
}

// openReportFloor connects to a database with the settings of a session that reads a report in
// Chairside, and with the practice's time zone.
func openReportFloor(ctx context.Context, databaseURL string, practice pgtype.UUID) (*reportFloor, error) {
	db, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		return nil, err
	}
	_, err = db.Exec(ctx, `SELECT set_config('TimeZone', time_zone, false), set_config('work_mem', '64MB', false), set_config('jit', 'off', false)
		FROM practices WHERE id = $1`, practice)
	if err != nil {
		return nil, errors.Join(err, db.Close(ctx))
	}
	return &reportFloor{db, practice}, nil
}

// query runs the statement of a report. It returns rows as text, and never a generic plan.
func (f *reportFloor) query(ctx context.Context, q floor.ReportQuery, from, to civil.Date, now time.Time) (pgx.Rows, error) {
	return f.db.Query(ctx, q.Text, pgx.QueryExecModeDescribeExec, pgx.QueryResultFormats{pgx.TextFormatCode},
		pgx.NamedArgs{"practice": f.practice, "from": from.Time(), "to": to.Time(), "now": now})
}

// run runs the statement and reads all rows.
func (f *reportFloor) run(ctx context.Context, q floor.ReportQuery, from, to civil.Date, now time.Time) error {
	rows, err := f.query(ctx, q, from, to, now)
	if err != nil {
		return err
	}
	for rows.Next() {
		_ = rows.RawValues()
	}
	return rows.Err()
}

// compare checks that a report in JSON has the rows of the statement (see compareRows).
func (f *reportFloor) compare(ctx context.Context, q floor.ReportQuery, from, to civil.Date, now time.Time, document []byte) error {
	rows, err := f.query(ctx, q, from, to, now)
	if err != nil {
		return err
	}
	defer rows.Close()
	var names []string
	for _, column := range rows.FieldDescriptions() {
		names = append(names, column.Name)
	}
	err = compareRows(document, names, q.NotSelected, func(yield func([][]byte) bool) {
		for rows.Next() && yield(rows.RawValues()) {
		}
	})
	rows.Close()
	return cmp.Or(rows.Err(), err)
}

// compareRows checks that a report in JSON has the rows of a hand-written statement: every table,
// and every column except those that the statement declares as not selected.
func compareRows(document []byte, names, notSelected []string, rows iter.Seq[[][]byte]) error {
	tables, err := reportTables(document)
	if err != nil {
		return err
	}
	columns := map[string][]string{}
	for table, found := range tables {
		if columns[table], err = sharedColumns(found, names, notSelected); err != nil {
			return fmt.Errorf("table %s: %w", table, err)
		}
	}
	at := slices.Index(names, "table")
	if at < 0 {
		return errors.New("the SQL has no column table")
	}
	want := map[string]map[string]int{}
	for values := range rows {
		row := map[string]any{}
		for i, v := range values {
			if v != nil {
				row[names[i]] = string(v)
			}
		}
		table := string(values[at])
		if want[table] == nil {
			want[table] = map[string]int{}
		}
		want[table][rowText(row, columns[table])]++
	}
	for table := range want {
		if _, ok := tables[table]; !ok {
			return fmt.Errorf("the report has no table %s", table)
		}
	}
	for table, found := range tables {
		if err := sameRowTexts(found, columns[table], want[table]); err != nil {
			return fmt.Errorf("table %s: %w", table, err)
		}
	}
	return nil
}

// reportTables returns the rows of each table of a report in JSON.
func reportTables(document []byte) (map[string][]map[string]any, error) {
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal(document, &members); err != nil {
		return nil, err
	}
	tables := map[string][]map[string]any{}
	for name, text := range members {
		if len(text) == 0 || text[0] != '[' {
			continue
		}
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.UseNumber()
		var rows []map[string]any
		if err := decoder.Decode(&rows); err != nil {
			return nil, err
		}
		tables[name] = rows
	}
	return tables, nil
}

// sharedColumns returns the columns of a report's table that a statement selects. It may leave out
// only the given ones.
func sharedColumns(rows []map[string]any, names, except []string) (shared []string, err error) {
	if len(rows) == 0 {
		return nil, nil
	}
	for _, column := range slices.Sorted(maps.Keys(rows[0])) {
		switch {
		case slices.Contains(names, column):
			shared = append(shared, column)
		case !slices.Contains(except, column):
			return nil, fmt.Errorf("the SQL does not select %s", column)
		}
	}
	return shared, nil
}

// rowText returns some columns of a row as one line of text.
func rowText(row map[string]any, columns []string) string {
	var line strings.Builder
	for _, c := range columns {
		if v := row[c]; v != nil {
			fmt.Fprintf(&line, "%s=%v ", c, v)
		}
	}
	return line.String()
}

// sameRowTexts returns an error with the first row that is not among the rows wanted, each as often
// as it is counted, or that is missing.
func sameRowTexts(rows []map[string]any, columns []string, want map[string]int) error {
	for _, row := range rows {
		line := rowText(row, columns)
		if want[line] == 0 {
			return fmt.Errorf("the SQL does not return %s", line)
		}
		want[line]--
	}
	for line, n := range want {
		if n > 0 {
			return fmt.Errorf("the report does not have %s", line)
		}
	}
	return nil
}
