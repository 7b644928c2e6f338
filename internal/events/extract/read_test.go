package extract_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"chairside/internal/codec"
	"chairside/internal/decimal"
	"chairside/internal/events/extract"
	"chairside/ogent"
)

// row is a row as a program reads it: texts of the values, without those that are null.
type row map[string]string

// columnsOf are the members that files have, by name.
func columnsOf(resource string, unsealed bool) map[string]codec.Member {
	columns := map[string]codec.Member{}
	for _, m := range ogent.Resources[resource].Members {
		if m.Own && (unsealed || !m.Sealed) {
			columns[m.Name] = m
		}
	}
	return columns
}

// text returns a value of a document as text. Times are in UTC, and objects have sorted members.
func text(t *testing.T, kind codec.Kind, value any) string {
	t.Helper()
	switch v := value.(type) {
	case string:
		if kind != codec.Time {
			return v
		}
		at, err := time.Parse(codec.TimeLayout, v)
		if err != nil {
			t.Fatal(err)
		}
		return at.UTC().Format(codec.TimeLayout)
	case map[string]any, []any:
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	return fmt.Sprint(value)
}

// rowOf returns the row of a JSON object.
func rowOf(t *testing.T, object []byte, columns map[string]codec.Member) row {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(object))
	d.UseNumber()
	var all map[string]any
	if err := d.Decode(&all); err != nil {
		t.Fatalf("%v: %s", err, object)
	}
	r := row{}
	for name, v := range all {
		if m, ok := columns[name]; (ok || strings.HasPrefix(name, "_")) && v != nil {
			r[name] = text(t, m.Kind, v)
		}
	}
	return r
}

// parquetNodes are the types that the library has for each kind.
func parquetNode(kind codec.Kind) parquet.Node {
	switch kind {
	case codec.Boolean, codec.Flag, codec.Gender:
		return parquet.Leaf(parquet.BooleanType)
	case codec.Integer, codec.Consent, codec.ID:
		return parquet.Int(64)
	case codec.Decimal:
		return parquet.Decimal(2, 18, parquet.Int64Type)
	case codec.Time:
		return parquet.Timestamp(parquet.Millisecond)
	case codec.Date:
		return parquet.Date()
	case codec.Object, codec.Metadata, codec.Answers, codec.Strings:
		return parquet.JSON()
	}
	return parquet.String()
}

// readParquet reads a file with the library, and returns the sizes of its row groups, too.
func readParquet(t *testing.T, path string, columns map[string]codec.Member) (all []row, groups []int64) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(file, info.Size())
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	var names []string
	kinds := map[string]codec.Kind{"_run": codec.Integer, "_deleted": codec.Boolean}
	for _, column := range f.Schema().Columns() {
		name := column[0]
		names = append(names, name)
		if m, ok := columns[name]; ok {
			kinds[name] = m.Kind
		}
		leaf, _ := f.Schema().Lookup(name)
		if got, want := leaf.Node.Type().String(), parquetNode(kinds[name]).Type().String(); got != want {
			t.Errorf("%s: %s has the type %s, want %s", path, name, got, want)
		}
	}
	if len(names) != 2+len(columns) || !slices.IsSorted(names) {
		t.Errorf("%s: columns %v", path, names)
	}
	for _, g := range f.RowGroups() {
		groups = append(groups, g.NumRows())
		rows := g.Rows()
		buffer := make([]parquet.Row, 64)
		for {
			n, err := rows.ReadRows(buffer)
			for _, values := range buffer[:n] {
				r := row{}
				for _, v := range values {
					if name := names[v.Column()]; !v.IsNull() {
						r[name] = parquetText(t, kinds[name], v)
					}
				}
				all = append(all, r)
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return all, groups
}

// parquetText returns a value of a Parquet file as text does.
func parquetText(t *testing.T, kind codec.Kind, v parquet.Value) string {
	t.Helper()
	switch kind {
	case codec.Boolean, codec.Flag, codec.Gender:
		return fmt.Sprint(v.Boolean())
	case codec.Integer, codec.Consent, codec.ID:
		return fmt.Sprint(v.Int64())
	case codec.Decimal:
		return decimal.Decimal(v.Int64()).String()
	case codec.Time:
		return time.UnixMilli(v.Int64()).UTC().Format(codec.TimeLayout)
	case codec.Date:
		return time.Unix(int64(v.Int32())*24*60*60, 0).UTC().Format(time.DateOnly)
	case codec.Object, codec.Metadata, codec.Answers, codec.Strings:
		d := json.NewDecoder(bytes.NewReader(v.ByteArray()))
		d.UseNumber()
		var value any
		if err := d.Decode(&value); err != nil {
			t.Fatalf("%v: %s", err, v.ByteArray())
		}
		return text(t, kind, value)
	}
	return string(v.ByteArray())
}

// apply reads all files of a folder as its manifests name them, and returns the last row of each record
// that is not deleted, by resource and id.
func apply(t *testing.T, dir string) map[string]row {
	t.Helper()
	have := map[string]row{}
	names, err := filepath.Glob(filepath.Join(dir, "manifests", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	files := 0
	for i, name := range names {
		m := readManifest(t, name)
		if m.Run != i+1 {
			t.Errorf("%s has the run %d", name, m.Run)
		}
		for _, f := range m.Files {
			path := filepath.Join(dir, f.File)
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != f.SHA256 {
				t.Errorf("%s does not have the checksum of the manifest", f.File)
			}
			records, deleted := int64(0), int64(0)
			for _, r := range readRows(t, path, f.Resource, m) {
				if r["_run"] != fmt.Sprint(m.Run) {
					t.Errorf("%s: a row of the run %s", f.File, r["_run"])
				}
				key := f.Resource + " " + r["id"]
				if r["_deleted"] == "true" {
					deleted++
					delete(have, key)
					if len(r) != 3 {
						t.Errorf("%s: the deletion has %v", f.File, r)
					}
					continue
				}
				records++
				delete(r, "_run")
				delete(r, "_deleted")
				have[key] = r
			}
			if records != f.Records || deleted != f.Deleted {
				t.Errorf("%s has %d records and %d deletions, the manifest %d and %d", f.File, records, deleted, f.Records, f.Deleted)
			}
			files++
		}
	}
	for resource := range ogent.Resources {
		entries, _ := os.ReadDir(filepath.Join(dir, resource)) // it may be missing
		files -= len(entries)
	}
	if files != 0 {
		t.Errorf("%s: %d files more in the manifests than in the folder", dir, files)
	}
	return have
}

func readManifest(t *testing.T, name string) (m extract.Manifest) {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// readRows reads the rows of a file.
func readRows(t *testing.T, path, resource string, m extract.Manifest) (all []row) {
	t.Helper()
	columns := columnsOf(resource, m.Unsealed)
	if m.Format == extract.Parquet {
		all, _ = readParquet(t, path, columns)
		return all
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		all = append(all, rowOf(t, lines.Bytes(), columns))
	}
	return all
}
