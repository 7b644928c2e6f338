package extract

import (
	"encoding/json"
	"fmt"
	"strings"

	"chairside/ogent"
)

const (
	documentRefs = "#/components/schemas/" // of the OpenAPI document
	schemaRefs   = "#/$defs/"              // of a JSON Schema
	jsonSchema   = "https://json-schema.org/draft/2020-12/schema"
)

// document is the part of the OpenAPI document that describes records.
type document struct {
	Components struct {
		Schemas map[string]map[string]any `json:"schemas"`
	} `json:"components"`
}

func parseDocument() (d document, err error) {
	err = json.Unmarshal(ogent.Document, &d)
	return d, err
}

// schema returns a JSON Schema of the rows of a resource: a record, or the deletion of one.
func (d document) schema(r ogent.Resource, columns []column) ([]byte, error) {
	shown, ok := d.Components.Schemas[r.Schema]["properties"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the API's document does not describe %s", r.Name)
	}
	defs := map[string]any{}
	deleted := func(is bool) map[string]any {
		return map[string]any{"const": is, "description": "Whether the record was deleted.", "x-parquet-type": "BOOLEAN"}
	}
	run := map[string]any{"type": "integer", "minimum": 1, "description": "Number of the run that wrote the row.", "x-parquet-type": "INT64"}
	properties, required := map[string]any{runColumn: run, deletedColumn: deleted(false)}, []string{runColumn, deletedColumn}
	for _, c := range columns {
		property, ok := d.convert(shown[c.name], defs).(map[string]any)
		if !ok {
			return nil, fmt.Errorf("the API's document does not describe %s of %s", c.name, r.Name)
		}
		property["x-parquet-type"] = typeOf(c.kind).Type().String()
		properties[c.name] = property
		required = append(required, c.name)
	}
	id := columns[0].name
	defs["record"] = map[string]any{"type": "object", "description": d.Components.Schemas[r.Schema]["description"], "properties": properties, "required": required, "additionalProperties": false}
	defs["deletion"] = map[string]any{
		"type": "object", "description": "A record that was deleted. In Parquet, its other columns are null.",
		"properties": map[string]any{runColumn: run, deletedColumn: deleted(true), id: properties[id]},
		"required":   []string{runColumn, deletedColumn, id}, "additionalProperties": false,
	}
	content, err := json.MarshalIndent(map[string]any{
		"$schema": jsonSchema, "title": r.Name, "$defs": defs,
		"anyOf": []any{map[string]any{"$ref": schemaRefs + "record"}, map[string]any{"$ref": schemaRefs + "deletion"}},
	}, "", "  ")
	return append(content, '\n'), err
}

// convert converts a schema of OpenAPI 3.0 to JSON Schema, and adds the schemas that it refers to.
func (d document) convert(schema any, defs map[string]any) any {
	switch s := schema.(type) {
	case []any:
		converted := make([]any, len(s))
		for i, element := range s {
			converted[i] = d.convert(element, defs)
		}
		return converted
	case map[string]any:
		converted := map[string]any{}
		for key, value := range s {
			switch name, isRef := strings.CutPrefix(fmt.Sprint(value), documentRefs); {
			case key == "$ref" && isRef:
				converted[key] = schemaRefs + name
				if _, known := defs[name]; !known {
					defs[name] = nil // so that it is not converted again
					defs[name] = d.convert(d.Components.Schemas[name], defs)
				}
			case key == "example":
				converted["examples"] = []any{value}
			case key == "nullable", key == "type" && s["nullable"] == true, key == "enum" && s["nullable"] == true:
			case key == "properties":
				members := map[string]any{} // a member may be called "example"
				for member, of := range value.(map[string]any) {
					members[member] = d.convert(of, defs)
				}
				converted[key] = members
			case key == "enum":
				converted[key] = value
			default:
				converted[key] = d.convert(value, defs)
			}
		}
		if s["nullable"] == true {
			if kind, ok := s["type"]; ok {
				converted["type"] = []any{kind, "null"}
			}
			if words, ok := s["enum"].([]any); ok {
				converted["enum"] = append(append([]any{}, words...), nil)
			}
		}
		return converted
	}
	return schema
}
