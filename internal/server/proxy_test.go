package server

import (
	"net/http/httptest"
	"net/netip"
	"testing"
)

func TestForwardedHeadersNeedATrustedProxy(t *testing.T) {
	t.Parallel()
	s := &Server{Options: Options{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}}}
	for _, test := range []struct {
		peer             string
		forwarded, proto string
		client, scheme   string
	}{
		{"192.0.2.7:1000", "", "", "192.0.2.7:1000", ""},
		{"192.0.2.7:1000", "1.2.3.4", "https", "192.0.2.7:1000", ""},
		{"10.0.0.1:1000", "", "", "10.0.0.1:1000", ""},
		{"10.0.0.1:1000", "1.2.3.4", "https", "1.2.3.4", "https"},
		{"10.0.0.1:1000", "6.6.6.6, 1.2.3.4", "HTTPS", "1.2.3.4", "https"},
		{"10.0.0.1:1000", "6.6.6.6, 1.2.3.4 , 10.0.0.2", "http", "1.2.3.4", "http"},
		{"10.0.0.1:1000", "nonsense, 10.0.0.2", "gopher", "10.0.0.2", ""},
		{"[::1]:1000", "2001:db8::5", "", "2001:db8::5", ""},
		{"[::ffff:10.0.0.1]:1000", "::ffff:1.2.3.4", "", "1.2.3.4", ""},
	} {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/", nil)
		r.RemoteAddr = test.peer
		if test.forwarded != "" {
			r.Header.Set("X-Forwarded-For", test.forwarded)
		}
		if test.proto != "" {
			r.Header.Set("X-Forwarded-Proto", test.proto)
		}
		got := s.throughProxies(r)
		if got.RemoteAddr != test.client || got.URL.Scheme != test.scheme {
			t.Errorf("%+v: client %s, scheme %q", test, got.RemoteAddr, got.URL.Scheme)
		}
		if test.peer == "192.0.2.7:1000" && got.Header.Get("X-Forwarded-For") != "" {
			t.Error("the header of an untrusted peer was not removed")
		}
	}
}
