package extract

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"github.com/gofrs/flock"

	"chairside/internal/durable"
	"chairside/ogent"
)

var (
	// ErrOccupied means that a folder has files of something else.
	ErrOccupied = errors.New("the folder has other files: choose an empty one, or that of an extract")
	// ErrBusy means that another process writes to the folder.
	ErrBusy = errors.New("another process extracts to this folder")
	// ErrOther means that a run does not fit the folder's earlier ones.
	ErrOther = errors.New("the folder has another extract")
)

const (
	lockName     = ".chairside-extract.lock" // also marks the folder of an extract
	manifestsDir = "manifests"
	schemaDir    = "schema"
	partial      = ".partial" // suffix of a file until it is complete

	layout = "chairside-extract-1" // must change if a program could misread the files of an older one
)

// Manifest describes a run: what it wrote, and where the next one goes on.
type Manifest struct {
	Layout    string   `json:"layout"`
	Run       int      `json:"run"`
	Practice  Practice `json:"practice"`
	Format    Format   `json:"format"`
	Unsealed  bool     `json:"unsealed,omitempty"` // whether sealed columns are in the files, in plain text
	Resources []string `json:"resources"`
	Columns   string   `json:"columns"`         // SHA-256 of the names and types of all columns
	Since     string   `json:"since,omitempty"` // the cursor that the run began at; "" if it has all records
	Cursor    string   `json:"cursor"`          // the cursor that the next run begins at
	Files     []File   `json:"files"`
}

// Practice identifies the practice of an extract.
type Practice struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Slug string `json:"slug"`
}

// File describes a file of a run.
type File struct {
	Resource string `json:"resource"`
	File     string `json:"file"` // path in the folder, with slashes
	Records  int64  `json:"records"`
	Deleted  int64  `json:"deleted"`
	SHA256   string `json:"sha256"`
}

// Rows returns the number of records of the run, and of deletions.
func (m *Manifest) Rows() (records, deleted int64) {
	for _, f := range m.Files {
		records, deleted = records+f.Records, deleted+f.Deleted
	}
	return records, deleted
}

// Folder is the folder of an extract. No other process writes to it until Close.
type Folder struct {
	dir  string
	lock *flock.Flock
	last *Manifest // nil before the first run
}

// Open opens the folder of an extract, or creates it. It fails with ErrOccupied or ErrBusy.
func Open(dir string) (f *Folder, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	ours := slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == lockName })
	if len(entries) > 0 && !ours {
		return nil, fmt.Errorf("%s: %w", dir, ErrOccupied)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f = &Folder{dir: dir, lock: flock.New(filepath.Join(dir, lockName), flock.SetPermissions(0o600))}
	switch held, err := f.lock.TryLock(); {
	case err != nil:
		return nil, fmt.Errorf("lock the folder: %w", err)
	case !held:
		return nil, fmt.Errorf("%s: %w", dir, ErrBusy)
	}
	if f.last, err = ReadLast(dir); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Close lets other processes write to the folder.
func (f *Folder) Close() error { return f.lock.Unlock() }

// Last returns the manifest of the last run, or nil before the first one.
func (f *Folder) Last() *Manifest { return f.last }

// numbered matches the name of a manifest, or of a file of rows.
var numbered = regexp.MustCompile(`^(\d{6,})\.(?:json|parquet|ndjson)(?:\.partial)?$`)

// numberOf returns the run in a file's name, or 0.
func numberOf(name string) int {
	m := numbered.FindStringSubmatch(name)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1]) // only digits; no run has a number that overflows
	return n
}

// ReadLast reads the manifest of the last run from a folder, without opening it; it is nil before the first run.
// It fails with ErrOther for the manifest of another program or version.
func ReadLast(dir string) (*Manifest, error) {
	entries, err := os.ReadDir(filepath.Join(dir, manifestsDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	run, name := 0, ""
	for _, e := range entries {
		if n := numberOf(e.Name()); n > run && filepath.Ext(e.Name()) == ".json" {
			run, name = n, e.Name()
		}
	}
	if run == 0 {
		return nil, nil
	}
	name = filepath.Join(dir, manifestsDir, name)
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var m Manifest
	if err := json.Unmarshal(content, &m); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if m.Layout != layout || m.Run != run {
		return nil, fmt.Errorf("%s: %w: its layout is %q and its run %d; this program reads %q", name, ErrOther, m.Layout, m.Run, layout)
	}
	return &m, nil
}

// clean removes the files of runs from a number on, which no manifest has.
func (f *Folder) clean(run int) error {
	dirs := []string{manifestsDir}
	for name := range ogent.Resources {
		dirs = append(dirs, name)
	}
	for _, dir := range dirs {
		entries, err := os.ReadDir(filepath.Join(f.dir, dir))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		for _, e := range entries {
			if numberOf(e.Name()) < run {
				continue
			}
			if err := os.Remove(filepath.Join(f.dir, dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// create creates a file for a path in the folder, which only its owner can read. It has another name until
// rename.
func (f *Folder) create(path string) (*os.File, error) {
	path = filepath.Join(f.dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(path+partial, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
}

// rename gives a complete file its name.
func (f *Folder) rename(path string) error {
	path = filepath.Join(f.dir, filepath.FromSlash(path))
	return durable.Rename(path+partial, path)
}

// write writes a whole file.
func (f *Folder) write(path string, content []byte) error {
	file, err := f.create(path)
	if err != nil {
		return err
	}
	if _, err = file.Write(content); err == nil {
		err = file.Sync()
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	return f.rename(path)
}
