package dump

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"entgo.io/ent/dialect"
	"github.com/google/uuid"

	"chairside/ent"
	"chairside/internal/durable"
	"chairside/internal/entx/table"
	"chairside/internal/store/migrate"
)

// manifestName is the name of the manifest. A directory with this file is an export.
const manifestName = "manifest.json"

// manifestLayout is the version of the format of exports. It must change if a program could
// misread the files of an older one.
const manifestLayout = "chairside-export-1"

// practiceLayout is the layout of an export of one practice. Programs that read only whole
// installations refuse it.
const practiceLayout = "chairside-practice-1"

// manifest describes the files of an export.
type manifest struct {
	Layout string         `json:"layout"`
	Schema string         `json:"schema"` // the latest migration that both databases have
	Format Format         `json:"format"`
	Files  []manifestFile `json:"files"`

	Unsealed bool `json:"unsealed,omitempty"` // whether sealed columns are in plain text

	Practice *manifestPractice `json:"practice,omitempty"` // of an export of one practice
}

// manifestPractice is the practice of an export of one.
type manifestPractice struct {
	ID      string            `json:"id"`
	Name    string            `json:"name"`
	Slug    string            `json:"slug"`
	LeftOut map[string]string `json:"left_out"` // tables and columns, with the reason
}

// tables returns the tables of the export, in the order of its files.
func (m *manifest) tables() []*table.Table {
	if m.Practice != nil {
		return leaving()
	}
	return exported()
}

// manifestFile describes the file of one table.
type manifestFile struct {
	Entity string `json:"entity"` // the table
	File   string `json:"file"`
	Rows   int64  `json:"rows"`
	SHA256 string `json:"sha256"`
	LastID int64  `json:"last_id,omitempty"` // the highest ID that the table has assigned, even if the row was deleted
}

// Restore returns these errors, wrapped in an explanation.
var (
	ErrManifest = errors.New("the manifest does not fit")           // it is invalid or another version's
	ErrAltered  = errors.New("the export is not as it was written") // a file does not match the manifest
)

// notExported are the tables that an export leaves out, with the reason.
var notExported = map[string]string{
	"sessions":            "users sign in again",
	"authorization_codes": "they expire after ten minutes",
	"passkey_challenges":  "they expire after five minutes",
	"rate_buckets":        "they only limit requests to this installation",
	"sign_in_attempts":    "they only limit guesses in this installation",
	"analysts":            "their roles belong to this database server: create analysts again there",
	"import_runs":         "they record imports into this database",
	"appointment_holds":   "they expire after ten minutes",
	"idempotency_keys":    "they expire after a day and belong to tokens of this installation",
	"feed_changes":        "cursors into the change feed expire",
	"feed_state":          "cursors into the change feed expire",
	"logged_requests":     "they are a log of this installation",
	"report_schedules":    "a restored copy must not write and mail the reports of the original",
	"webhooks":            "a restored copy must not send to the receivers of the original",
	"webhook_attempts":    "they are a log of this installation",
	"webhook_deliveries":  "this installation delivers them",
}

// exported returns the tables of an export, in the order of its files.
func exported() []*table.Table {
	return slices.DeleteFunc(slices.Clone(ent.Tables), func(t *table.Table) bool { return notExported[t.Name] != "" })
}

// IsExport reports whether dir holds an export.
func IsExport(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, manifestName))
	return err == nil
}

// IsOfPractice reports whether dir holds an export of one practice.
func IsOfPractice(dir string) (bool, error) {
	m, _, err := readManifest(dir)
	return m.Practice != nil, err
}

// schemaVersion returns the version of the latest migration that both databases have. A
// migration of only one of them changes no table.
func schemaVersion() (string, error) {
	postgres, err := fs.Glob(migrate.Files(dialect.Postgres), "*.sql")
	if err != nil {
		return "", err
	}
	sqlite, err := fs.Glob(migrate.Files(dialect.SQLite), "*.sql")
	if err != nil {
		return "", err
	}
	version := func(name string) string { return name[:min(len(name), len("20060102150405"))] }
	latest := ""
	for _, name := range postgres {
		if slices.ContainsFunc(sqlite, func(other string) bool { return version(other) == version(name) }) {
			latest = max(latest, version(name))
		}
	}
	return latest, nil
}

func writeManifest(dir string, m manifest) error {
	content, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return durable.Create(filepath.Join(dir, manifestName), func(file io.Writer) error {
		_, err := file.Write(append(content, '\n'))
		return err
	})
}

// readManifest reads the manifest in dir and its bytes. It checks that layout, migration,
// tables and file names are those of this program's exports, or returns ErrManifest.
func readManifest(dir string) (m manifest, content []byte, err error) {
	if content, err = os.ReadFile(filepath.Join(dir, manifestName)); err != nil {
		return m, nil, err
	}
	if err := json.Unmarshal(content, &m); err != nil {
		return m, nil, fmt.Errorf("%w: %s: %w", ErrManifest, manifestName, err)
	}
	version, err := schemaVersion()
	if err != nil {
		return m, nil, err
	}
	list, layout := m.tables(), manifestLayout
	if m.Practice != nil {
		layout = practiceLayout
	}
	switch {
	case m.Layout != layout:
		return m, nil, fmt.Errorf("%w: its layout is %q, this program reads %q and %q", ErrManifest, m.Layout, manifestLayout, practiceLayout)
	case m.Practice != nil && uuid.Validate(m.Practice.ID) != nil:
		return m, nil, fmt.Errorf("%w: its practice has no id", ErrManifest)
	case m.Schema != version:
		return m, nil, fmt.Errorf("%w: it has migration %q, this program %q; import it with the version that exported it, then run \"chairside migrate up\" with this one", ErrManifest, m.Schema, version)
	case m.Format != NDJSON && m.Format != CSV:
		return m, nil, fmt.Errorf("%w: its format is %q", ErrManifest, m.Format)
	case len(m.Files) != len(list):
		return m, nil, fmt.Errorf("%w: it lists %d files instead of %d", ErrManifest, len(m.Files), len(list))
	}
	for i, t := range list {
		if f := m.Files[i]; f.Entity != t.Name || f.File != fileName(t, m.Format) || f.Rows < 0 || f.LastID < 0 {
			return m, nil, fmt.Errorf("%w: file %d should be %s", ErrManifest, i+1, fileName(t, m.Format))
		}
	}
	return m, content, nil
}

func fileName(t *table.Table, f Format) string { return t.Name + "." + string(f) }
