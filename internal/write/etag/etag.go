package etag

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"iter"
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

// At adds a position to a tag. With it, the server can tell whether a later response would be the
// same without making that response.
func At(tag, position string) string { return strings.TrimSuffix(tag, `"`) + "." + position + `"` }

// hash returns the part of a tag that is the hash of the body, with the first quote.
func hash(tag string) string {
	tag, _, _ = strings.Cut(strings.TrimSuffix(strings.TrimPrefix(tag, weak), `"`), ".")
	return tag
}

// Positions yields the tags of If-None-Match that have a position, and the positions. A tag that
// a proxy has made weak, because it compressed the response, is yielded as the strong one.
func Positions(header string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for candidate := range candidates(header) {
			tag := strings.TrimPrefix(candidate, weak)
			_, position, found := strings.Cut(strings.Trim(tag, `"`), ".")
			if found && !yield(tag, position) {
				return
			}
		}
	}
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

// NoneMatch returns the tag of an If-None-Match header that matches the current tag, or "" if none
// does, so that the response must be sent. The comparison is weak and ignores positions. "*"
// matches every tag; for it NoneMatch returns the current one.
func NoneMatch(header, tag string) (same string) {
	for candidate := range candidates(header) {
		switch {
		case candidate == "*":
			return tag
		case hash(candidate) == hash(tag):
			return strings.TrimPrefix(candidate, weak)
		}
	}
	return ""
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
