package importer

import (
	"bytes"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-faster/yaml"
)

// Guide is the documentation of mappings.
//
//go:embed mapping.md
var Guide string

// mapping is the content of mapping.yaml; mapping.md describes it. The decoder also reads JSON.
type mapping struct {
	Source   string        `yaml:"source"`
	Practice string        `yaml:"practice"`
	LooseIDs bool          `yaml:"loose_ids"`
	Optional bool          `yaml:"optional"`
	Format   format        `yaml:",inline"`
	Files    []fileMapping `yaml:"files"`

	missing []string // files that dropMissing removed
}

// format says how files write values: all of them, or one.
type format struct {
	Encoding    string   `yaml:"encoding"`
	Delimiter   string   `yaml:"delimiter"`
	Dates       []string `yaml:"dates"`
	Times       []string `yaml:"times"`
	TimeZone    string   `yaml:"time_zone"`
	DecimalMark string   `yaml:"decimal_mark"`
	Nulls       words    `yaml:"nulls"`
}

// orElse returns the format of one file: its own settings, or else those of all files.
func (f format) orElse(all format) format {
	return format{
		Encoding: cmp.Or(f.Encoding, all.Encoding), Delimiter: cmp.Or(f.Delimiter, all.Delimiter),
		Dates: orElse(f.Dates, all.Dates), Times: orElse(f.Times, all.Times), TimeZone: cmp.Or(f.TimeZone, all.TimeZone),
		DecimalMark: cmp.Or(f.DecimalMark, all.DecimalMark), Nulls: orElse(f.Nulls, all.Nulls),
	}
}

// orElse returns list, which may be empty, or fallback if list is nil.
func orElse[L ~[]string](list, fallback L) L {
	if list == nil {
		return fallback
	}
	return list
}

// fileMapping describes one file, or some records of it.
type fileMapping struct {
	File      string            `yaml:"file"`
	Entity    string            `yaml:"entity"`
	Header    int               `yaml:"header"`
	ID        names             `yaml:"id"`
	MergeBy   string            `yaml:"merge_by"`
	Columns   columnList        `yaml:"columns"`
	Constants map[string]string `yaml:"constants"`
	Only      map[string]names  `yaml:"only"`
	Format    format            `yaml:",inline"`
}

// columnMapping maps one column of a file to one field. A column may have several, and so may a
// field.
type columnMapping struct {
	column string // as in the header

	Field      string            `yaml:"field"`
	Match      string            `yaml:"match"`
	Values     map[string]string `yaml:"values"`
	Default    string            `yaml:"default"`
	Dates      []string          `yaml:"dates"`
	Times      []string          `yaml:"times"`
	By         string            `yaml:"by"`
	Missing    string            `yaml:"missing"`
	Invalid    string            `yaml:"invalid"`
	Negate     bool              `yaml:"negate"`
	Hundredths bool              `yaml:"hundredths"`
}

// columnOptions are the YAML keys of a columnMapping.
var columnOptions = []string{"field", "match", "values", "default", "dates", "times", "by", "missing", "invalid", "negate", "hundredths"}

const yamlNull = "!!null" // the tag of null in YAML

// names is a list of names. One name may stand alone, null is no name, and null in a list is "".
type names []string

// UnmarshalYAML reads a name or a list.
func (n *names) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		if node.Tag != yamlNull {
			*n = names{node.Value}
		}
		return nil
	}
	items, err := scalars(node)
	*n = names{}
	for _, item := range items {
		name := item.Value
		if item.Tag == yamlNull {
			name = ""
		}
		*n = append(*n, name)
	}
	return err
}

// words is a list of words, in which NULL and ~ are words and not null.
type words []string

// UnmarshalYAML takes the words as they are written.
func (w *words) UnmarshalYAML(node *yaml.Node) error {
	items, err := scalars(node)
	*w = words{}
	for _, item := range items {
		*w = append(*w, item.Value)
	}
	return err
}

// scalars returns the items of a list of scalars.
func scalars(list *yaml.Node) ([]*yaml.Node, error) {
	if list.Kind != yaml.SequenceNode {
		return nil, fmt.Errorf("line %d: must be a list", list.Line)
	}
	for _, item := range list.Content {
		if item.Kind != yaml.ScalarNode {
			return nil, fmt.Errorf("line %d: must be a list of texts", item.Line)
		}
	}
	return list.Content, nil
}

// columnList holds columns in the order of the mapping.
type columnList []columnMapping

// UnmarshalYAML reads a mapping from columns to their fields.
func (l *columnList) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: columns must map the name of each column to a field", node.Line)
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		column, fields := node.Content[i].Value, node.Content[i+1:i+2]
		if fields[0].Kind == yaml.SequenceNode {
			fields = fields[0].Content
		}
		for _, field := range fields {
			c, err := readColumnMapping(column, field)
			if err != nil {
				return err
			}
			*l = append(*l, c)
		}
	}
	return nil
}

// readColumnMapping reads what one column is mapped to: a field, a field with options, or null to
// ignore the column.
func readColumnMapping(column string, node *yaml.Node) (columnMapping, error) {
	c := columnMapping{column: column}
	switch node.Kind {
	case yaml.ScalarNode:
		if node.Tag != yamlNull {
			c.Field = node.Value
		}
		return c, nil
	case yaml.MappingNode:
		// KnownFields has no effect on a node that decodes itself.
		for i := 0; i < len(node.Content); i += 2 {
			if key := node.Content[i]; !slices.Contains(columnOptions, key.Value) {
				return c, fmt.Errorf("line %d: %q must be one of: %s", key.Line, key.Value, strings.Join(columnOptions, ", "))
			}
		}
		err := node.Decode(&c)
		return c, err
	}
	return c, fmt.Errorf("line %d: column %s must be mapped to a field", node.Line, column)
}

// MappingError lists all mistakes in a mapping, compared with the headers of its files.
type MappingError []string

// Error returns one line for each mistake.
func (m MappingError) Error() string {
	return "the mapping is invalid:\n  " + strings.Join(m, "\n  ")
}

func (m *MappingError) add(format string, args ...any) { *m = append(*m, fmt.Sprintf(format, args...)) }

// ErrNoMapping is returned by FindMapping and Import for a directory without a mapping.
var ErrNoMapping = errors.New("there is neither a mapping.yaml nor the manifest.json of an export")

// FindMapping returns the path of the mapping in dir, or ErrNoMapping.
func FindMapping(dir string) (path string, err error) {
	for _, name := range []string{"mapping.yaml", "mapping.yml", "mapping.json"} {
		path = filepath.Join(dir, name)
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			return path, err
		}
	}
	return "", fmt.Errorf("%s: %w", dir, ErrNoMapping)
}

// readMapping reads a mapping: the ready one with the name path, else the one at path, or if that
// is "", the one in dir. It also returns the bytes of the file.
func readMapping(dir, path string) (m mapping, content []byte, err error) {
	if path == "" {
		if path, err = FindMapping(dir); err != nil {
			return m, nil, err
		}
	}
	if ready, ok := FindReady(path); ok {
		content = []byte(ready.Content)
	} else if content, err = os.ReadFile(path); err != nil {
		return m, nil, fmt.Errorf("read the mapping: %w", err)
	}
	if m, err = parseMapping(filepath.Base(path), content); err != nil {
		return m, nil, err
	}
	m.missing = m.dropMissing(dir)
	return m, content, nil
}

// parseMapping parses the content of a mapping.
func parseMapping(name string, content []byte) (m mapping, err error) {
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	decoder.KnownFields(true)
	if err := decoder.Decode(&m); err != nil && !errors.Is(err, io.EOF) {
		return m, MappingError{name + ": " + err.Error()}
	}
	return m, nil
}
