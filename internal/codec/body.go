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
	Required      bool   // on create; on edit it cannot be cleared
	Nullable      bool   // null clears it
	CreateDefault bool   // on edit null is refused, it does not stand for Default
	Plain         bool   // of ids: of something that is not here, and kept as it is
	Default       string // JSON that stands for null where the column has a default
	Values        []string
	MaxRunes      int
	Min, Max      *int64 // of numbers; of decimals in hundredths
}

// Body describes the JSON body of an operation: an object that wraps the
// fields in a member named after the resource.
type Body struct {
	Key    string
	Create bool // required fields must be there
	Fields []Field
}

const (
	missing = "is missing"
	blank   = "can't be blank"
)

// Read turns what a client sent into the canonical body, with a message for
// every field that could not be read; those fields are left out of the result.
// Unknown members are dropped. The error is apierror.MalformedJSON for text that
// is not one JSON value.
func (b *Body) Read(sent []byte, zone *time.Location) (canonical []byte, params apierror.Params, err error) {
	var outer, given map[string]json.RawMessage
	var other *json.UnmarshalTypeError // JSON, but no object
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

// null is the value of a field that is cleared.
var null = json.RawMessage("null")

// encode writes a value as read and parse give it.
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
		panic(fmt.Sprintf("codec: %T is not written", v))
	}
}

// read gives the value of the field as parse does, or null, or nil where there is
// none.
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
	case create: // it follows from something else
		return nil, ""
	}
	return nil, blank
}

// blank reports whether a text stands for null.
func (f Field) blank(s string) bool {
	return (f.Required || f.Nullable && f.Kind != Text) && strings.TrimSpace(s) == ""
}

// ReadText reads a text that comes from somewhere else than a client's body,
// by the rules of a JSON string on create; "" is null. The value is a string,
// bool, int64, time.Time, decimal.Decimal, or json.RawMessage for an object or a
// list, and nil for null. follows reports that there is none, because it follows
// from something else.
func (f Field) ReadText(s string, zone *time.Location) (v any, follows bool, message string) {
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

// WithProblems keeps the messages of Body.Read for the handler, which adds its
// own before it refuses the request: a missing record is told before a bad
// field, and all bad fields are told together (behaviour.md section 6).
func WithProblems(ctx context.Context, params apierror.Params) context.Context {
	return context.WithValue(ctx, problemsKey{}, params)
}

// Problems gives the messages about the request's body, an empty map where
// there are none. The map belongs to the request.
func Problems(ctx context.Context) apierror.Params {
	if p, ok := ctx.Value(problemsKey{}).(apierror.Params); ok {
		return p
	}
	return apierror.Params{}
}
