package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// run runs a tool call. Whatever goes wrong is a result that the assistant can read.
func (s *Server) run(ctx context.Context, op *operation, text json.RawMessage) *sdk.CallToolResult {
	args, err := op.parseArguments(text)
	if err != nil {
		return failure(err.Error())
	}
	r, confirmed, err := op.request(args)
	if err != nil {
		return failure(err.Error())
	}
	if op.writes() && !confirmed {
		return s.preview(ctx, op, args, r)
	}
	return s.call(ctx, op, r)
}

// call sends a read or a confirmed write and returns the response's body.
func (s *Server) call(ctx context.Context, op *operation, r *request) *sdk.CallToolResult {
	got, err := s.send(ctx, r)
	switch {
	case err != nil && op.writes():
		return failure("No response: it is unknown whether the change was made. Read the record before you try again.")
	case err != nil:
		return failure(err.Error())
	case got.status >= http.StatusMultipleChoices:
		return got.failure()
	case got.tooLarge && op.writes():
		return success("The change was made. The record is too large to show here.")
	case got.tooLarge:
		return failure(op.tooLarge())
	case len(got.body) == 0:
		return success("Done.")
	}
	return success(string(got.body))
}

// tooLarge says how to get a smaller result.
func (o *operation) tooLarge() string {
	text := fmt.Sprintf("The result is larger than %d bytes.", maxResult)
	has := func(name string) bool {
		return slices.ContainsFunc(o.inputs, func(in input) bool { return in.name == name })
	}
	if has("fields") {
		text += " Ask for fewer fields."
	}
	if has("per_page") {
		text += " Ask for fewer records with per_page, and for more of them with page; or filter the list."
	}
	return text
}

// response is a response of the API.
type response struct {
	status   int
	header   http.Header
	body     []byte
	tooLarge bool // body is incomplete
}

// send sends a request with the caller's token.
func (s *Server) send(ctx context.Context, q *request) (*response, error) {
	address := s.BaseURL + q.path
	if len(q.query) > 0 {
		address += "?" + q.query.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, q.method, address, bytes.NewReader(q.body))
	if err != nil {
		return nil, err
	}
	for name, values := range q.header {
		r.Header[name] = values
	}
	r.Header.Set("User-Agent", s.userAgent)
	r.Header.Set("Accept", jsonMedia)
	r.Header.Set("Authorization", callerOf(ctx).authorization)
	res, err := s.API.RoundTrip(r)
	if err != nil {
		s.Logger.Warn("the API cannot be reached", slog.String("cause", err.Error()))
		return nil, errUnreachable
	}
	defer res.Body.Close()
	got := &response{status: res.StatusCode, header: res.Header}
	if got.body, err = io.ReadAll(io.LimitReader(res.Body, maxResult+1)); err != nil {
		s.Logger.Warn("the API's response broke off", slog.String("cause", err.Error()))
		return nil, errUnreachable
	}
	got.tooLarge = len(got.body) > maxResult
	return got, nil
}

// refusal returns an error response as an error, with the API's message.
func (r *response) refusal() error {
	var body struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(r.body, &body) != nil || body.Error.Message == "" {
		return fmt.Errorf("the API responded with status %d", r.status)
	}
	return errors.New(body.Error.Message)
}

// failure returns an error response as a result: its body, and when to try again.
func (r *response) failure() *sdk.CallToolResult {
	if len(r.body) == 0 || r.tooLarge || !json.Valid(r.body) {
		return failure(fmt.Sprintf("The API responded with status %d.", r.status))
	}
	result := failure(string(r.body))
	if wait := r.header.Get("Retry-After"); wait != "" {
		result.Content = append(result.Content, &sdk.TextContent{Text: "Try again after " + wait + " seconds."})
	}
	return result
}

func success(text string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}

func failure(text string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}, IsError: true}
}
