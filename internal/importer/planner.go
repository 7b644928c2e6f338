package importer

import (
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"chairside/internal/civil"
)

// planner makes the plan of one file and collects the mistakes in its mapping.
type planner struct {
	plan         *plan
	file         fileMapping
	format       format
	mistakes     *MappingError
	today        civil.Date
	zone         *time.Location // of times in the file
	practiceZone *time.Location
	optional     bool // the file need not have every column of the mapping
}

func (pl *planner) wrong(format string, args ...any) {
	pl.mistakes.add(pl.file.File+": "+format, args...)
}

// build completes the plan. It returns false if the entity or the header is not known.
func (pl *planner) build() bool {
	if !filepath.IsLocal(pl.file.File) {
		pl.wrong("must be the name of a file in the directory")
		return false
	}
	if !pl.planEntity() {
		return false
	}
	pl.planFormat()
	if !pl.readHeader() {
		return false
	}
	pl.planID()
	pl.planMerge()
	pl.planConditions()
	pl.planColumns()
	pl.planConstants()
	pl.planRows()
	pl.checkTexts()
	pl.checkRequired()
	return true
}

// planEntity finds the entity by its table or type.
func (pl *planner) planEntity() bool {
	var importable []string
	for _, e := range entities {
		if name := joinedName(pl.file.Entity); name != "" && (name == joinedName(e.Name) || name == joinedName(e.Type)) {
			pl.plan.entity = e
		}
		if notImportable[e.Name] == "" {
			importable = append(importable, e.Name)
		}
	}
	switch e := pl.plan.entity; {
	case e == nil:
		slices.Sort(importable)
		pl.wrong("entity: %q must be one of: %s", pl.file.Entity, strings.Join(importable, ", "))
	case notImportable[e.Name] != "":
		pl.wrong("entity: %s cannot be imported; %s", e.Name, notImportable[e.Name])
	default:
		return true
	}
	return false
}

// encodings are the names of encodings in a mapping. A UTF-16 file has a byte order mark, and is
// read as UTF-8 until that is found.
var encodings = map[string]string{
	"": utf8Encoding, "utf-8": utf8Encoding, "utf8": utf8Encoding, "utf-16": utf8Encoding, "utf16": utf8Encoding,
	latin1: latin1, "latin1": latin1, "iso-8859-1": latin1, windows: windows, "cp1252": windows, mixed: mixed,
}

func (pl *planner) planFormat() {
	f := pl.format
	if pl.plan.encoding = encodings[strings.ToLower(f.Encoding)]; pl.plan.encoding == "" {
		pl.wrong("encoding: %q must be utf-8, latin-1, windows-1252 or mixed", f.Encoding)
	}
	switch d := []rune(f.Delimiter); {
	case len(d) == 0:
	case strings.EqualFold(string(d), "tab"), string(d) == `\t`:
		pl.plan.delimiter = '\t'
	case len(d) == 1 && !strings.ContainsRune("\"\r\n\ufffd", d[0]):
		pl.plan.delimiter = d[0]
	default:
		pl.wrong("delimiter: must be one character, or tab")
	}
	if !slices.Contains([]string{"", ".", ","}, f.DecimalMark) {
		pl.wrong("decimal_mark: must be . or ,")
	}
	if f.TimeZone != "" {
		zone, err := time.LoadLocation(f.TimeZone)
		if err != nil {
			pl.wrong("time_zone: must be the IANA name of a time zone")
		} else {
			pl.zone = zone
		}
	}
	pl.plan.nulls = orElse([]string(f.Nulls), defaultNulls)
}

// readHeader reads the header of the file, and what its first bytes say of delimiter and
// encoding.
func (pl *planner) readHeader() bool {
	s, err := openSource(pl.plan.path, pl.plan.delimiter, pl.file.Header)
	if err != nil {
		pl.wrong("%v", err)
		return false
	}
	defer s.close()
	pl.plan.delimiter, pl.plan.headerLine = s.delimiter, pl.file.Header
	if pl.file.Header > 1 && s.header == nil {
		pl.wrong("header: there is no line %d", pl.file.Header)
	}
	switch { // these take precedence over the mapping
	case s.isUTF16:
		pl.plan.encoding = utf16
	case s.isUTF8 && pl.plan.encoding != mixed:
		pl.plan.encoding = utf8Encoding
	}
	for _, name := range s.header {
		name, _ = decodeText(name, pl.plan.encoding)
		pl.plan.header = append(pl.plan.header, strings.TrimSpace(name))
	}
	return true
}

// headerName returns a column name for comparison: "Last Name" is last_name.
func headerName(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return unicode.IsSpace(r) || r == '_' || r == '-' }), "_")
}

func (pl *planner) hasColumn(name string) bool {
	return slices.ContainsFunc(pl.plan.header, func(h string) bool { return headerName(h) == name })
}

// findOptional returns the index of a column, or -1. In an optional mapping the plan notes a missing
// column; otherwise it is a mistake, as for findColumn.
func (pl *planner) findOptional(name string) int {
	if pl.optional && len(pl.plan.header) > 0 && !pl.hasColumn(headerName(name)) {
		if !slices.Contains(pl.plan.missing, name) {
			pl.plan.missing = append(pl.plan.missing, name)
		}
		return -1
	}
	return pl.findColumn(name)
}

// findColumn returns the index of a column, or -1. A missing column is a mistake, unless the file
// is empty.
func (pl *planner) findColumn(name string) int {
	found := -1
	for i, h := range pl.plan.header {
		switch {
		case headerName(h) != headerName(name):
		case found >= 0:
			pl.wrong("the header has the column %s twice", name)
			return found
		default:
			found = i
		}
	}
	if found < 0 && len(pl.plan.header) > 0 {
		pl.wrong("there is no column %s; the header has: %s", name, strings.Join(pl.plan.header, ", "))
	}
	return found
}

// planID plans the legacy ID: the mapping's id, else the column that is mapped to legacy_id, else
// one that is called legacy_id or id.
func (pl *planner) planID() {
	ids := pl.file.ID
	optional := len(pl.plan.entity.Unique) > 0
	if ids != nil && len(ids) == 0 { // id: []
		if !optional {
			pl.wrong("id: [] is only for records with another unique key; name the column with the ids of %s", pl.plan.entity.Name)
		}
		return
	}
	for _, c := range pl.file.Columns {
		if len(pl.file.ID) == 0 && c.Field == legacyID {
			ids = append(ids, c.column)
		}
	}
	for _, candidate := range []string{legacyID, "id"} {
		if len(ids) == 0 && pl.hasColumn(candidate) {
			ids = names{candidate}
		}
	}
	switch {
	case len(ids) == 1 && ids[0] == "line" && !pl.hasColumn("line"):
		pl.plan.idIsLine = true
		return
	case len(ids) == 0 && len(pl.plan.header) > 0 && !optional:
		pl.wrong("id: must name the column that holds the id in the other system; the header has: %s", strings.Join(pl.plan.header, ", "))
	}
	for _, name := range ids {
		if placeholder.MatchString(name) {
			pl.plan.idParts = append(pl.plan.idParts, pl.parseTemplate(name))
		} else if index := pl.findColumn(name); index >= 0 {
			pl.plan.idParts = append(pl.plan.idParts, template{{index: index}})
		}
	}
}

func (pl *planner) planConditions() {
	for _, column := range sortedKeys(pl.file.Only) {
		index := pl.findOptional(column)
		if index < 0 {
			continue
		}
		c := condition{index: index}
		for _, word := range pl.file.Only[column] {
			c.words = append(c.words, strings.ToLower(strings.TrimSpace(word)))
		}
		if c.words == nil { // ~ selects rows without a value
			c.words = []string{""}
		}
		pl.plan.conditions = append(pl.plan.conditions, c)
	}
}

// planRows sets rowSize: the targets, and the columns that get a default. Most of a patient's columns
// are null, and a map with room for them all takes twice the memory.
func (pl *planner) planRows() {
	e := pl.plan.entity
	pl.plan.rowSize = len(pl.plan.targets)
	for i := range e.Columns {
		if c := &e.Columns[i]; !c.Null && pl.plan.target(c.Name) == nil {
			pl.plan.rowSize++
		}
	}
}

// checkRequired refuses a file without a column that every record needs.
func (pl *planner) checkRequired() {
	e := pl.plan.entity
	for i := range e.Columns {
		if c := &e.Columns[i]; len(pl.plan.header) > 0 && pl.plan.target(c.Name) == nil && pl.plan.requires(c) {
			pl.wrong("no column gives %s, which %s require; map a column to it or add it to constants", c.Name, e.Name)
		}
	}
}
