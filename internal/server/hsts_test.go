package server

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestTLSSendsStrictTransportSecurity checks that every response over TLS has the header,
// and none over plain HTTP.
func TestTLSSendsStrictTransportSecurity(t *testing.T) {
	t.Parallel()
	cert, key := selfSigned(t)
	secure := setup(t, func(o *Options, _ *fakeOperations) { o.CertFile, o.KeyFile = cert, key })
	plain := setup(t)
	client := &http.Client{
		Transport:     &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, //nolint:gosec // a certificate of this test
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	defer client.CloseIdleConnections()
	for _, c := range []struct {
		b            *bundle
		scheme, want string
	}{{secure, "https", "max-age=31536000"}, {plain, "http", ""}} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- c.b.Run(ctx, listener) }()
		for _, request := range []struct {
			method, path string
			status       int
		}{
			{"GET", "/v1/sites", 401}, {"GET", "/nothing", 404}, {"DELETE", "/v1/sites", 405}, {"OPTIONS", "/v1/sites", 204}, {"HEAD", "/healthz", 200},
			{"GET", "/sign-in", 200}, {"GET", "/settings/tokens", 303}, {"POST", "/oauth/token", 415}, {"GET", "/docs", 200}, {"GET", "//x", 404},
		} {
			r, err := http.NewRequestWithContext(t.Context(), request.method, c.scheme+"://"+listener.Addr().String()+request.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			response, err := client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close()
			got := response.Header.Values("Strict-Transport-Security")
			if response.StatusCode != request.status || len(got) > 1 || response.Header.Get("Strict-Transport-Security") != c.want {
				t.Errorf("%s %s by %s: status %d, Strict-Transport-Security %q", request.method, request.path, c.scheme, response.StatusCode, got)
			}
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// selfSigned writes a self-signed certificate and its key.
func selfSigned(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	public, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write("cert.pem", "CERTIFICATE", public), write("key.pem", "PRIVATE KEY", secret)
}
