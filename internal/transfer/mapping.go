package transfer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-faster/yaml"
)

// mapping says how the files of another system are read. doc.go describes the
// members; JSON is YAML too.
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

// columnMapping is where one column of a file goes. A column may be listed
// several times, and a field too.
type columnMapping struct {
	column string // as in the header

	Field   string            `yaml:"field"`
	Match   string            `yaml:"match"`
	Values  map[string]string `yaml:"values"`
	Default string            `yaml:"default"`
	Dates   []string          `yaml:"dates"`
	Times   []string          `yaml:"times"`
	By      string            `yaml:"by"`
	Missing string            `yaml:"missing"`
	Negate  bool              `yaml:"negate"`

	Hundredths bool `yaml:"hundredths"`
}

// names is a name or a list of names; null is none, and in a list the empty one.
type names []string

// UnmarshalYAML reads either form.
func (n *names) UnmarshalYAML(node *yaml.Node) error {
	const null = "!!null"
	if node.Kind == yaml.ScalarNode {
		if node.Tag != null {
			*n = names{node.Value}
		}
		return nil
	}
	var list texts
	if err := list.UnmarshalYAML(node); err != nil {
		return err
	}
	for i, name := range node.Content {
		if name.Tag == null {
			list[i] = ""
		}
	}
	*n = names(list)
	return nil
}

// texts is a list in which a word like NULL, which YAML has for nothing, is that
// word.
type texts []string

// UnmarshalYAML takes the words as they are written.
func (t *texts) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind != yaml.SequenceNode {
		return fmt.Errorf("line %d: must be a list", node.Line)
	}
	*t = texts{}
	for _, word := range node.Content {
		if word.Kind != yaml.ScalarNode {
			return fmt.Errorf("line %d: must be a list of texts", word.Line)
		}
		*t = append(*t, word.Value)
	}
	return nil
}

// columnList keeps the order in which columns are listed.
type columnList []columnMapping

// UnmarshalYAML reads a hash from a column to a field, to the members of a
// columnMapping, to a list of those, or to null for a column to leave out.
func (l *columnList) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: columns must be a hash from the name of a column to a field", node.Line)
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		column, targets := node.Content[i].Value, []*yaml.Node{node.Content[i+1]}
		if targets[0].Kind == yaml.SequenceNode {
			targets = targets[0].Content
		}
		for _, target := range targets {
			m := columnMapping{column: column}
			switch {
			case target.Kind == yaml.ScalarNode && target.Tag == "!!null":
			case target.Kind == yaml.ScalarNode:
				m.Field = target.Value
			case target.Kind == yaml.MappingNode:
				if err := knownMembers(target, "field", "match", "values", "default", "dates", "times", "by", "missing", "negate", "hundredths"); err != nil {
					return err
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

// knownMembers refuses members with other names: a node that decodes itself is
// not checked by the decoder.
func knownMembers(node *yaml.Node, known ...string) error {
	for i := 0; i < len(node.Content); i += 2 {
		found := false
		for _, k := range known {
			found = found || node.Content[i].Value == k
		}
		if !found {
			return fmt.Errorf("line %d: %q is none of: %s", node.Content[i].Line, node.Content[i].Value, strings.Join(known, ", "))
		}
	}
	return nil
}

// MappingError is everything that is wrong with a mapping and the headers of
// the files it names, a line each.
type MappingError []string

// Error lists the mistakes.
func (m MappingError) Error() string {
	return "the mapping cannot be used:\n  " + strings.Join(m, "\n  ")
}

func (m *MappingError) add(format string, args ...any) { *m = append(*m, fmt.Sprintf(format, args...)) }

// mappingNames are the names by which a mapping is found in a directory.
var mappingNames = []string{"mapping.yaml", "mapping.yml", "mapping.json"}

// ErrNothing is returned for a directory that holds neither an export nor a mapping.
var ErrNothing = errors.New("there is neither a manifest.json of an export nor a mapping.yaml")

// IsExport reports whether dir holds an export of this program's, false where
// it holds a mapping, and ErrNothing or an error of reading it.
func IsExport(dir string) (bool, error) {
	for _, name := range append([]string{manifestName}, mappingNames...) {
		_, err := os.Stat(filepath.Join(dir, name))
		if err == nil {
			return name == manifestName, nil
		}
		if !errors.Is(err, os.ErrNotExist) {
			return false, err
		}
	}
	return false, ErrNothing
}

// readMapping reads the mapping at path, or the one in dir for "".
func readMapping(dir, path string) (m mapping, content []byte, err error) {
	candidates := []string{path}
	if path == "" {
		candidates = nil
		for _, name := range mappingNames {
			candidates = append(candidates, filepath.Join(dir, name))
		}
	}
	for _, path = range candidates {
		if content, err = os.ReadFile(path); !errors.Is(err, os.ErrNotExist) {
			break
		}
	}
	if err != nil {
		return m, nil, fmt.Errorf("read the mapping: %w", err)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	decoder.KnownFields(true)
	if err := decoder.Decode(&m); err != nil && !errors.Is(err, io.EOF) {
		return m, nil, MappingError{filepath.Base(path) + ": " + err.Error()}
	}
	return m, content, nil
}

// over is how one file is read: as it says itself, else as all are.
func (r reading) over(all reading) reading {
	pick := func(own, general string) string {
		if own != "" {
			return own
		}
		return general
	}
	r.Encoding = pick(r.Encoding, all.Encoding)
	r.Delimiter = pick(r.Delimiter, all.Delimiter)
	r.TimeZone = pick(r.TimeZone, all.TimeZone)
	r.DecimalMark = pick(r.DecimalMark, all.DecimalMark)
	if r.Dates == nil {
		r.Dates = all.Dates
	}
	if r.Times == nil {
		r.Times = all.Times
	}
	if r.Nulls == nil {
		r.Nulls = all.Nulls
	}
	return r
}
