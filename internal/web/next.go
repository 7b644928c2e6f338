package web

import (
	"net/url"
	"strings"
)

// home is the default page after sign-in.
const home = "/settings"

// local returns next if it is a path on this server, and home otherwise. Browsers
// read backslashes, tabs, line breaks and double slashes differently from servers,
// so those lead home.
func local(next string) string {
	address, err := url.Parse(next)
	switch {
	case err != nil, address.Scheme != "", address.Host != "", address.User != nil, address.Opaque != "",
		!strings.HasPrefix(next, "/"), strings.HasPrefix(address.Path, "//"),
		strings.ContainsFunc(next, func(r rune) bool { return r <= ' ' || r > '~' || r == '\\' }):
		return home
	}
	return next
}
