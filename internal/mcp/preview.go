package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// previewed is the result of a write that was not confirmed.
type previewed struct {
	Would   string            `json:"would"`             // what the operation does
	Stored  bool              `json:"stored"`            // always false
	Before  json.RawMessage   `json:"before,omitempty"`  // the record as it is
	Changes map[string]change `json:"changes,omitempty"` // members that would differ
	Result  json.RawMessage   `json:"result,omitempty"`  // the record as it would be created
	Match   string            `json:"if_match,omitempty"`
	Next    string            `json:"next"`
}

// change is a member of a record before and after a write.
type change struct {
	From json.RawMessage `json:"from"`
	To   json.RawMessage `json:"to"`
}

const (
	cannotPreview = "This server cannot preview this change, so nothing was sent. Tell the user exactly what would be changed, " +
		"and call the tool again with confirm: true only after the user agrees."
	notPreviewed = "The server did not treat the request as a preview: the change may have been made. Read the record before you go on."
)

// preview sends a write as a dry run and returns what it would change. It sends nothing unless
// the API declares that it supports dry runs of this operation.
func (s *Server) preview(ctx context.Context, op *operation, args arguments, r *request) *sdk.CallToolResult {
	if !op.previews {
		return failure(cannotPreview)
	}
	would, _, _ := strings.Cut(op.Description, " Needs the scope")
	shown := previewed{Would: would, Next: "Nothing is stored. Show this to the user. To make the change, call " + op.ID + " again with the same arguments and confirm: true"}
	if s.addBefore(ctx, op, args, &shown); shown.Match != "" {
		shown.Next += ", and if_match as above"
		if r.header.Get("If-Match") == "" { // the dry run is of the record that is shown
			r.header.Set("If-Match", shown.Match)
		}
	}
	got, err := s.send(ctx, r)
	switch {
	case err != nil:
		return failure(err.Error())
	case got.status >= http.StatusMultipleChoices:
		return got.failure()
	case !prefers(got.header.Values("Preference-Applied"), dryRun):
		return failure(notPreviewed)
	}
	shown.Next += "."
	switch {
	case got.tooLarge || len(got.body) == 0:
	case shown.Before == nil:
		shown.Result = got.body
		shown.Next += " Ids and times in the result may then be others."
	default:
		shown.Changes = differences(shown.Before, got.body)
	}
	text, err := json.Marshal(shown)
	if err == nil && len(text) > maxResult {
		shown.Before = nil
		text, err = json.Marshal(shown)
	}
	if err != nil {
		return failure("The API's response is not valid JSON.")
	}
	return success(string(text))
}

// addBefore reads the record that a write would change, if its path is a record's and the token
// may read it.
func (s *Server) addBefore(ctx context.Context, op *operation, args arguments, to *previewed) {
	if op.reader == nil {
		return
	}
	of := arguments{}
	for _, in := range op.reader.inputs {
		if value, ok := args[in.name]; ok && in.in == "path" {
			of[in.name] = value
		}
	}
	r, _, err := op.reader.request(of)
	if err != nil {
		return
	}
	got, err := s.send(ctx, r)
	if err != nil || got.status != http.StatusOK || got.tooLarge || !json.Valid(got.body) {
		return
	}
	to.Before, to.Match = got.body, got.header.Get("ETag")
}

// differences compares two objects member by member. An object with one member that is an
// object, such as {"patient": {…}}, stands for that member.
func differences(before, after json.RawMessage) map[string]change {
	from, to := members(before), members(after)
	changes := map[string]change{}
	for name, new := range to {
		if old, ok := from[name]; !ok || !sameJSON(old, new) {
			changes[name] = change{old, new}
		}
	}
	for name, old := range from {
		if _, ok := to[name]; !ok {
			changes[name] = change{From: old}
		}
	}
	return changes
}

func members(text json.RawMessage) map[string]json.RawMessage {
	var outer, inner map[string]json.RawMessage
	if json.Unmarshal(text, &outer) != nil || len(outer) != 1 {
		return outer
	}
	for _, value := range outer {
		if json.Unmarshal(value, &inner) == nil && inner != nil {
			return inner
		}
	}
	return outer
}

// sameJSON compares the text of two values of one server, which always writes a value alike.
func sameJSON(a, b json.RawMessage) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

// prefers reports whether a list of preferences (RFC 7240) has one of this name.
func prefers(headers []string, name string) bool {
	for one := range strings.SplitSeq(strings.Join(headers, ","), ",") {
		one, _, _ = strings.Cut(one, ";")
		if strings.EqualFold(strings.TrimSpace(one), name) {
			return true
		}
	}
	return false
}
