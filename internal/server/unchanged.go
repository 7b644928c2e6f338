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

// dependence returns a hash of everything but the database that a list depends on.
func (s *Server) dependence(x *requestState) string {
	h := xxhash.New()
	for _, part := range []string{s.version, x.r.URL.Path, x.r.URL.RawQuery, x.caller.Zone.String(), x.caller.TokenID.String()} {
		_, _ = h.WriteString(part)
		_, _ = h.Write([]byte{0})
	}
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint64(nil, h.Sum64()))
}
