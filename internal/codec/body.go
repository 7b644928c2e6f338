package codec

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-faster/jx"

	"chairside/internal/apierror"
	"chairside/internal/decimal"
)

// Field is one member of a request body. The tables are generated.
type Field struct {
	Name          string
	Kind          Kind
	Required      bool   // required on create, never null
	Nullable      bool   // null clears it
	CreateDefault bool   // null means Default on create and is refused on update
	Plain         bool   // an id of another system, stored without a lookup
	Default       string // JSON that null stands for if the column has a default
	Values        []string
	MaxRunes      int
	Min, Max      *int64 // of numbers; of decimals in hundredths
}

// Body describes the JSON body of an operation: an object with one member, Key, whose value
// is an object with the fields.
type Body struct {
	Key    string
	Create bool // required fields must be present
	Fields []Field
}

const (
	missing = "is missing"
	blank   = "can't be blank"
)

// Read returns the canonical form of a body, without unknown members and invalid fields, and
// a message for every invalid field. Text that is not one JSON value is
// apierror.MalformedJSON.
func (b *Body) Read(sent []byte, zone *time.Location) (canonical []byte, params apierror.Params, err error) {
	var outer, given map[string]json.RawMessage
	var other *json.UnmarshalTypeError // JSON, but not an object
	if err := json.Unmarshal(sent, &outer); !utf8.Valid(sent) || err != nil && !errors.As(err, &other) {
		return nil, nil, apierror.MalformedJSON().Because(err)
	}
	params = apierror.Params{}
	var e jx.Encoder
	e.ObjStart()
	e.FieldStart(b.Key)
	e.ObjStart()
	switch inner, ok := outer[b.Key]; {
	case !ok || string(inner) == "null":
		params.Add(b.Key, missing)
	case inner[0] != '{' || json.Unmarshal(inner, &given) != nil:
		params.Add(b.Key, "must be an object")
	default:
		for _, f := range b.Fields {
			switch v, message := f.read(given, b.Create, zone); {
			case message != "":
				params.Add(f.Name, message)
			case v != nil:
				e.FieldStart(f.Name)
				encode(&e, v)
			}
		}
	}
	e.ObjEnd()
	e.ObjEnd()
	return e.Bytes(), params, nil
}

// null clears a field.
var null = json.RawMessage("null")

// encode writes a value that read or parse has returned.
func encode(e *jx.Encoder, value any) {
	switch v := value.(type) {
	case string:
		e.Str(v)
	case bool:
		e.Bool(v)
	case int64:
		e.Int64(v)
	case time.Time:
		e.Str(v.Format(time.RFC3339Nano))
	case decimal.Decimal:
		e.Str(v.String())
	case json.RawMessage:
		e.Raw(v)
	default:
		panic(fmt.Sprintf("codec: cannot encode a %T", v))
	}
}

// read returns the field's value as parse does: null if it is to be cleared, nil if nothing
// is to be written.
func (f Field) read(sent map[string]json.RawMessage, create bool, zone *time.Location) (any, string) {
	raw, ok := sent[f.Name]
	if !ok {
		if create && f.Required {
			return nil, missing
		}
		return nil, ""
	}
	if string(raw) != "null" {
		if v := newInput(raw); !v.isText || !f.blank(v.text) {
			return f.parse(v, zone)
		}
	}
	switch {
	case f.Required:
		return nil, blank
	case f.Nullable:
		return null, ""
	case f.Default != "" && (create || !f.CreateDefault):
		return f.parse(newInput(json.RawMessage(f.Default)), zone)
	case create: // the rule of the resource sets it
		return nil, ""
	}
	return nil, blank
}

// blank reports whether an empty or blank text counts as null.
func (f Field) blank(s string) bool {
	return (f.Required || f.Nullable && f.Kind != Text) && strings.TrimSpace(s) == ""
}

// ReadText reads the text of a field outside a JSON body, such as a CSV cell, by the rules of
// a JSON string on create; "" means null. The value is a string, bool, int64, time.Time,
// decimal.Decimal, or json.RawMessage for an object or list; nil is null. derived reports
// that the program itself sets the column.
func (f Field) ReadText(s string, zone *time.Location) (v any, derived bool, message string) {
	if s != "" && !f.blank(s) {
		v, message = f.parse(input{raw: json.RawMessage(s), text: s, isText: true, word: s, isString: true}, zone)
		return v, false, message
	}
	switch {
	case f.Required:
		return nil, false, blank
	case f.Nullable:
		return nil, false, ""
	case f.Default != "":
		v, message = f.parse(newInput(json.RawMessage(f.Default)), zone)
		return v, false, message
	}
	return nil, true, ""
}

type problemsKey struct{}

// WithProblems passes the messages of Body.Read to the operation. The operation reports them
// together with its own, and only after it has checked that the record exists (behaviour.md
// section 6).
func WithProblems(ctx context.Context, params apierror.Params) context.Context {
	return context.WithValue(ctx, problemsKey{}, params)
}

// Problems returns the messages about the request's body; without any, an empty map. The map
// belongs to the request.
func Problems(ctx context.Context) apierror.Params {
	if p, ok := ctx.Value(problemsKey{}).(apierror.Params); ok {
		return p
	}
	return apierror.Params{}
}
