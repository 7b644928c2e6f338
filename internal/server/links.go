package server

import (
	"strconv"

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
			l := s.linksTo(x)
			l.cursor(next)
			return l.String()
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

// links is a Link header in the making.
type links struct {
	text    []byte
	address string // of the list, to which the page is added
}

// linksTo returns links to the pages of the requested list. They have its query in canonical
// form, so never a token.
func (s *Server) linksTo(x *requestState) *links {
	query := x.query
	delete(query, "page")
	delete(query, "cursor")
	address, separator := s.BaseURL+"/v1"+x.r.URL.EscapedPath()+"?", ""
	if len(query) > 0 {
		separator = "&"
	}
	address += query.Encode() + separator
	const relations = 4
	return &links{address: address, text: make([]byte, 0, relations*(len(address)+40))}
}

func (l *links) page(relation string, number int) {
	l.begin("page")
	l.text = strconv.AppendInt(l.text, int64(number), 10)
	l.end(relation)
}

func (l *links) cursor(next string) {
	l.begin("cursor")
	l.text = append(l.text, next...) // base64 for addresses
	l.end("next")
}

func (l *links) begin(param string) {
	if len(l.text) > 0 {
		l.text = append(l.text, ", "...)
	}
	l.text = append(append(append(append(l.text, '<'), l.address...), param...), '=')
}

func (l *links) end(relation string) {
	l.text = append(append(append(l.text, `>; rel="`...), relation...), '"')
}

func (l *links) String() string { return string(l.text) }
