package server

import (
	"encoding/base64"
	"encoding/binary"
	"net/http"
	"strings"

	"github.com/cespare/xxhash/v2"

	"chairside/internal/events/feed"
	"chairside/internal/write/etag"
)

// unchanged returns the tag of a list that the client knows already and that is still the same,
// or "". It does not read the list.
//
// The tag of a list says how far the change feed was before the list was read. While the feed has
// nothing later of the resources that the list depends on, the list is the same. What else it
// depends on, the request and the caller, is in the tag as a hash. A 304 is no access to a
// patient's record: it shows nothing.
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
		seen, ours := strings.CutSuffix(position, suffix)
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

// dependence returns a hash of what a list depends on beside the database.
func (s *Server) dependence(x *requestState) string {
	h := xxhash.New()
	for _, part := range []string{s.version, x.r.URL.Path, x.r.URL.RawQuery, x.caller.Zone.String(), x.caller.TokenID.String()} {
		_, _ = h.WriteString(part)
		_, _ = h.Write([]byte{0})
	}
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint64(nil, h.Sum64()))
}
