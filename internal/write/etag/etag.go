package etag

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// Of returns the strong tag of a response body, with quotes, always of the same length. It
// distinguishes the versions of one record or list, for which 64 bits are enough. A user with
// write access could construct two versions with equal tags and so hide a change from
// clients. That risk is accepted: SHA-256 took 6 % of the server's time for 100 patients.
func Of(body []byte) string {
	sum := binary.BigEndian.AppendUint64(nil, xxhash.Sum64(body))
	return `"` + base64.RawURLEncoding.EncodeToString(sum) + `"`
}

// Match reports whether an If-Match header matches the current tag of a record. The
// comparison is strong: a weak tag never matches. An empty header matches everything.
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

// NoneMatch reports whether an If-None-Match header does not match the current tag, so that
// the response must be sent. The comparison is weak. An empty header matches nothing.
func NoneMatch(header, tag string) bool {
	for candidate := range candidates(header) {
		if candidate == "*" || strings.TrimPrefix(candidate, weak) == strings.TrimPrefix(tag, weak) {
			return false
		}
	}
	return true
}

const weak = "W/"

// candidates yields the members of a list of tags. Tags may contain commas, so the list
// cannot be split at them. Anything that is not a tag is skipped up to the next comma.
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

// next returns the first member of a list, which does not start with a separator, and the
// rest. The member is "" if it is neither a tag nor "*".
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

// WithIfMatch passes the If-Match header of a request to the operation; "" without one.
func WithIfMatch(ctx context.Context, header string) context.Context {
	return context.WithValue(ctx, key{}, header)
}

// IfMatch returns the If-Match header of the request, or "".
func IfMatch(ctx context.Context) string {
	header, _ := ctx.Value(key{}).(string)
	return header
}
