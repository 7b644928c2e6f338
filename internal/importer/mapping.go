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

// Guide describes mappings, and what becomes of the rows of files.
//
//go:embed mapping.md
var Guide string

// mapping says how the files of another system are read: see mapping.md. JSON is YAML too.
type mapping struct {
	Source   string        `yaml:"source"`
	Practice string        `yaml:"practice"`
	LooseIDs bool          `yaml:"loose_ids"`
	Reading  reading       `yaml:",inline"`
	Files    []fileMapping `yaml:"files"`
}

// reading is how texts are read: of all files, or of one.
type reading struct {
	Encoding    string   `yaml:"encoding"`
	Delimiter   string   `yaml:"delimiter"`
	Dates       []string `yaml:"dates"`
	Times       []string `yaml:"times"`
	TimeZone    string   `yaml:"time_zone"`
	DecimalMark string   `yaml:"decimal_mark"`
	Nulls       texts    `yaml:"nulls"`
}

// over is how one file is read: as it says itself, else as all are.
func (r reading) over(all reading) reading {
	return reading{
		Encoding: cmp.Or(r.Encoding, all.Encoding), Delimiter: cmp.Or(r.Delimiter, all.Delimiter),
		Dates: own(r.Dates, all.Dates), Times: own(r.Times, all.Times), TimeZone: cmp.Or(r.TimeZone, all.TimeZone),
		DecimalMark: cmp.Or(r.DecimalMark, all.DecimalMark), Nulls: own(r.Nulls, all.Nulls),
	}
}

// own is a list that is there, though it may be empty, or else the general one.
func own[L ~[]string](list, general L) L {
	if list == nil {
		return general
	}
	return list
}

type fileMapping struct {
	File      string            `yaml:"file"`
	Entity    string            `yaml:"entity"`
	Header    int               `yaml:"header"`
	ID        names             `yaml:"id"`
	Columns   columnList        `yaml:"columns"`
	Constants map[string]string `yaml:"constants"`
	Only      map[string]names  `yaml:"only"`
	Reading   reading           `yaml:",inline"`
}

// columnMapping is where one column of a file goes. A column may be listed several times, and a
// field too.
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
	Negate     bool              `yaml:"negate"`
	Hundredths bool              `yaml:"hundredths"`
}

// columnMembers are the members of a columnMapping.
var columnMembers = []string{"field", "match", "values", "default", "dates", "times", "by", "missing", "negate", "hundredths"}

// yamlNull is the tag of what is nothing in YAML.
const yamlNull = "!!null"

// names is a name or a list of names; null is none, and in a list the empty one.
type names []string

// UnmarshalYAML reads either form.
func (n *names) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind != yaml.ScalarNode {
		return readTexts((*[]string)(n), node, true)
	}
	if node.Tag != yamlNull {
		*n = names{node.Value}
	}
	return nil
}

// texts is a list in which a word like NULL, which YAML has for nothing, is that word.
type texts []string

// UnmarshalYAML takes the words as they are written.
func (t *texts) UnmarshalYAML(node *yaml.Node) error { return readTexts((*[]string)(t), node, false) }

// readTexts reads a list of words, in which null may be the empty one.
func readTexts(list *[]string, node *yaml.Node, null bool) error {
	if node.Kind != yaml.SequenceNode {
		return fmt.Errorf("line %d: must be a list", node.Line)
	}
	*list = []string{}
	for _, word := range node.Content {
		switch {
		case word.Kind != yaml.ScalarNode:
			return fmt.Errorf("line %d: must be a list of texts", word.Line)
		case null && word.Tag == yamlNull:
			*list = append(*list, "")
		default:
			*list = append(*list, word.Value)
		}
	}
	return nil
}

// columnList keeps the order in which columns are listed.
type columnList []columnMapping

// UnmarshalYAML reads a hash from a column to a field, to the members of a columnMapping, to a
// list of those, or to null for a column to leave out.
func (l *columnList) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: columns must be a hash from the name of a column to a field", node.Line)
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		column, targets := node.Content[i].Value, node.Content[i+1:i+2]
		if targets[0].Kind == yaml.SequenceNode {
			targets = targets[0].Content
		}
		for _, target := range targets {
			m := columnMapping{column: column}
			switch target.Kind {
			case yaml.ScalarNode:
				if target.Tag != yamlNull {
					m.Field = target.Value
				}
			case yaml.MappingNode:
				// The decoder does not check a node that decodes itself.
				for k := 0; k < len(target.Content); k += 2 {
					if name := target.Content[k]; !slices.Contains(columnMembers, name.Value) {
						return fmt.Errorf("line %d: %q is none of: %s", name.Line, name.Value, strings.Join(columnMembers, ", "))
					}
				}
				if err := target.Decode(&m); err != nil {
					return err
				}
			default:
				return fmt.Errorf("line %d: the column %s must go to a field", target.Line, column)
			}
			*l = append(*l, m)
		}
	}
	return nil
}

// MappingError is everything that is wrong with a mapping and the headers of the files it names,
// a line each.
type MappingError []string

// Error lists the mistakes.
func (m MappingError) Error() string {
	return "the mapping cannot be used:\n  " + strings.Join(m, "\n  ")
}

func (m *MappingError) add(format string, args ...any) { *m = append(*m, fmt.Sprintf(format, args...)) }

// ErrNoMapping is returned for a directory without a mapping.
var ErrNoMapping = errors.New("there is neither a mapping.yaml nor the manifest.json of an export")

// FindMapping returns the path of the mapping in dir.
func FindMapping(dir string) (path string, err error) {
	for _, name := range []string{"mapping.yaml", "mapping.yml", "mapping.json"} {
		path = filepath.Join(dir, name)
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			return path, err
		}
	}
	return "", fmt.Errorf("%s: %w", dir, ErrNoMapping)
}

// readMapping reads the mapping at path, or the one in dir for "".
func readMapping(dir, path string) (m mapping, content []byte, err error) {
	if path == "" {
		if path, err = FindMapping(dir); err != nil {
			return m, nil, err
		}
	}
	if content, err = os.ReadFile(path); err != nil {
		return m, nil, fmt.Errorf("read the mapping: %w", err)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	decoder.KnownFields(true)
	if err := decoder.Decode(&m); err != nil && !errors.Is(err, io.EOF) {
		return m, nil, MappingError{filepath.Base(path) + ": " + err.Error()}
	}
	return m, content, nil
}
