package web

import (
	"net/url"
	"strings"
)

// homePath is the default page after sign-in. It redirects to the page of the visitor's work.
const homePath = "/home"

// local returns next if it is a path on this server, and homePath otherwise. Browsers
// read backslashes, tabs, line breaks and double slashes differently from servers,
// so those lead to homePath.
func local(next string) string {
	address, err := url.Parse(next)
	switch {
	case err != nil, address.Scheme != "", address.Host != "", address.User != nil, address.Opaque != "",
		!strings.HasPrefix(next, "/"), strings.HasPrefix(address.Path, "//"),
		strings.ContainsFunc(next, func(r rune) bool { return r <= ' ' || r > '~' || r == '\\' }):
		return homePath
	}
	return next
}
