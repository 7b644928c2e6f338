package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"chairside/internal/clock"
	"chairside/internal/web"
)

// Network is how clients reach a server.
type Network struct {
	BaseURL           string // public URL
	CertFile, KeyFile string // "" for plain HTTP
	TrustedProxies    []netip.Prefix
}

// expiresSoon is how long before its end a certificate is a problem.
const expiresSoon = 14 * 24 * time.Hour

// checkCertificate checks the certificate that the server itself presents: not that of a proxy, and
// not whether clients trust its issuer, which only they know.
func (n *Network) checkCertificate(ctx context.Context) (all []web.Check, err error) {
	public, err := url.Parse(n.BaseURL)
	if err != nil {
		return nil, err
	}
	if n.CertFile == "" {
		if public.Scheme == "https" {
			return notChecked("the certificate of %s is the proxy’s", public.Host)
		}
		return notChecked("the server has no certificate (--tls-cert)")
	}
	pair, err := tls.LoadX509KeyPair(n.CertFile, n.KeyFile)
	if err != nil {
		return []web.Check{problem("name the certificate and its own key", "the certificate %s cannot be used with the key %s (%v)", n.CertFile, n.KeyFile, err)}, nil
	}
	const mend = "renew the certificate and restart the server"
	leaf, now := pair.Leaf, clock.Now(ctx)
	switch until := leaf.NotAfter.UTC().Format("2 January 2006, 15:04 UTC"); {
	case now.After(leaf.NotAfter):
		all = append(all, problem(mend, "the certificate %s expired on %s", n.CertFile, until))
	case now.Before(leaf.NotBefore):
		all = append(all, problem("wait, or correct this machine’s clock", "the certificate %s is valid only from %s", n.CertFile, leaf.NotBefore.UTC().Format("2 January 2006, 15:04 UTC")))
	case now.Add(expiresSoon).After(leaf.NotAfter):
		all = append(all, problem(mend, "the certificate %s expires on %s", n.CertFile, until))
	}
	if err := leaf.VerifyHostname(public.Hostname()); err != nil {
		all = append(all, problem("use a certificate for that name, or correct --base-url", "the certificate %s is not for %s, the host of the public URL, but for %s", n.CertFile, public.Hostname(), namesOf(leaf)))
	}
	if gap := chainGap(pair); gap != "" {
		all = append(all, problem("put the certificate first and then each issuer’s, as the authority delivers them", "%s", gap))
	}
	if len(all) > 0 {
		return all, nil
	}
	return passed("the certificate is for %s, and valid until %s", public.Hostname(), leaf.NotAfter.UTC().Format("2 January 2006"))
}

// namesOf lists the hosts of a certificate.
func namesOf(leaf *x509.Certificate) string {
	names := leaf.DNSNames
	for _, ip := range leaf.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) == 0 {
		return "no host"
	}
	return strings.Join(names, ", ")
}

// chainGap describes where a certificate of the file is not followed by its issuer's, or returns "".
func chainGap(pair tls.Certificate) string {
	below := pair.Leaf
	for i, der := range pair.Certificate[1:] {
		issuer, err := x509.ParseCertificate(der)
		if err == nil {
			err = below.CheckSignatureFrom(issuer)
		}
		if err != nil {
			return fmt.Sprintf("certificate %d of the file is not that of the issuer of the one before it", i+2)
		}
		below = issuer
	}
	return ""
}

// checkAddress compares the public URL with the certificate and the trusted proxies.
func (n *Network) checkAddress() (all []web.Check, err error) {
	public, err := url.Parse(n.BaseURL)
	if err != nil {
		return nil, err
	}
	secure, here := public.Scheme == "https", isLoopback(public.Hostname())
	ownTLS, proxied := n.CertFile != "", len(n.TrustedProxies) > 0
	switch {
	case ownTLS && !secure:
		all = append(all, problem("set --base-url to the https URL", "the server speaks HTTPS, but the public URL is %s: links lead to plain HTTP, and browsers may send session cookies over it", n.BaseURL))
	case !secure && !here:
		all = append(all, problem("use --tls-cert, or a proxy with TLS and its https URL as --base-url", "clients reach %s without TLS: passwords and patients’ data can be intercepted", n.BaseURL))
	}
	switch {
	case secure && !ownTLS && !proxied:
		all = append(all, problem("name the proxy’s network with --trusted-proxies", "clients reach %s through a proxy, which is not trusted: all of them have the proxy’s address in sign-in limits and in the audit log", n.BaseURL))
	case proxied && here:
		all = append(all, problem("set --base-url to the URL of the proxy", "proxies are trusted, but the public URL is %s, which only this machine can reach", n.BaseURL))
	}
	for _, network := range n.TrustedProxies {
		if network.Bits() == 0 {
			all = append(all, problem("name only the networks of your proxies with --trusted-proxies", "every address is trusted as a proxy (%s): clients can forge the address that sign-in limits and the audit log see", network))
		}
	}
	switch {
	case len(all) > 0:
		return all, nil
	case proxied:
		return passed("clients reach %s; forwarding headers are trusted from %s", n.BaseURL, join(n.TrustedProxies))
	case here:
		return passed("only clients on this machine reach %s; no proxy is trusted", n.BaseURL)
	}
	return passed("clients reach %s directly; no proxy is trusted", n.BaseURL)
}

func join(networks []netip.Prefix) string {
	words := make([]string, len(networks))
	for i, network := range networks {
		words[i] = network.String()
	}
	return strings.Join(words, ", ")
}

// isLoopback reports whether a host is this machine, for its own clients alone.
func isLoopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}
