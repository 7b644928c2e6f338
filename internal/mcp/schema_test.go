package mcp

import (
	"encoding/json"
	"testing"
)

func TestSchemasOfOpenAPIBecomeJSONSchema(t *testing.T) {
	for _, c := range []struct{ name, from, want string }{
		{"nullable", `{"type": "string", "nullable": true, "maxLength": 5}`, `{"maxLength":5,"type":["string","null"]}`},
		{"nullable enum", `{"type": "string", "enum": ["a"], "nullable": true}`, `{"enum":["a",null],"type":["string","null"]}`},
		{"exclusive", `{"type": "integer", "minimum": 1, "exclusiveMinimum": true}`, `{"exclusiveMinimum":1,"type":"integer"}`},
		{"inclusive", `{"type": "integer", "maximum": 1, "exclusiveMaximum": false}`, `{"maximum":1,"type":"integer"}`},
		{"read-only", `{"type": "object", "properties": {"id": {"readOnly": true}, "a": {"type": "string", "example": 1}}}`, `{"properties":{"a":{"type":"string"}},"type":"object"}`},
		{"combined", `{"allOf": [{"$ref": "#/components/schemas/A"}, {"x-go": 1}]}`, `{"allOf":[{"type":"integer"},{}]}`},
		{"free object", `{"type": "object", "additionalProperties": {"type": "string", "nullable": true}}`, `{"additionalProperties":{"type":["string","null"]},"type":"object"}`},
		{"any object", `{"type": "object", "additionalProperties": true}`, `{"additionalProperties":true,"type":"object"}`},
		{"large number", `{"maximum": 9223372036854775807}`, `{"maximum":9223372036854775807}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := parse([]byte(`{"components": {"schemas": {"A": {"type": "integer"}, "Z": ` + c.from + `}}}`))
			if err != nil {
				t.Fatal(err)
			}
			schema, err := d.jsonSchema(d.Components.Schemas["Z"])
			if err != nil {
				t.Fatal(err)
			}
			if got, err := json.Marshal(schema); err != nil || string(got) != c.want {
				t.Errorf("%s %v, want %s", got, err, c.want)
			}
		})
	}
}
