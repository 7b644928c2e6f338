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
	Plain         bool   // an id of another system, stored as it is
	Default       string // JSON that null stands for if the column has a default
	Values        []string
	MaxRunes      int
	Min, Max      *int64 // of numbers; of decimals in hundredths
}

// Body describes the JSON body of an operation: an object whose one member, Key, has the
// fields.
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

// read returns the value of the field as parse does, null, or nil if it has none.
func (f Field) read(sent map[string]json.RawMessage, create bool, zone *time.Location) (any, string) {
	raw, ok := sent[f.Name]
	if !ok {
		if create && f.Required {
			return nil, missing
		}
		return nil, ""
	}
	if string(raw) != "null" {
		if v := givenOf(raw); !v.isText || !f.blank(v.text) {
			return f.parse(v, zone)
		}
	}
	switch {
	case f.Required:
		return nil, blank
	case f.Nullable:
		return null, ""
	case f.Default != "" && (create || !f.CreateDefault):
		return f.parse(givenOf(json.RawMessage(f.Default)), zone)
	case create: // the rule of the resource sets it
		return nil, ""
	}
	return nil, blank
}

// blank reports whether text means null.
func (f Field) blank(s string) bool {
	return (f.Required || f.Nullable && f.Kind != Text) && strings.TrimSpace(s) == ""
}

// ReadText reads text that is not from a JSON body, by the rules of a JSON string on create;
// "" is null. The value is a string, bool, int64, time.Time or decimal.Decimal,
// json.RawMessage for an object or list, and nil for null. derived reports that there is no
// value because the program sets it.
func (f Field) ReadText(s string, zone *time.Location) (v any, derived bool, message string) {
	if s != "" && !f.blank(s) {
		v, message = f.parse(given{raw: json.RawMessage(s), text: s, isText: true, word: s, isString: true}, zone)
		return v, false, message
	}
	switch {
	case f.Required:
		return nil, false, blank
	case f.Nullable:
		return nil, false, ""
	case f.Default != "":
		v, message = f.parse(givenOf(json.RawMessage(f.Default)), zone)
		return v, false, message
	}
	return nil, true, ""
}

type problemsKey struct{}

// WithProblems passes the messages of Body.Read to the operation, which refuses the request
// with all problems together, after it has checked that the record exists (behaviour.md
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
