package codegen

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"chairside/internal/apispec"
	"chairside/internal/codec"
)

// Operations returns the operations of a resource, for the server.
func (e *entity) Operations() (all []codec.Operation) {
	if !e.HasResponse() {
		return nil
	}
	add := func(verb apispec.Verb, id, scope string, body *codec.Body, params []documentedParam) {
		if e.Has(string(verb)) {
			o := codec.Operation{ID: id, Scope: e.ScopeOf(scope), PatientData: e.PatientData(), Body: body, Params: plainParams(params)}
			switch verb {
			case apispec.List:
				o.Key, o.Links, o.Watches = e.R.Plural, e.links(), e.watches()
			case apispec.Get:
				o.Key, o.Links = e.R.Key, e.links()
			case apispec.Create:
				o.CreateOnly = e.createOnly()
			}
			all = append(all, o)
		}
	}
	add(apispec.List, "list"+e.Many(), "read", nil, append(e.Params(), e.shapeParams(e.members(false), true)...))
	add(apispec.Get, "get"+e.Name, "read", nil, e.shapeParams(e.members(true), true))
	add(apispec.Create, "create"+e.Name, "create", &codec.Body{Key: e.R.Key, Create: true, Fields: e.bodyFields(true)}, nil)
	add(apispec.Update, "update"+e.Name, "update", &codec.Body{Key: e.R.Key, Fields: e.bodyFields(false)}, nil)
	add(apispec.Delete, "delete"+e.Name, "delete", nil, nil)
	for _, o := range e.R.Operations {
		all = append(all, codec.Operation{
			ID: o.ID, Scope: e.R.Scope + ":read", PatientData: o.PatientData, Key: cmp.Or(o.Key, e.R.Key),
			Params: plainParams(append(e.OperationParams(o), e.operationShape(o)...)),
		})
	}
	return all
}

func plainParams(documented []documentedParam) (params []codec.Param) {
	for _, d := range documented {
		params = append(params, d.Param)
	}
	return params
}

// bodyFields returns the members of a request body.
func (e *entity) bodyFields(create bool) (fields []codec.Field) {
	for _, c := range e.writtenBy(create) {
		fields = append(fields, c.bodyField())
	}
	for _, x := range e.R.BodyFields {
		fields = append(fields, codec.Field{Name: x.Name, Kind: x.Kind, Default: x.Null})
	}
	return fields
}

// bodyField returns the body member of the column.
func (c *column) bodyField() codec.Field {
	f := codec.Field{
		Name: c.Name, Kind: c.Kind, Required: c.API.Required, Nullable: c.Nullable() && !c.API.Required, CreateDefault: c.API.CreateDefault,
		Plain:   c.Kind == codec.ID && !c.IsEdgeField(), // an id of another system
		Default: c.nullValue(), MaxRunes: c.API.MaxRunes, Min: c.API.Min, Max: c.API.Max,
	}
	if c.IsEnum() {
		f.Values = c.EnumValues()
	}
	if c.Kind == codec.Strings {
		f.Values = c.API.Values
	}
	return f
}

// nullValue returns the JSON that null stands for if a column has a default.
func (c *column) nullValue() string {
	switch {
	case c.Nullable() || c.API.Required:
		return ""
	case c.Kind == codec.Metadata:
		return "{}"
	case c.Kind == codec.Strings:
		return "[]"
	case c.Default && !c.DefaultFunc() && !c.IsJSON():
		b, _ := json.Marshal(c.DefaultValue()) // a literal of the schema always marshals
		return string(b)
	}
	return ""
}

// literal returns a value as Go code, without zero members of structs and without types that
// the context implies.
func literal(v any) string {
	var b strings.Builder
	writeLiteral(&b, reflect.ValueOf(v))
	return b.String()
}

func writeLiteral(b *strings.Builder, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.Elem().Kind() == reflect.Struct {
			b.WriteString("&" + v.Elem().Type().String())
			writeLiteral(b, v.Elem())
			return
		}
		fmt.Fprintf(b, "new(%s(", v.Elem().Type())
		writeLiteral(b, v.Elem())
		b.WriteString("))")
	case reflect.Struct:
		b.WriteString("{")
		separator := ""
		for i := range v.NumField() {
			if f := v.Field(i); !f.IsZero() {
				b.WriteString(separator + v.Type().Field(i).Name + ": ")
				if f.Kind() == reflect.Slice || f.Kind() == reflect.Struct {
					b.WriteString(f.Type().String())
				}
				writeLiteral(b, f)
				separator = ", "
			}
		}
		b.WriteString("}")
	case reflect.Interface:
		fmt.Fprintf(b, "%s(", v.Elem().Type())
		writeLiteral(b, v.Elem())
		b.WriteString(")")
	case reflect.Slice:
		b.WriteString("{")
		for i := range v.Len() {
			writeLiteral(b, v.Index(i))
			b.WriteString(",")
			if v.Index(i).Kind() == reflect.Struct {
				b.WriteString("\n")
			}
		}
		b.WriteString("}")
	default:
		if v.Kind() == reflect.String {
			fmt.Fprintf(b, "%q", v.String())
			return
		}
		fmt.Fprint(b, v.Interface())
	}
}
