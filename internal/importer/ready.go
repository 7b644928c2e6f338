package importer

import (
	"context"
	"embed"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"chairside/internal/store"
)

// Ready is a mapping that the program has, for the files of a well-known system.
type Ready struct {
	Name    string // opendental
	About   string // the first line of its comment
	Content string // as mapping.yaml has it
}

//go:embed mappings/*.yaml
var readyFiles embed.FS

// ReadyMappings are the ready mappings in the order of their names.
var ReadyMappings = func() (all []Ready) {
	paths, err := fs.Glob(readyFiles, "mappings/*.yaml")
	if err != nil {
		panic(err) // the pattern is valid
	}
	for _, path := range paths {
		content, err := readyFiles.ReadFile(path)
		if err != nil {
			panic(err) // it is embedded
		}
		about, _, _ := strings.Cut(strings.TrimPrefix(string(content), "# "), "\n")
		all = append(all, Ready{strings.TrimSuffix(filepath.Base(path), ".yaml"), about, string(content)})
	}
	return all
}()

// FindReady returns the ready mapping called name, and whether there is one.
func FindReady(name string) (r Ready, ok bool) {
	i := slices.IndexFunc(ReadyMappings, func(r Ready) bool { return r.Name == name })
	if i < 0 {
		return r, false
	}
	return ReadyMappings[i], true
}

// ReadyNames lists the names of the ready mappings.
func ReadyNames() string {
	var names []string
	for _, r := range ReadyMappings {
		names = append(names, r.Name)
	}
	return strings.Join(names, ", ")
}

// dropMissing removes the files that an optional mapping lists and dir does not have, and returns
// their names. If none is there, it keeps them all, so that each is reported as a mistake.
func (m *mapping) dropMissing(dir string) (missing []string) {
	if !m.Optional {
		return nil
	}
	var there []fileMapping
	for _, f := range m.Files {
		switch _, err := os.Stat(filepath.Join(dir, f.File)); {
		case err == nil:
			there = append(there, f)
		case !slices.Contains(missing, f.File):
			missing = append(missing, f.File)
		}
	}
	if len(there) == 0 {
		return nil
	}
	m.Files = there
	return missing
}

// ListMapping is the ready mapping for the lists of an API like ours.
const ListMapping = "chairside"

// ListFile is a file that ListMapping reads.
type ListFile struct {
	Name    string   // patients.csv
	Columns []string // that it may have, without id
}

// ListFiles returns the files of ListMapping in its order.
func ListFiles() (all []ListFile, err error) {
	ready, _ := FindReady(ListMapping)
	m, err := parseMapping(ready.Name, []byte(ready.Content))
	if err != nil {
		return nil, err
	}
	for _, f := range m.Files {
		e, file := entityOf(f.Entity), ListFile{Name: f.File}
		ignored := func(column string) bool {
			return slices.ContainsFunc(f.Columns, func(c columnMapping) bool { return c.column == column && c.Field == "" })
		}
		for _, c := range e.Columns {
			if !c.ReadOnly && c.Name != legacyID && c.Name != "practice_id" && !ignored(c.Name) {
				file.Columns = append(file.Columns, c.Name)
			}
		}
		all = append(all, file)
	}
	return all, nil
}

// CheckPractice returns ErrPractice or another error if Import would not find the practice to import
// into. It takes a practice as Options do.
func CheckPractice(ctx context.Context, db *store.DB, name string) error {
	_, err := findPractice(ctx, db, name)
	return err
}
