package web

import (
	"net/url"
	"strings"
)

// home is where a visitor goes who came from nowhere.
const home = "/settings"

// local gives next if it is the address of a page of this server, else home.
// What browsers read differently from servers (backslashes, tabs and line ends
// that they skip, two slashes) leads home.
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
