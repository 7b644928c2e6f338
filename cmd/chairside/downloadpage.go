package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"chairside/internal/scope"
)

// apiRecord is a record of a list, by member.
type apiRecord map[string]json.RawMessage

// text returns a member as a file has it: texts without quotation marks, nothing for null, and lists
// and objects as JSON. The id of a record stands for the record: user_id is the id of user.
func (r apiRecord) text(member string) string {
	raw, ok := r[member]
	if !ok && strings.HasSuffix(member, "_id") {
		var inner apiRecord
		if json.Unmarshal(r[strings.TrimSuffix(member, "_id")], &inner) == nil {
			raw = inner["id"]
		}
	}
	var s string
	switch {
	case len(raw) == 0, string(raw) == "null":
		return ""
	case json.Unmarshal(raw, &s) == nil:
		return s
	}
	return string(raw)
}

func (r apiRecord) cells(columns []string) []string {
	cells := make([]string, len(columns))
	for i, column := range columns {
		cells[i] = r.text(column)
	}
	return cells
}

// apiPage is a page of a list.
type apiPage struct {
	records []apiRecord
	absent  bool // the server has no such list
	meta    struct {
		Total      int64
		TotalPages int             `json:"total_pages"`
		NextCursor json.RawMessage `json:"next_cursor"` // null after the last page; none without cursors
	}
}

// next returns the cursor or the number of the page after one that was read at a place; both are zero
// after the last. at has the rows of this page. A server may give fewer records than were asked for.
func (p apiPage) next(at listProgress) (cursor string, page int) {
	read := max(at.Page, 1)
	switch {
	case p.absent, len(p.records) == 0:
		return "", 0
	case len(p.meta.NextCursor) > 0:
		_ = json.Unmarshal(p.meta.NextCursor, &cursor) // null leaves it empty
		return cursor, 0
	case p.meta.TotalPages > read,
		p.meta.TotalPages == 0 && p.meta.Total > at.Rows,
		p.meta.TotalPages == 0 && p.meta.Total == 0 && len(p.records) == downloadPage:
		return "", read + 1
	}
	return "", 0
}

const (
	downloadTries = 8
	firstPause    = 500 * time.Millisecond // doubled after each try
	longestWait   = time.Hour              // for a limit
	largestPage   = 64 << 20               // bytes
)

var (
	// errPassing is wrapped by errors that another try may not have.
	errPassing = errors.New("run the same command again to continue")
	// errLimited is wrapped by errors for the limit of requests.
	errLimited = errors.New("the limit of requests is reached")
)

// page reads the page of a list at a place. It repeats a request that fails for a passing reason, and
// waits as long as the server asks for.
func (d *download) page(list, filter string, at listProgress) (page apiPage, err error) {
	query, err := url.ParseQuery(filter)
	if err != nil {
		return page, err
	}
	query.Set("per_page", strconv.Itoa(downloadPage))
	query.Set("sort_by", "id")
	if at.Page > 1 {
		query.Set("page", strconv.Itoa(at.Page))
	} else {
		query.Set("cursor", at.Cursor)
	}
	address := d.server.Server + "/v1/" + list + "?" + query.Encode()
	pause := firstPause
	for try := 1; ; try++ {
		after, page, err := d.tryPage(list, address)
		switch {
		case !errors.Is(err, errPassing):
			return page, err
		case try == downloadTries || d.Err() != nil:
			return page, err
		case after > longestWait:
			return page, fmt.Errorf("the server asks to wait %s: %w", after, errPassing)
		case errors.Is(err, errLimited) && after > 0:
			fmt.Fprintf(d.err, "%s: the server asks to wait %s\n", list, after)
			try-- // the server is well
		default:
			after = max(after, pause)
			pause *= 2
		}
		wait(d, after)
	}
}

// tryPage sends one request. after is how long the server asks to wait, 0 if it does not.
func (d *download) tryPage(list, address string) (after time.Duration, page apiPage, err error) {
	r, err := http.NewRequestWithContext(d, http.MethodGet, address, nil)
	if err != nil {
		return 0, page, err
	}
	r.Header.Set("User-Agent", "chairside-import")
	r.Header.Set("Authorization", "Bearer "+d.server.Token)
	response, err := d.server.http.Do(r)
	if err != nil {
		return 0, page, passing(d, d.server.unanswered(err))
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, largestPage+1))
	switch status := response.StatusCode; {
	case err != nil:
		return 0, page, passing(d, err)
	case len(body) > largestPage:
		return 0, page, errors.New("a page has more than 64 MiB")
	case status == http.StatusTooManyRequests:
		return retryAfterHeader(response), page, fmt.Errorf("%w: %w", errLimited, errPassing)
	case status >= http.StatusInternalServerError:
		return retryAfterHeader(response), page, fmt.Errorf("%w: %w", failure(response, body), errPassing)
	case status == http.StatusNotFound:
		page.absent = true
		return 0, page, nil
	case status == http.StatusUnauthorized:
		return 0, page, fmt.Errorf("the server does not accept the token: %w", failure(response, body))
	case status == http.StatusForbidden:
		return 0, page, d.forbidden(list, response, body)
	case status >= http.StatusMultipleChoices && status < http.StatusBadRequest:
		return 0, page, fmt.Errorf("the server redirects to %s: if that is right, use its address", response.Header.Get("Location"))
	case status != http.StatusOK:
		return 0, page, failure(response, body)
	}
	if missing := d.scopesMissing(response); len(missing) > 0 {
		return 0, page, needsScopes(missing)
	}
	var whole map[string]json.RawMessage
	if json.Unmarshal(body, &whole) != nil || json.Unmarshal(whole[list], &page.records) != nil {
		return 0, page, fmt.Errorf("%s is no list of %s: is the address that of an API like Chairside's?", address, list)
	}
	if len(whole["meta"]) > 0 {
		err = json.Unmarshal(whole["meta"], &page.meta)
	}
	return 0, page, err
}

// passing wraps a failure of the network, unless the command was interrupted.
func passing(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("%w: %w", err, errPassing)
}

// retryAfterHeader returns how long a response asks to wait: seconds, or until a time.
func retryAfterHeader(response *http.Response) time.Duration {
	text := response.Header.Get("Retry-After")
	if seconds, err := strconv.Atoi(text); err == nil && seconds >= 0 {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(time.Until(at), 0)
	}
	return 0
}

// scopesMissing returns the scopes that the token lacks, as far as the server says what it has.
func (d *download) scopesMissing(response *http.Response) []string {
	header := response.Header.Get("X-OAuth-Scopes")
	if header == "" {
		return nil
	}
	return d.missingScopes(scope.Set(strings.Fields(header)))
}

// forbidden is the error for a response that refuses a list.
func (d *download) forbidden(list string, response *http.Response, body []byte) error {
	missing := d.scopesMissing(response)
	if op, ok := listOperation(list); ok && len(missing) == 0 {
		missing = []string{op.Scope}
	}
	return fmt.Errorf("%w: %w", failure(response, body), needsScopes(missing))
}

func needsScopes(missing []string) error {
	return fmt.Errorf("the token also needs the scopes %s", strings.Join(missing, " "))
}
