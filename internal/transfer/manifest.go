package transfer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"entgo.io/ent/dialect"

	"chairside/internal/store/migrate"
)

// Format is the encoding of an export's files.
type Format string

// The formats. NDJSON is the native one.
const (
	NDJSON Format = "ndjson"
	CSV    Format = "csv"
)

// manifestName is the file that makes a directory an export.
const manifestName = "manifest.json"

// manifestLayout is the version of the files' form. It changes when a program could
// misread the files of an older one.
const manifestLayout = "chairside-export-1"

// manifest says what an export holds.
type manifest struct {
	Layout string     `json:"layout"`
	Schema string     `json:"schema"` // the latest migration that both databases have
	Format Format     `json:"format"`
	Files  []fileNote `json:"files"`
}

type fileNote struct {
	Entity string `json:"entity"` // the table
	File   string `json:"file"`
	Rows   int64  `json:"rows"`
	SHA256 string `json:"sha256"`
	LastID int64  `json:"last_id,omitempty"` // the highest id that was ever given out
}

// The refusals of Import for a directory that is no whole export of this
// program's. Each comes wrapped in a text that says what differs.
var (
	ErrManifest = errors.New("transfer: the manifest does not fit")
	ErrAltered  = errors.New("transfer: the export is not as it was written")
)

// schemaVersion is the latest migration that both databases have: those of one
// database alone change no table.
func schemaVersion() (string, error) {
	versions := func(files fs.FS) (list []string, err error) {
		names, err := fs.Glob(files, "*.sql")
		for _, name := range names {
			list = append(list, name[:min(len(name), len("20060102150405"))])
		}
		return list, err
	}
	postgres, err := versions(migrate.Files(dialect.Postgres))
	if err != nil {
		return "", fmt.Errorf("transfer: %w", err)
	}
	sqlite, err := versions(migrate.Files(dialect.SQLite))
	if err != nil {
		return "", fmt.Errorf("transfer: %w", err)
	}
	latest := ""
	for _, v := range postgres {
		if slices.Contains(sqlite, v) {
			latest = max(latest, v)
		}
	}
	return latest, nil
}

func writeManifest(dir string, m manifest) error {
	content, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("transfer: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, manifestName), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("transfer: %w", err)
	}
	_, err = f.Write(append(content, '\n'))
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("transfer: %w", err)
	}
	return nil
}

// readManifest reads the manifest of dir and checks that this program wrote or
// could have written it: the same tables in the same order, under the names
// that Export gives their files.
func readManifest(dir string) (m manifest, content []byte, err error) {
	if content, err = os.ReadFile(filepath.Join(dir, manifestName)); err != nil {
		return m, nil, fmt.Errorf("transfer: %w", err)
	}
	if err := json.Unmarshal(content, &m); err != nil {
		return m, nil, fmt.Errorf("%w: %s: %w", ErrManifest, manifestName, err)
	}
	version, err := schemaVersion()
	if err != nil {
		return m, nil, err
	}
	list, err := exported()
	if err != nil {
		return m, nil, err
	}
	switch {
	case m.Layout != manifestLayout:
		return m, nil, fmt.Errorf("%w: its layout is %q, this program reads %q", ErrManifest, m.Layout, manifestLayout)
	case m.Schema != version:
		return m, nil, fmt.Errorf("%w: it was made with the migration %q and this program has %q; import it with the program that made it, then run \"chairside migrate up\" with this one", ErrManifest, m.Schema, version)
	case m.Format != NDJSON && m.Format != CSV:
		return m, nil, fmt.Errorf("%w: its format is %q", ErrManifest, m.Format)
	case len(m.Files) != len(list):
		return m, nil, fmt.Errorf("%w: it lists %d files instead of %d", ErrManifest, len(m.Files), len(list))
	}
	for i, e := range list {
		if f := m.Files[i]; f.Entity != e.table || f.File != fileName(e, m.Format) || f.Rows < 0 || f.LastID < 0 {
			return m, nil, fmt.Errorf("%w: file %d should be %s", ErrManifest, i+1, fileName(e, m.Format))
		}
	}
	return m, content, nil
}

func fileName(e *entity, f Format) string { return e.table + "." + string(f) }
