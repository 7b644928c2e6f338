package pgproxy

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/big"
	"net"
	"net/url"
	"testing"
	"time"

	"chairside/internal/clock"
)

// TLS starts a proxy with TLS, for a server without it, and returns the database's URL
// through it. It ends with the test.
func TLS(t testing.TB, address string) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: clock.Deadline(time.Hour)}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{certificate}, PrivateKey: key}}}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	plain := u.Host
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = client.Close() }()
				if _, err := io.ReadFull(client, make([]byte, 8)); err != nil { // SSLRequest
					return
				}
				server, err := net.Dial("tcp", plain)
				if err != nil {
					return
				}
				defer func() { _ = server.Close() }()
				if _, err := client.Write([]byte("S")); err != nil {
					return
				}
				encrypted := tls.Server(client, config)
				go func() { _, _ = io.Copy(server, encrypted); _ = server.Close() }()
				_, _ = io.Copy(encrypted, server)
			}()
		}
	}()
	u.Host = listener.Addr().String()
	query := u.Query()
	query.Set("sslmode", "require")
	u.RawQuery = query.Encode()
	return u.String()
}
