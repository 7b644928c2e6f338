package webhook

import (
	"context"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/dns/dnsmessage"
)

func TestForbiddenAddresses(t *testing.T) {
	t.Parallel()
	for _, address := range strings.Fields(`0.0.0.0 0.1.2.3 10.1.2.3 100.64.0.1 127.0.0.1 127.9.9.9 168.63.129.16 ::ffff:168.63.129.16 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.1 192.0.2.1
		192.168.1.1 198.18.0.1 198.51.100.1 203.0.113.9 224.0.0.1 240.0.0.1 255.255.255.255
		:: ::1 ::7f00:1 ::ffff:0:7f00:1 ::ffff:0:808:808 1fff::1 4000::1 5f00::1 fec0::1 3fff::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 64:ff9b::7f00:1 100::1 2001::1 2001:db8::1 2002:7f00:1:: fc00::1 fd12::1 fe80::1 fe80::1%eth0 ff02::1`) {
		if allowed(netip.MustParseAddr(address)) {
			t.Errorf("%s is allowed", address)
		}
	}
	for _, address := range strings.Fields("1.1.1.1 168.63.129.15 168.63.129.17 2000::1 3ffe::1 100.63.255.255 172.15.0.1 172.32.0.1 193.0.0.1 2606:4700::1111 ::ffff:8.8.8.8") {
		if !allowed(netip.MustParseAddr(address)) {
			t.Errorf("%s is forbidden", address)
		}
	}
}

func TestGuardRefusesWhateverNamesTheAddress(t *testing.T) {
	t.Parallel()
	client := newClient(false)
	for _, to := range []string{"http://127.0.0.1:9/", "http://localhost:9/", "http://[::1]:9/", "http://0x7f.1:9/", "http://[::ffff:127.0.0.1]:9/", "http://0:9/"} {
		a := send(t.Context(), client, to, nil, []byte("{}"), func() {})
		if a.status != 0 || a.err == "" || strings.Contains(a.err, "connection refused") {
			t.Errorf("%s: %+v", to, a)
		}
	}
	if client.Transport.(*http.Transport).Proxy != nil {
		t.Error("a proxy could reach private addresses")
	}
}

// TestGuardSeesThroughNames: whatever a name resolves to, the address that is connected to
// decides.
func TestGuardSeesThroughNames(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{"127.0.0.1", "10.1.2.3", "169.254.169.254", "100.64.0.1", "0.0.0.0", "::1", "::ffff:127.0.0.1", "64:ff9b::a00:1", "2002:7f00:1::", "fd00::1", "fe80::1"} {
		dialer := &net.Dialer{Timeout: sendTime, Control: guard, Resolver: resolver(t, netip.MustParseAddr(answer))}
		a := send(t.Context(), clientOf(dialer), "http://rebind.example:9/", nil, []byte("{}"), func() {})
		if a.status != 0 || a.err != ErrForbiddenAddress.Error() {
			t.Errorf("a name of %s: %+v", answer, a)
		}
	}
}

// resolver answers every question with an address.
func resolver(t *testing.T, address netip.Addr) *net.Resolver {
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	go func() {
		buffer := make([]byte, 1500)
		for {
			n, from, err := server.ReadFrom(buffer)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buffer[:n]) != nil || len(m.Questions) == 0 {
				continue
			}
			q := m.Questions[0]
			m.Response, m.Additionals = true, nil
			header := dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: 1}
			switch {
			case q.Type == dnsmessage.TypeA && address.Is4():
				m.Answers = []dnsmessage.Resource{{Header: header, Body: &dnsmessage.AResource{A: address.As4()}}}
			case q.Type == dnsmessage.TypeAAAA && !address.Is4():
				m.Answers = []dnsmessage.Resource{{Header: header, Body: &dnsmessage.AAAAResource{AAAA: address.As16()}}}
			}
			if packed, err := m.Pack(); err == nil {
				_, _ = server.WriteTo(packed, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", server.LocalAddr().String())
	}}
}

// TestErrorsCanBeStored: the text of an error may quote what a receiver chose, such as the names
// in its certificate.
func TestErrorsCanBeStored(t *testing.T) {
	t.Parallel()
	name := strings.Repeat("a\x00b\xff", 5000)
	quoted := &url.Error{Op: "Post", URL: "https://example.com", Err: x509.HostnameError{Certificate: &x509.Certificate{DNSNames: []string{name}}, Host: "example.com"}}
	text := loggable([]byte(hide(quoted)))
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) || len(text) > maxLogged || text == "" {
		t.Errorf("%d bytes: %.100q", len(text), text)
	}
}

func TestURLs(t *testing.T) {
	t.Parallel()
	for _, ok := range []string{"https://example.com/hook?a=b", "https://example.com:8080", "http://localhost:8080", "http://10.1.2.3/hooks", "http://[::1]:80"} {
		if message := CheckURL(ok); message != "" {
			t.Errorf("%s %s", ok, message)
		}
	}
	for _, wrong := range []string{"", "example.com", "http://example.com", "http://8.8.8.8", "ftp://example.com", "https://", "https://u:p@example.com", "https://example.com/#x", "javascript:alert(1)", "https://exa mple.com"} {
		if CheckURL(wrong) == "" {
			t.Errorf("%q is accepted", wrong)
		}
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	if message := CheckEvents(append(Events(), "patients.*", "*")); message != "" {
		t.Error(message)
	}
	for _, wrong := range [][]string{nil, {""}, {"patients"}, {"patients."}, {"patients.read"}, {"sessions.created"}, {"patients.created", "*.*"}, {"webhooks.updated"}} {
		if CheckEvents(wrong) == "" {
			t.Errorf("%q are accepted", wrong)
		}
	}
	if !Wants([]string{"rooms.created", "patients.*"}, "patients", "deleted") || Wants([]string{"rooms.created"}, "rooms", "updated") || !Wants([]string{"*"}, "fees", "updated") {
		t.Error("wants")
	}
}

// TestDeliveriesAreRecordedBeforeTheyAreSent, and not if the receiver is not reached.
func TestDeliveriesAreRecordedBeforeTheyAreSent(t *testing.T) {
	t.Parallel()
	var recorded, received atomic.Int32
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if body, err := io.ReadAll(r.Body); err != nil || string(body) != "{}" || r.ContentLength != 2 || recorded.Load() != 1 {
			t.Errorf("%q of %d bytes, %v, recorded %d times", body, r.ContentLength, err, recorded.Load())
		}
		received.Add(1)
	}))
	record := func() { recorded.Add(1) }
	if a := send(t.Context(), newClient(true), receiver.URL, nil, []byte("{}"), record); !a.ok() || received.Load() != 1 {
		t.Errorf("%+v", a)
	}
	receiver.Close()
	if a := send(t.Context(), newClient(true), receiver.URL, nil, []byte("{}"), record); a.err == "" || recorded.Load() != 1 {
		t.Errorf("%+v, recorded %d times", a, recorded.Load())
	}
}
