package mcp

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// input is an argument of a tool and where it goes in the request.
type input struct {
	name     string // of the argument
	in       string // path, query, header, member, body or control
	target   string // name of the parameter, or of the member of the body
	required bool
}

// wholeBody is the argument for a body that has no members of its own.
const wholeBody = "body"

// The arguments of tools that write, beside those of the operation.
const (
	confirmArgument = "confirm"
	matchArgument   = "if_match"
)

const (
	confirmText = "true makes the change. Without it nothing is stored, and the result shows what would change."
	matchText   = "The if_match value of the preview. The change is refused if the record has changed since."
)

// argumentName matches the names that every assistant accepts.
var argumentName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// describe derives the arguments of an operation's tool and their schema.
func (d *document) describe(o *operation) error {
	properties, required := map[string]any{}, []string{}
	add := func(in input, schema any) error {
		if _, ok := properties[in.name]; ok || !argumentName.MatchString(in.name) {
			return fmt.Errorf("%q cannot be an argument's name, or is one already", in.name)
		}
		o.inputs, properties[in.name] = append(o.inputs, in), schema
		if in.required {
			required = append(required, in.name)
		}
		return nil
	}
	if err := errors.Join(d.addParameters(o, add), d.addBody(o, add)); err != nil {
		return err
	}
	if o.writes() {
		if err := add(input{name: confirmArgument, in: "control"}, map[string]any{"type": "boolean", "description": confirmText}); err != nil {
			return err
		}
		if _, ok := properties[matchArgument]; !ok && o.reader != nil {
			if err := add(input{name: matchArgument, in: "header", target: "If-Match"}, map[string]any{"type": "string", "description": matchText}); err != nil {
				return err
			}
		}
	}
	o.schema = map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		o.schema["required"] = required
	}
	return nil
}

// addParameters adds the parameters of path, query and header.
func (d *document) addParameters(o *operation, add func(input, any) error) error {
	for _, p := range o.Parameters {
		if p.Ref != "" {
			target, ok := d.Components.Parameters[strings.TrimPrefix(p.Ref, "#/components/parameters/")]
			if !ok {
				return fmt.Errorf("unknown parameter %q", p.Ref)
			}
			p = target
		}
		in := input{name: strings.TrimSuffix(p.Name, "[]"), in: p.In, target: p.Name, required: p.Required}
		switch p.In {
		case "path", "query":
		case "header":
			switch http.CanonicalHeaderKey(p.Name) {
			case "Prefer":
				o.previews = o.previews || strings.Contains(fmt.Sprint(p.Description, p.Schema), dryRun)
				continue
			case "If-None-Match", "User-Agent", "Accept", "Content-Type", "Authorization":
				continue
			}
			in.name = strings.ReplaceAll(strings.ToLower(p.Name), "-", "_")
		default:
			continue
		}
		schema, err := d.jsonSchema(p.Schema)
		if err != nil {
			return err
		}
		if err := add(in, described(schema, p.Description)); err != nil {
			return err
		}
	}
	return nil
}

// addBody adds the members of the request body, or the whole body if it declares none.
func (d *document) addBody(o *operation, add func(input, any) error) error {
	if o.RequestBody == nil {
		return nil
	}
	converted, err := d.jsonSchema(o.RequestBody.Content[jsonMedia].Schema)
	if err != nil {
		return err
	}
	schema, _ := converted.(map[string]any)
	members, ok := schema["properties"].(map[string]any)
	if !ok {
		return add(input{name: wholeBody, in: wholeBody, required: o.RequestBody.Required}, converted)
	}
	required, _ := schema["required"].([]any)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		needed := o.RequestBody.Required && slices.Contains(required, any(name))
		if err := add(input{name: name, in: "member", target: name, required: needed}, members[name]); err != nil {
			return err
		}
	}
	return nil
}

// described returns a schema with a description.
func described(schema any, text string) any {
	s, ok := schema.(map[string]any)
	if !ok || text == "" {
		return schema
	}
	s = maps.Clone(s)
	s["description"] = text
	return s
}

// tool returns the operation as an assistant sees it.
func (o *operation) tool() *sdk.Tool {
	replaces, closed := o.writes() && o.method != http.MethodPost, false
	description := o.Description
	if o.writes() {
		description += " Without confirm: true nothing is stored and the result is a preview."
	}
	return &sdk.Tool{
		Name: o.ID, Title: o.Summary, Description: description, InputSchema: o.schema,
		Annotations: &sdk.ToolAnnotations{
			Title:           o.Summary,
			ReadOnlyHint:    !o.writes(),
			DestructiveHint: &replaces,
			IdempotentHint:  o.method != http.MethodPost,
			OpenWorldHint:   &closed,
		},
	}
}
