package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// document is an OpenAPI document, as far as this package reads it.
type document struct {
	Info struct {
		Title   string `json:"title"`
		Version string `json:"version"`
	} `json:"info"`
	Paths      map[string]pathItem `json:"paths"`
	Components struct {
		Schemas    map[string]any       `json:"schemas"`
		Parameters map[string]parameter `json:"parameters"`
	} `json:"components"`
}

type pathItem struct {
	Parameters []parameter `json:"parameters"`
	Get        *operation  `json:"get"`
	Post       *operation  `json:"post"`
	Put        *operation  `json:"put"`
	Patch      *operation  `json:"patch"`
	Delete     *operation  `json:"delete"`
}

type parameter struct {
	Ref         string `json:"$ref"`
	Name        string `json:"name"`
	In          string `json:"in"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
	Schema      any    `json:"schema"`
}

type content map[string]struct {
	Schema any `json:"schema"`
}

// operation is an operation of the document, and what New derives from it.
type operation struct {
	ID          string      `json:"operationId"`
	Summary     string      `json:"summary"`
	Description string      `json:"description"`
	Parameters  []parameter `json:"parameters"`
	RequestBody *struct {
		Required bool    `json:"required"`
		Content  content `json:"content"`
	} `json:"requestBody"`
	Responses map[string]struct {
		Content content `json:"content"`
	} `json:"responses"`
	Security []map[string][]string `json:"security"`

	method, path string
	patch        *operation     // of the same path
	reader       *operation     // the GET of the record that a write changes; nil for a POST
	inputs       []input        // the tool's arguments
	schema       map[string]any // of the tool's arguments
	previews     bool           // the operation declares Prefer: dry-run
}

// parse reads a document. Numbers keep their digits.
func parse(text []byte) (*document, error) {
	d := &document{}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return d, decoder.Decode(d)
}

// operations returns all operations, ordered by path, and describes the arguments of those that
// are tools.
func (d *document) operations() (all []*operation, err error) {
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		item := d.Paths[path]
		for _, o := range []struct {
			method string
			op     *operation
		}{{http.MethodGet, item.Get}, {http.MethodPost, item.Post}, {http.MethodPut, item.Put}, {http.MethodPatch, item.Patch}, {http.MethodDelete, item.Delete}} {
			if o.op == nil {
				continue
			}
			op := o.op
			op.method, op.path, op.patch = o.method, path, item.Patch
			if o.method != http.MethodPost && item.Get != nil && item.Get.excluded() == "" { // the GET beside a POST is a list
				op.reader = item.Get
			}
			op.Parameters = append(slices.Clone(item.Parameters), op.Parameters...)
			if op.excluded() == "" {
				if err := d.describe(op); err != nil {
					return nil, fmt.Errorf("%s %s: %w", o.method, path, err)
				}
			}
			all = append(all, op)
		}
	}
	return all, nil
}

// jsonMedia is the media type that tools send and receive.
const jsonMedia = "application/json"

// excluded returns why an operation is not a tool; "" if it is one.
func (o *operation) excluded() string {
	if o.method == http.MethodPut && o.patch != nil {
		return "PUT does the same as PATCH"
	}
	if o.writes() && len(o.Security) > 0 && o.scope() == "" { // a batch
		return "it runs other operations, which are tools of their own"
	}
	for status, response := range o.Responses {
		if _, ok := response.Content[jsonMedia]; strings.HasPrefix(status, "2") && len(response.Content) > 0 && !ok {
			return "its response is a stream, not JSON"
		}
	}
	return ""
}

// writes reports whether the operation may change data.
func (o *operation) writes() bool { return o.method != http.MethodGet }

// scope returns the scope that a token needs, or "".
func (o *operation) scope() string {
	for _, requirement := range o.Security {
		if scopes := requirement["oauth2"]; len(scopes) > 0 {
			return scopes[0]
		}
	}
	return ""
}
