package etag

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// Of gives the strong, opaque tag of a response body, quotes included, always of
// the same length. A tag tells states of one record or list apart, of which 64
// bits confuse none by chance. Somebody who may write a record could make two
// states that agree, and have others miss the change: that is accepted, since
// SHA-256 took 6 % of the server's time for 100 patients.
func Of(body []byte) string {
	sum := binary.BigEndian.AppendUint64(nil, xxhash.Sum64(body))
	return `"` + base64.RawURLEncoding.EncodeToString(sum) + `"`
}

// Match reports whether an If-Match header admits the record whose current tag
// is given. The comparison is the strong one: a weak tag never matches. An
// empty header sets no condition and admits every record.
func Match(header, tag string) bool {
	if header == "" {
		return true
	}
	for candidate := range candidates(header) {
		if candidate == "*" || candidate == tag && !strings.HasPrefix(tag, weak) {
			return true
		}
	}
	return false
}

// None reports whether an If-None-Match header lets the response with the
// given tag through; if it does not, the client holds that response already.
// The comparison is the weak one. An empty header lets everything through.
func None(header, tag string) bool {
	for candidate := range candidates(header) {
		if candidate == "*" || strings.TrimPrefix(candidate, weak) == strings.TrimPrefix(tag, weak) {
			return false
		}
	}
	return true
}

const weak = "W/"

// candidates yields the members of a list of tags. Opaque tags may contain
// commas, so the list cannot simply be split; what is no tag is skipped up to
// the next comma.
func candidates(header string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for {
			header = strings.TrimLeft(header, " \t,")
			if header == "" {
				return
			}
			member, rest := next(header)
			if member != "" && !yield(member) {
				return
			}
			header = rest
		}
	}
}

// next splits off the first member of a list that does not start with a
// separator; the member is "" where the text is neither a tag nor "*".
func next(list string) (member, rest string) {
	if rest, star := strings.CutPrefix(list, "*"); star {
		return "*", rest
	}
	start := 0
	if strings.HasPrefix(list, weak) {
		start = len(weak)
	}
	if strings.HasPrefix(list[start:], `"`) {
		if end := strings.IndexByte(list[start+1:], '"'); end >= 0 {
			cut := start + 1 + end + 1
			return list[:cut], list[cut:]
		}
	}
	_, rest, _ = strings.Cut(list, ",")
	return "", rest
}

type key struct{}

// WithIfMatch keeps the If-Match header of a request for the handler that
// writes; "" where the request has none.
func WithIfMatch(ctx context.Context, header string) context.Context {
	return context.WithValue(ctx, key{}, header)
}

// IfMatch gives the If-Match header of the request, "" where it has none.
func IfMatch(ctx context.Context) string {
	header, _ := ctx.Value(key{}).(string)
	return header
}
