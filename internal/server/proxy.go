package server

import (
	"net/http"
	"net/netip"
	"strings"
)

// throughProxies sets RemoteAddr to the client's address, without a port, and URL.Scheme to
// the client's protocol if the request comes from a trusted proxy. It removes forwarding
// headers from any other peer. r must be a copy that may be changed.
func (s *Server) throughProxies(r *http.Request) *http.Request {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !s.trusts(peer.Addr()) {
		if r.Header.Get("X-Forwarded-For")+r.Header.Get("X-Forwarded-Proto") != "" {
			r.Header = r.Header.Clone()
			r.Header.Del("X-Forwarded-For")
			r.Header.Del("X-Forwarded-Proto")
		}
		return r
	}
	if proto := strings.ToLower(r.Header.Get("X-Forwarded-Proto")); proto == "https" || proto == "http" {
		url := *r.URL
		url.Scheme = proto
		r.URL = &url
	}
	// Each proxy appends the address of its peer, so the client's is the last address that
	// is not a trusted proxy's. Those before it may be forged.
	forwarded := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(forwarded) - 1; i >= 0; i-- {
		address, err := netip.ParseAddr(strings.TrimSpace(forwarded[i]))
		if err != nil {
			break
		}
		r.RemoteAddr = address.Unmap().String()
		if !s.trusts(address) {
			break
		}
	}
	return r
}

func (s *Server) trusts(address netip.Addr) bool {
	for _, network := range s.TrustedProxies {
		if network.Contains(address.Unmap()) {
			return true
		}
	}
	return false
}
