package server

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"chairside/internal/apierror"
	"chairside/internal/codec"
)

// tokenParameter is accepted by every operation and never passed on.
const tokenParameter = "access_token"

// maxUnknown is the maximum number of unknown parameters named in the header.
const maxUnknown = 20

// readQuery replaces the query by its canonical form. It names unknown parameters in a header
// and refuses them if the client prefers strict handling (RFC 7240).
func readQuery(x *requestState) error {
	x.sentQuery = x.r.URL.RawQuery
	sent, params := parseQuery(x.sentQuery)
	canonical, unknown, malformed := codec.ReadQuery(sent, x.operation.Params, x.caller.Zone)
	params.Merge(malformed)
	if len(unknown) > 0 {
		x.header.Set("X-Unknown-Parameters", nameList(unknown))
		if x.prefer.strict {
			for _, name := range unknown {
				params.Add(name, "is not a known parameter")
			}
		}
	}
	if len(params) > 0 {
		return apierror.InvalidParameter(params)
	}
	x.r.URL.RawQuery = canonical.Encode()
	x.query = canonical
	var err error
	x.shape, err = readShape(x)
	return err
}

// parseQuery is url.ParseQuery with a message for each malformed parameter: broken percent-
// encoding, NUL, or invalid UTF-8. Malformed parameters are left out of the values.
func parseQuery(raw string) (url.Values, apierror.Params) {
	values, params := url.Values{}, apierror.Params{}
	for pair := range strings.SplitSeq(raw, "&") {
		if pair == "" {
			continue
		}
		rawName, rawValue, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(rawName)
		if err != nil || !plain(name) {
			params.Add("query", "has a parameter name that is not valid")
			continue
		}
		value, err := url.QueryUnescape(rawValue)
		switch {
		case err != nil:
			params.Add(name, "is not validly percent-encoded")
		case strings.ContainsRune(value, 0):
			params.Add(name, "must not contain NUL")
		case !utf8.ValidString(value):
			params.Add(name, "must be UTF-8 text")
		default:
			values.Add(name, value)
		}
	}
	return values, params
}

func plain(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// nameList formats names for a header. Separators and characters that are not printable
// ASCII are percent-encoded.
func nameList(names []string) string {
	escaped := make([]string, 0, min(len(names), maxUnknown))
	for _, name := range names[:cap(escaped)] {
		escaped = append(escaped, strings.NewReplacer("%5B", "[", "%5D", "]").Replace(url.QueryEscape(name)))
	}
	return strings.Join(escaped, ", ")
}
