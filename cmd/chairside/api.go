package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	"golang.org/x/term"

	"chairside/internal/config"
)

type apiCommand struct{ config.APIFlags }

// Help is the text of --help.
func (apiCommand) Help() string {
	return `Prints the body of the response, indented on a terminal. Fails if the status is 400 or more.

  chairside api GET /v1/patients -f query=an -f per_page=5
  chairside api PATCH /v1/patients/7 -f 'patient[preferred_name]=Jo'
  chairside api GET /v1/appointments --paginate

-f sends a text, -F a number, true, false or null. Fields are the query of GET and DELETE, and otherwise members of a JSON body: a[b]=c is {"a": {"b": "c"}}, and a[]=b adds to a list. --input sends a file as it is.

The token comes from the environment variable CHAIRSIDE_TOKEN or from --token-file, never from an argument.`
}

// client sends requests of the command line to a server.
type client struct {
	config.Client
	http http.Client
}

// newClient follows no redirects, which could lead the token elsewhere.
func newClient(to config.Client) *client {
	return &client{to, http.Client{Timeout: 2 * time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// send sends a request and reads the response.
func (s *client) send(ctx context.Context, method, address string, header map[string][]string, body []byte) (*http.Response, []byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	r.Header.Set("User-Agent", "chairside-command-line")
	if len(body) > 0 {
		r.Header.Set("Content-Type", "application/json")
	}
	for name, values := range header {
		r.Header[http.CanonicalHeaderKey(name)] = values
	}
	r.Header.Set("Authorization", "Bearer "+s.Token)
	response, err := s.http.Do(r)
	if err != nil {
		return nil, nil, s.unanswered(err)
	}
	defer response.Body.Close()
	read, err := io.ReadAll(response.Body)
	return response, read, err
}

// unanswered explains why a request has no response. It leaves out the request's URL, whose query may
// name a patient.
func (s *client) unanswered(err error) error {
	if dial := new(net.OpError); errors.As(err, &dial) && dial.Op == "dial" && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("no server responds at %s: check --server", s.Server)
	}
	if sent := new(url.Error); errors.As(err, &sent) {
		return fmt.Errorf("the request to %s failed: %w", s.Server, sent.Err)
	}
	return err
}

// nextLink matches the address of the next page in a Link header.
var nextLink = regexp.MustCompile(`<([^>]*)>;\s*rel="?next"?`)

// Run sends the request, and with --paginate those of the following pages.
func (a *apiCommand) Run(c *console) error {
	request, err := a.Read()
	if err != nil {
		return err
	}
	if a.Input != "" {
		if request.Body, err = readInput(c, a.Input); err != nil {
			return err
		}
	}
	server := newClient(request.Client)
	for address := request.URL; ; {
		response, body, err := server.send(c, request.Method, address, request.Header, request.Body)
		if err != nil {
			return err
		}
		if err := printBody(c, body); err != nil {
			return err
		}
		if response.StatusCode >= http.StatusBadRequest {
			return failure(response, body)
		}
		next := nextLink.FindStringSubmatch(response.Header.Get("Link"))
		if !a.Paginate || next == nil {
			return nil
		}
		// The link begins with the server's public URL, which this machine may not reach. The token must go to --server only.
		_, path, ok := strings.Cut(next[1], "/v1/")
		if !ok {
			return errors.New("the link to the next page does not lead to the API")
		}
		address = request.Server + "/v1/" + path
	}
}

// readInput reads a file, or standard input.
func readInput(c *console, name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(c.in)
	}
	return os.ReadFile(name)
}

// printBody prints a body that ends in a newline. On a terminal it indents JSON.
func printBody(c *console, body []byte) error {
	if len(body) == 0 {
		return nil
	}
	body = bytes.TrimRight(body, "\n")
	var pretty bytes.Buffer
	if out, ok := c.out.(*os.File); ok && term.IsTerminal(int(out.Fd())) && json.Indent(&pretty, body, "", "  ") == nil {
		body = pretty.Bytes()
	}
	_, err := fmt.Fprintf(c.out, "%s\n", body)
	return err
}

// refusedError is a response that refuses.
type refusedError struct {
	status  int
	after   time.Duration // how long the server asks to wait, 0 if it does not
	message string
}

func (e *refusedError) Error() string { return e.message }

// failure is the error for a response that refuses: a *refusedError.
func failure(response *http.Response, body []byte) error {
	refusal := &refusedError{response.StatusCode, retryAfterHeader(response), "the server responded " + response.Status}
	var refused struct {
		Error struct{ Message string }
	}
	if json.Unmarshal(body, &refused) == nil && refused.Error.Message != "" {
		refusal.message += ": " + refused.Error.Message
	}
	return refusal
}
