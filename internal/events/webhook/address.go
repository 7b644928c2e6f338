package webhook

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"syscall"
	"unicode/utf8"
)

// ErrForbiddenAddress refuses to connect to an address within an installation's own network.
var ErrForbiddenAddress = errors.New("loopback, private and reserved addresses are not allowed")

// globalUnicast are the only IPv6 addresses that are assigned to hosts of the internet.
var globalUnicast = netip.MustParsePrefix("2000::/3")

// forbidden lists the networks that webhooks do not reach, of IPv6 those of globalUnicast.
// netip's own predicates miss most of them. 168.63.129.16 is within each virtual machine of Azure.
var forbidden = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "168.63.129.16/32", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
	"192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
)

func prefixes(list ...string) []netip.Prefix {
	all := make([]netip.Prefix, len(list))
	for i, text := range list {
		all[i] = netip.MustParsePrefix(text)
	}
	return all
}

// allowed reports whether an address may be connected to.
func allowed(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if a.Is6() && !globalUnicast.Contains(a) {
		return false
	}
	for _, network := range forbidden {
		if network.Contains(a) {
			return false
		}
	}
	return a.IsValid()
}

// guard is the Control of a dialer. It sees the address that is really connected to, whatever
// the name resolved to before.
func guard(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil || !allowed(to.Addr()) {
		return ErrForbiddenAddress
	}
	return nil
}

// CheckURL returns what is wrong with the address of a webhook, or "".
func CheckURL(text string) string {
	u, err := url.Parse(text)
	switch {
	case utf8.RuneCountInString(text) > maxURL:
		return fmt.Sprintf("must have at most %d characters", maxURL)
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "":
		return "must be an address such as https://example.com/hooks"
	case u.Scheme == "http" && !inside(u.Hostname()):
		return "must be an https address: http is for loopback and private addresses only"
	case u.User != nil:
		return "must not contain a user or a password"
	case u.Fragment != "":
		return "must not contain a fragment"
	}
	return ""
}

// inside reports whether a host is named by an address of the installation's own network.
func inside(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && !allowed(a)
}

// hide returns an error of a request without its address, which may hold a token.
func hide(err error) string {
	var outer *url.Error
	var name *net.DNSError
	switch {
	case errors.As(err, &outer) && errors.Is(outer.Err, ErrForbiddenAddress):
		return ErrForbiddenAddress.Error()
	case errors.As(err, &outer) && outer.Timeout():
		return fmt.Sprintf("no response within %v", sendTime)
	case errors.As(err, &name): // its text names the resolver
		return "the host name cannot be resolved"
	case errors.As(err, &outer):
		return outer.Err.Error()
	}
	return err.Error()
}
