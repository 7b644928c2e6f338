package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"chairside/internal/fault"
)

// Field is one member of a request body. The tables are generated.
type Field struct {
	Name     string
	Kind     Kind
	Required bool   // on create; on edit it cannot be cleared
	Nullable bool   // null clears it
	Stays    bool   // on edit null is refused, it does not stand for Default
	Plain    bool   // of ids: of something that is not here, and kept as it is
	Default  string // JSON that stands for null where the column has a default
	Values   []string
	MaxRunes int
	Min, Max *int64 // of numbers; of decimals in hundredths
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
// Unknown members are dropped. The error is fault.MalformedJSON for text that
// is not one JSON value.
func (b *Body) Read(sent []byte, zone *time.Location) (canonical []byte, params fault.Params, err error) {
	if !utf8.Valid(sent) {
		return nil, nil, fault.MalformedJSON()
	}
	decoder := json.NewDecoder(bytes.NewReader(sent))
	var whole json.RawMessage
	if err := decoder.Decode(&whole); err != nil {
		return nil, nil, fault.MalformedJSON().Because(err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, nil, fault.MalformedJSON()
	}
	params = fault.Params{}
	fields := map[string]json.RawMessage{}
	var outer, given map[string]json.RawMessage
	if whole[0] == '{' {
		if err := json.Unmarshal(whole, &outer); err != nil {
			return nil, nil, fault.MalformedJSON().Because(err)
		}
	}
	switch inner, ok := outer[b.Key]; {
	case !ok || string(inner) == "null":
		params.Add(b.Key, missing)
	case inner[0] != '{' || json.Unmarshal(inner, &given) != nil:
		params.Add(b.Key, "must be an object")
	default:
		for _, f := range b.Fields {
			v, message := f.read(given, b.Create, zone)
			if message != "" {
				params.Add(f.Name, message)
			} else if v != nil {
				fields[f.Name] = v
			}
		}
	}
	canonical, err = json.Marshal(map[string]any{b.Key: fields})
	return canonical, params, err
}

// read gives the canonical value of the field, nil where it was not sent.
func (f Field) read(given map[string]json.RawMessage, create bool, zone *time.Location) (json.RawMessage, string) {
	raw, sent := given[f.Name]
	if !sent {
		if create && f.Required {
			return nil, missing
		}
		return nil, ""
	}
	if s, isText := text(raw); string(raw) != "null" && !(isText && f.blank(s)) {
		return f.value(raw, zone)
	}
	switch {
	case f.Required:
		return nil, blank
	case f.Nullable:
		return json.RawMessage("null"), ""
	case f.Default != "" && (create || !f.Stays):
		return f.value(json.RawMessage(f.Default), zone)
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
func WithProblems(ctx context.Context, params fault.Params) context.Context {
	return context.WithValue(ctx, problemsKey{}, params)
}

// Problems gives the messages about the request's body, an empty map where
// there are none. The map belongs to the request.
func Problems(ctx context.Context) fault.Params {
	if p, ok := ctx.Value(problemsKey{}).(fault.Params); ok {
		return p
	}
	return fault.Params{}
}
