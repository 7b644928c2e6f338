package importer

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"chairside/internal/clock"
)

// FuzzSource checks that reading any file ends, and that every row has as many cells as the
// header or a message.
func FuzzSource(f *testing.F) {
	for _, seed := range []string{"a,b\n1,2\n", "\ufeffa;b\r\n\"1\n\";2", "a,b\n\"", "sep=|\na|b\n1|\"2|3\n4|5", "\xff\xfe", "a\tb\n\"x\"y\"\tz\n", "\"\n\n\n,\","} {
		f.Add([]byte(seed))
	}
	path := filepath.Join(f.TempDir(), "x.csv")
	f.Fuzz(func(t *testing.T, content []byte) {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := openSource(path, 0, 0)
		if err != nil {
			return
		}
		defer s.close()
		line := 0
		for range len(content) + 1 {
			row, err := s.next()
			if err != nil {
				return
			}
			if row.line <= line {
				t.Fatalf("line %d after %d", row.line, line)
			}
			line = row.line
			if row.message == "" && len(row.cells) != len(s.header) {
				t.Fatalf("a row has %d cells, the header %d", len(row.cells), len(s.header))
			}
		}
		t.Fatal("reading does not end")
	})
}

// FuzzValues checks that no text makes a conversion panic, and that amounts are valid.
func FuzzValues(f *testing.F) {
	for _, seed := range []string{"01/02/2003", "£1,234.50", "(3.00)-", "9:30 a.m.", "2026-02-30", "\u00a0", "٣", "Y"} {
		f.Add(seed, "DD/MM/YYYY")
	}
	f.Add("1:30", "D MMM YY h:mm a")
	f.Fuzz(func(t *testing.T, s, format string) {
		if !utf8.ValidString(s) {
			return
		}
		c, err := newCalendar([]string{format}, []string{format}, time.UTC, today)
		if err != nil {
			return
		}
		if d, message := c.date(s, notInFuture); message == "" && d.IsZero() {
			t.Errorf("%q as %q is the zero date", s, format)
		}
		c.time(s, dayOrTime)
		c.time(s, timeOnly)
		for _, mark := range []string{"", ",", "."} {
			if got, message := parseAmount(s, mark); message == "" && strings.Trim(got, "-0123456789.") != "" {
				t.Errorf("%q is the amount %q", s, got)
			}
		}
		splitList(s)
	})
}

// FuzzImport checks that an import of any file and mapping ends, and that its counts add up to
// the number of rows.
func FuzzImport(f *testing.F) {
	f.Add([]byte("id,title,first_name,last_name,date_of_birth,gender,address_line_1,postcode,metadata.x\n1,Mr,A,B,1990-01-01,M,1 Road,X1\n"), []byte(minimalMapping[:strings.Index(minimalMapping, "  - {file: diary")]))
	f.Add([]byte("id;title;first_name\n\"1;;\n2;x;y\n"), []byte("source: x\nfiles:\n- {file: patients.csv, entity: users, id: [id, title], columns: {id: ~}}"))
	f.Add([]byte("n,a\n1,5\n1,6\n"), []byte("source: x\nfiles: [{file: patients.csv, entity: sundries, id: line, columns: {n: [{field: name, values: {\"*\": z}}], a: {field: price, negate: true}}}]"))
	db := open(f, databases["sqlite"](f))
	createPractice(f, db)
	f.Fuzz(func(t *testing.T, content, mapping []byte) {
		dir := writeFiles(t, map[string]string{"patients.csv": string(content), "mapping.yaml": string(mapping)})
		ctx, cancel := context.WithTimeout(clock.With(t.Context(), now), time.Minute)
		defer cancel()
		report, err := Import(ctx, db, dir, Options{DryRun: true})
		if err != nil {
			if ctx.Err() != nil {
				t.Fatal(err)
			}
			return
		}
		for _, file := range report.Files {
			if file.Created+file.Updated+file.Unchanged+file.Rejected != file.Rows {
				t.Errorf("%+v", file)
			}
		}
	})
}
