package server

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"net/http"
	"strings"
	"sync"

	"github.com/cespare/xxhash/v2"

	"chairside/internal/events/feed"
	"chairside/internal/write/etag"
)

// unchanged returns the tag that the client has of a list if the list is still the same, otherwise
// "". It does not read the list.
//
// The tag of a list has the position of the change feed before the list was read. While no resource
// that the list depends on (codec.Operation.Watches) has changed since, the list is the same.
// Everything else that it depends on is hashed into the tag. A 304 shows no patient's record, so
// it is not logged as an access to one.
func (s *Server) unchanged(x *requestState) (same string) {
	if x.method != http.MethodGet && x.method != http.MethodHead {
		return ""
	}
	x.known = strings.Join(x.r.Header.Values("If-None-Match"), ", ")
	watched, current := x.operation.Watches, s.feed.Position()
	if len(watched) == 0 || current == "" || x.shape != nil && len(x.shape.links) > 0 || x.caller.SiteID != nil {
		return ""
	}
	suffix := "." + s.dependence(x)
	x.position = current + suffix
	for tag, position := range etag.Positions(x.known) {
		seen, ours := strings.CutSuffix(s.confirmed.latest(tag, position), suffix)
		if !ours {
			continue
		}
		switch changed, err := s.feed.Since(x.r.Context(), seen, watched); {
		case err != nil: // reading the list will fail too
		case changed == feed.Nothing:
			return tag
		case changed == feed.TooOften:
			x.known = "" // so that the client gets a newer tag
		}
		return ""
	}
	return ""
}

// confirm remembers that a list with the client's tag is still the same at the request's position.
func (s *Server) confirm(x *requestState) {
	if x.same == "" || x.position == "" {
		return
	}
	suffix := x.position[strings.LastIndexByte(x.position, '.'):]
	for tag, position := range etag.Positions(x.same) {
		if strings.HasSuffix(position, suffix) {
			s.confirmed.set(tag, x.position)
		}
	}
}

// maxConfirmed is the most tags that confirmed holds, of about 200 bytes each.
const maxConfirmed = 4096

// confirmed holds, for tags of lists that were still the same later, the later position. A client
// never gets it, because a 304 repeats the client's tag (RFC 9111, section 4.3.4). Without it, a
// list would be read for each request once a resource that it depends on had changed. Each
// process has its own.
type confirmed struct {
	mu        sync.Mutex
	positions map[string]string // by tag
}

func (c *confirmed) set(tag, position string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.positions == nil || len(c.positions) >= maxConfirmed {
		c.positions = map[string]string{}
	}
	c.positions[tag] = position
}

// latest returns the latest position of a tag, whose own position is first.
func (c *confirmed) latest(tag, first string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return cmp.Or(c.positions[tag], first)
}

// dependence returns a hash of everything but the database that a list depends on.
func (s *Server) dependence(x *requestState) string {
	h := xxhash.New()
	for _, part := range []string{s.version, x.r.URL.Path, x.r.URL.RawQuery, x.caller.Zone.String(), x.caller.TokenID.String()} {
		_, _ = h.WriteString(part)
		_, _ = h.Write([]byte{0})
	}
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint64(nil, h.Sum64()))
}
