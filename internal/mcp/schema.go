package mcp

import (
	"fmt"
	"slices"
	"strings"
)

// notForArguments are keywords of OpenAPI that mean nothing in an argument's JSON schema.
var notForArguments = []string{"example", "examples", "externalDocs", "xml", "discriminator", "readOnly", "writeOnly", "nullable", "$ref"}

// jsonSchema returns a schema of OpenAPI 3.0 as JSON Schema 2020-12, with references replaced by
// what they refer to. outer are the references that lead here.
func (d *document) jsonSchema(source any, outer ...string) (any, error) {
	from, ok := source.(map[string]any)
	if !ok {
		return source, nil // true, false or absent
	}
	if ref, ok := from["$ref"].(string); ok {
		name, known := strings.CutPrefix(ref, "#/components/schemas/")
		target := d.Components.Schemas[name]
		switch {
		case !known || target == nil:
			return nil, fmt.Errorf("unknown schema %q", ref)
		case slices.Contains(outer, name): // it contains itself: anything may follow
			return map[string]any{}, nil
		}
		return d.jsonSchema(target, append(slices.Clone(outer), name)...)
	}
	to := map[string]any{}
	for key, value := range from {
		if slices.Contains(notForArguments, key) || strings.HasPrefix(key, "x-") {
			continue
		}
		converted, err := d.keyword(key, value, outer)
		if err != nil {
			return nil, err
		}
		to[key] = converted
	}
	exclusive(to, "minimum", "exclusiveMinimum")
	exclusive(to, "maximum", "exclusiveMaximum")
	if from["nullable"] == true {
		nullable(to)
	}
	return to, nil
}

// keyword converts the value of one keyword.
func (d *document) keyword(key string, value any, outer []string) (any, error) {
	switch key {
	case "items", "additionalProperties", "not":
		return d.jsonSchema(value, outer...)
	case "allOf", "anyOf", "oneOf":
		list, _ := value.([]any)
		converted := make([]any, len(list))
		for i, one := range list {
			var err error
			if converted[i], err = d.jsonSchema(one, outer...); err != nil {
				return nil, err
			}
		}
		return converted, nil
	case "properties":
		all, _ := value.(map[string]any)
		converted := map[string]any{}
		for name, property := range all {
			if s, ok := property.(map[string]any); ok && s["readOnly"] == true {
				continue
			}
			var err error
			if converted[name], err = d.jsonSchema(property, outer...); err != nil {
				return nil, err
			}
		}
		return converted, nil
	}
	return value, nil
}

// exclusive converts the boolean exclusiveMinimum of OpenAPI 3.0, which qualifies minimum, to
// the number of JSON Schema.
func exclusive(schema map[string]any, limit, keyword string) {
	switch schema[keyword] {
	case true:
		schema[keyword] = schema[limit]
		delete(schema, limit)
	case false:
		delete(schema, keyword)
	}
}

// nullable adds null to the values of a schema.
func nullable(schema map[string]any) {
	if values, ok := schema["enum"].([]any); ok && !slices.Contains(values, nil) {
		schema["enum"] = append(slices.Clone(values), nil)
	}
	if kind, ok := schema["type"].(string); ok {
		schema["type"] = []any{kind, "null"}
	}
}
