package dump

import (
	"crypto/rand"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"chairside/internal/durable"
	"chairside/internal/entx/table"
)

// idMap maps the IDs of an export to those that its rows get in the database.
type idMap struct {
	shifts  map[string]shift             // by table with integer IDs
	renewed map[string]map[string]string // by table with UUIDs: old to new ones; others stay
	random  [4]byte                      // makes new UUIDs from old ones
}

// shift maps the integer IDs of a table. The same rule maps references to rows that were deleted
// before the export, so that they never point at another practice's row.
type shift struct {
	taken int64 // the database may have assigned IDs up to this one
	by    int64 // is added to these; above every ID of both
}

func newIDMap() (m idMap, err error) {
	m = idMap{shifts: map[string]shift{}, renewed: map[string]map[string]string{}}
	_, err = rand.Read(m.random[:])
	m.random[0] |= 1 // never all zeros
	return m, err
}

// number returns the new integer ID of a row of a table.
func (m *idMap) number(of string, id int64) int64 {
	if s := m.shifts[of]; id <= s.taken {
		return id + s.by
	}
	return id
}

// renew gives a row a new UUID. Only the last four bytes are new: UUIDs begin with a time, and
// lists stay in its order.
func (m *idMap) renew(of, id string) error {
	parsed, err := uuid.Parse(id)
	if err != nil {
		return err
	}
	for i, b := range m.random {
		parsed[len(parsed)-len(m.random)+i] ^= b
	}
	if m.renewed[of] == nil {
		m.renewed[of] = map[string]string{}
	}
	m.renewed[of][id] = parsed.String()
	return nil
}

// id returns the new ID of a row of a table, an integer or a UUID.
func (m *idMap) id(of string, old any) any {
	switch old := old.(type) {
	case int64:
		return m.number(of, old)
	case string:
		if id, ok := m.renewed[of][old]; ok {
			return id
		}
	}
	return old
}

// text is id for an integer or a UUID as text.
func (m *idMap) text(of, old string) string {
	if n, err := strconv.ParseInt(old, 10, 64); err == nil {
		return strconv.FormatInt(m.number(of, n), 10)
	}
	return fmt.Sprint(m.id(of, old))
}

var errResource = errors.New("resource is not the name of a table")

// apply maps the ID and the references of a row.
func (m *idMap) apply(t *table.Table, values []any) error {
	for i := range t.Columns {
		c := &t.Columns[i]
		if values[i] == nil {
			continue
		}
		of := looseReferences[t.Name+"."+c.Name]
		switch {
		case i == 0:
			values[i] = m.id(t.Name, values[i])
		case c.References != "":
			values[i] = m.id(c.References, values[i])
		case c.Name == "practice_id": // of tables without a foreign key
			values[i] = m.id("practices", values[i])
		case of == byResource:
			resource := slices.IndexFunc(t.Columns, func(c table.Column) bool { return c.Name == "resource" })
			name, _ := values[resource].(string)
			if !slices.ContainsFunc(leaving(), func(t *table.Table) bool { return t.Name == name }) {
				return errResource
			}
			values[i] = m.text(name, values[i].(string))
		case of != notAnID:
			values[i] = m.id(of, values[i])
		}
	}
	return nil
}

// mapFile writes the IDs that changed as CSV. It appears under its name when the import is
// committed.
type mapFile struct {
	path string
	file *os.File
	rows *csv.Writer
}

// newMapFile returns a file for the path, or nil for "".
func newMapFile(path string) (*mapFile, error) {
	if path == "" {
		return nil, nil
	}
	file, err := os.OpenFile(path+partial, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create the map of ids: %w", err)
	}
	f := &mapFile{path: path, file: file, rows: csv.NewWriter(file)}
	return f, f.rows.Write([]string{"table", "old_id", "new_id"})
}

func (f *mapFile) add(of string, old, id any) error {
	if f == nil {
		return nil
	}
	return f.rows.Write([]string{of, fmt.Sprint(old), fmt.Sprint(id)})
}

// sync writes everything to the disk.
func (f *mapFile) sync() error {
	if f == nil {
		return nil
	}
	f.rows.Flush()
	return errors.Join(f.rows.Error(), f.file.Sync())
}

// keep gives the file its name, after sync.
func (f *mapFile) keep() error {
	if f == nil {
		return nil
	}
	return durable.Rename(f.path+partial, f.path)
}

// close closes the file and removes it unless keep was called.
func (f *mapFile) close() {
	if f == nil {
		return
	}
	_ = f.file.Close()              // sync has written it
	_ = os.Remove(f.path + partial) // after keep there is none
}
