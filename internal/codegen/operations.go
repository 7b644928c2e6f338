package codegen

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"chairside/internal/contract"
	"chairside/internal/wire"
)

// Operations are what the server must know of the operations of a resource.
func (e *entity) Operations() (all []wire.Operation) {
	if !e.HasOut() {
		return nil
	}
	add := func(verb contract.Verb, id, scope string, body *wire.Body, params []documented) {
		if e.Has(string(verb)) {
			all = append(all, wire.Operation{ID: id, Scope: e.R.Scope + ":" + scope, PatientData: e.PatientData(), Body: body, Params: plainParams(params)})
		}
	}
	add(contract.List, "list"+e.Many(), "read", nil, e.Params())
	add(contract.Get, "get"+e.Name, "read", nil, nil)
	add(contract.Create, "create"+e.Name, "create", &wire.Body{Key: e.R.Key, Create: true, Fields: e.bodyFields()}, nil)
	add(contract.Update, "update"+e.Name, "update", &wire.Body{Key: e.R.Key, Fields: e.bodyFields()}, nil)
	add(contract.Delete, "delete"+e.Name, "delete", nil, nil)
	for _, o := range e.R.Others {
		all = append(all, wire.Operation{ID: o.ID, Scope: e.R.Scope + ":read", Params: plainParams(e.OtherParams(o))})
	}
	return all
}

func plainParams(documented []documented) (params []wire.Param) {
	for _, d := range documented {
		params = append(params, d.Param)
	}
	return params
}

// bodyFields are the members of a request body.
func (e *entity) bodyFields() (fields []wire.Field) {
	for _, c := range e.Written() {
		f := wire.Field{
			Name: c.Name, Kind: c.Kind, Required: c.API.Required, Nullable: c.Nillable && !c.API.Required, Stays: c.API.Stays,
			Plain:   c.Kind == wire.ID && !c.IsEdgeField(), // the id of something that is not here
			Default: c.nullValue(), MaxRunes: c.API.MaxRunes, Min: c.API.Min, Max: c.API.Max,
		}
		if c.IsEnum() {
			f.Values = c.EnumValues()
		}
		fields = append(fields, f)
	}
	for _, x := range e.R.Extra {
		fields = append(fields, wire.Field{Name: x.Name, Kind: x.Kind, Default: x.Null})
	}
	return fields
}

// nullValue is the JSON that stands for null where a column has a default.
func (c *column) nullValue() string {
	switch {
	case c.Nillable || c.API.Required:
		return ""
	case c.Kind == wire.Metadata:
		return "{}"
	case c.Default:
		b, _ := json.Marshal(c.DefaultValue()) // a literal of the schema always marshals
		return string(b)
	}
	return ""
}

// literal is a value in Go, without the zero members of structs and without the type
// where the context has it.
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
				if f.Kind() == reflect.Slice {
					b.WriteString(f.Type().String())
				}
				writeLiteral(b, f)
				separator = ", "
			}
		}
		b.WriteString("}")
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
