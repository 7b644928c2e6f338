package server

import (
	"net/url"
	"strconv"
	"strings"

	"chairside/ogent"
)

// pageLinks returns the Link header (RFC 8288) of a list, or "" for another response: the
// first, previous, next and last page, or the page after a cursor.
func (s *Server) pageLinks(x *requestState, response any) string {
	if meta, ok := ogent.MetaIn(response); ok {
		if next, byCursor := meta.NextCursor.Get(); byCursor || meta.NextCursor.Set {
			if !byCursor {
				return ""
			}
			return s.linksTo(x).add("next", "cursor", next).String()
		}
		l, last := s.linksTo(x), max(meta.TotalPages, 1)
		l.page("first", 1)
		if meta.Page > 1 {
			l.page("prev", min(meta.Page-1, last))
		}
		if meta.Page < last {
			l.page("next", meta.Page+1)
		}
		l.page("last", last)
		return l.String()
	}
	if list, ok := response.(interface{ GetMeta() ogent.PageMeta }); ok {
		l, meta := s.linksTo(x), list.GetMeta()
		l.page("first", 1)
		if meta.Page > 1 {
			l.page("prev", meta.Page-1)
		}
		if meta.More {
			l.page("next", meta.Page+1)
		}
		return l.String()
	}
	return ""
}

// links builds a Link header.
type links struct {
	strings.Builder
	address string // of the list, to which the page is added
}

// linksTo returns links to the pages of the requested list. They have its query in canonical
// form, so never a token.
func (s *Server) linksTo(x *requestState) *links {
	query := x.r.URL.Query()
	query.Del("page")
	query.Del("cursor")
	address := s.BaseURL + "/v1" + x.r.URL.EscapedPath() + "?"
	if len(query) > 0 {
		address += query.Encode() + "&"
	}
	return &links{address: address}
}

func (l *links) page(relation string, number int) {
	l.add(relation, "page", strconv.Itoa(number))
}

func (l *links) add(relation, param, value string) *links {
	if l.Len() > 0 {
		l.WriteString(", ")
	}
	l.WriteString("<" + l.address + param + "=" + url.QueryEscape(value) + `>; rel="` + relation + `"`)
	return l
}
