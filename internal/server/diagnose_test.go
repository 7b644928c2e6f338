package server

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"chairside/internal/clock"
	"chairside/internal/store"
	"chairside/internal/store/backup"
	"chairside/internal/web"
)

// found returns the text and the mend of each outcome that is a problem.
func found(checks []web.Check) string {
	var all []string
	for _, c := range checks {
		if c.State == web.Failed {
			all = append(all, c.Text+": "+c.Mend)
		}
	}
	return strings.Join(all, "\n")
}

func TestAddressAndProxiesFitTogether(t *testing.T) {
	t.Parallel()
	proxy, everyone := netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("0.0.0.0/0")
	for _, c := range []struct {
		name string
		Network
		want string // "" for no problem
	}{
		{"this machine", Network{BaseURL: "http://127.0.0.1:8080"}, ""},
		{"this machine by name", Network{BaseURL: "http://localhost:8080"}, ""},
		{"own certificate", Network{BaseURL: "https://api.example.test", CertFile: "x"}, ""},
		{"behind a proxy", Network{BaseURL: "https://api.example.test", TrustedProxies: []netip.Prefix{proxy}}, ""},
		{"proxy and own certificate", Network{BaseURL: "https://api.example.test", CertFile: "x", TrustedProxies: []netip.Prefix{proxy}}, ""},
		{"plain HTTP", Network{BaseURL: "http://api.example.test"}, "without TLS"},
		{"plain HTTP behind a proxy", Network{BaseURL: "http://api.example.test", TrustedProxies: []netip.Prefix{proxy}}, "without TLS"},
		{"certificate and http", Network{BaseURL: "http://api.example.test", CertFile: "x"}, "links lead to plain HTTP"},
		{"proxy that is not trusted", Network{BaseURL: "https://api.example.test"}, "name the proxy’s network with --trusted-proxies"},
		{"proxy without a public URL", Network{BaseURL: "http://127.0.0.1:8080", TrustedProxies: []netip.Prefix{proxy}}, "set --base-url"},
		{"every address", Network{BaseURL: "https://api.example.test", TrustedProxies: []netip.Prefix{everyone}}, "clients can forge the address"},
	} {
		checks, err := c.checkAddress()
		if got := found(checks); err != nil || len(checks) == 0 || (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %v, %v; want %q", c.name, checks, err, c.want)
		}
	}
}

func TestCertificateIsChecked(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 7, 1, 9, 0, 0, 0, time.UTC)
	day := 24 * time.Hour
	ca, caKey := issue(t, nil, nil, &x509.Certificate{IsCA: true, BasicConstraintsValid: true, NotBefore: now.Add(-day), NotAfter: now.Add(1000 * day), KeyUsage: x509.KeyUsageCertSign})
	for _, c := range []struct {
		name, host  string
		from, until time.Duration
		followers   []*x509.Certificate
		want        string // "" for no problem
	}{
		{"good", "api.example.test", -day, 60 * day, []*x509.Certificate{ca}, ""},
		{"good without its issuer", "api.example.test", -day, 60 * day, nil, ""},
		{"expired", "api.example.test", -9 * day, -day, nil, "expired on 30 June 2026"},
		{"expires soon", "api.example.test", -9 * day, 13 * day, nil, "expires on 14 July 2026, 09:00 UTC: renew"},
		{"not yet valid", "api.example.test", day, 60 * day, nil, "valid only from 2 July 2026"},
		{"another host", "www.example.test", -day, 60 * day, nil, "is not for api.example.test, the host of the public URL, but for www.example.test"},
		{"wrong chain", "api.example.test", -day, 60 * day, []*x509.Certificate{nil}, "certificate 2 of the file"},
	} {
		leaf, key := issue(t, ca, caKey, &x509.Certificate{DNSNames: []string{c.host}, NotBefore: now.Add(c.from), NotAfter: now.Add(c.until)})
		if len(c.followers) == 1 && c.followers[0] == nil {
			c.followers[0] = leaf // which has not issued itself
		}
		n := Network{BaseURL: "https://api.example.test", CertFile: writeCertificates(t, append([]*x509.Certificate{leaf}, c.followers...)), KeyFile: writeKey(t, key)}
		checks, err := n.checkCertificate(clock.With(t.Context(), now))
		if got := found(checks); err != nil || len(checks) == 0 || (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %v, %v; want %q", c.name, checks, err, c.want)
		}
		n.KeyFile = writeKey(t, caKey)
		if checks, err := n.checkCertificate(clock.With(t.Context(), now)); err != nil || !strings.Contains(found(checks), "cannot be used with the key") {
			t.Errorf("another key: %v, %v", checks, err)
		}
	}
	for url, want := range map[string]string{"https://api.example.test": "is the proxy’s", "http://localhost": "no certificate"} {
		checks, err := (&Network{BaseURL: url}).checkCertificate(t.Context())
		if err != nil || checks[0].State != web.NotChecked || !strings.Contains(checks[0].Text, want) {
			t.Errorf("%s: %v, %v", url, checks, err)
		}
	}
}

// TestBackupFromTheFutureDoesNotCount: it keeps the server from making new ones, so it must not look like a recent one.
func TestBackupFromTheFutureDoesNotCount(t *testing.T) {
	t.Parallel()
	b, dir := setup(t), t.TempDir()
	schedule := &backup.Schedule{Folder: backup.Folder{Dir: dir}, Every: time.Hour}
	i, ctx := &Installation{DB: b.DB, Backups: schedule}, clock.With(t.Context(), b.now)
	stem := strings.TrimSuffix(filepath.Base(b.DB.File), ".db")
	var future string
	for _, at := range []string{"20260701T040000Z", "20990101T000000Z"} {
		future = filepath.Join(dir, stem+"-"+at+".db")
		if err := errors.Join(os.WriteFile(future, nil, 0o600), os.WriteFile(future+".sha256", nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	checks, err := i.checkBackups(ctx)
	if got := found(checks); err != nil || !strings.Contains(got, future+" is from the future") {
		t.Errorf("the check finds %v, %v", checks, err)
	}
	due, err := schedule.Overdue(ctx, b.DB)
	if want := time.Date(2026, 7, 1, 5, 0, 0, 0, time.UTC); err != nil || !due.Equal(want) {
		t.Errorf("due since %s, %v; want %s", due, err, want)
	}
}

// issue creates a certificate, signed by an issuer or, without one, by itself.
func issue(t *testing.T, issuer *x509.Certificate, issuerKey *ecdsa.PrivateKey, template *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template.SerialNumber, template.Subject = big.NewInt(time.Now().UnixNano()), pkix.Name{CommonName: "Test " + rand.Text()}
	if issuer == nil {
		issuer, issuerKey = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, issuer, key.Public(), issuerKey)
	if err != nil {
		t.Fatal(err)
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return made, key
}

func writeCertificates(t *testing.T, all []*x509.Certificate) string {
	t.Helper()
	var text []byte
	for _, c := range all {
		text = append(text, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})...)
	}
	return writeFile(t, "cert.pem", text)
}

func writeKey(t *testing.T, key *ecdsa.PrivateKey) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return writeFile(t, "key.pem", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

func writeFile(t *testing.T, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestClocksMayDifferByTheLimit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		offset, within time.Duration
		state          web.CheckState
		want           string
	}{
		{0, time.Millisecond, web.Passed, "differ by at most 1ms; up to 2s is allowed"},
		{1990 * time.Millisecond, time.Millisecond, web.Passed, "differ by at most 1.991s"},
		{-1900 * time.Millisecond, 200 * time.Millisecond, web.NotChecked, "takes too long"},
		{90 * time.Second, time.Millisecond, web.Failed, "is 1m30s behind that of the database server"},
		{-90 * time.Second, time.Millisecond, web.Failed, "is 1m30s ahead of that of the database server"},
	} {
		checks, err := clockOutcome(c.offset, c.within)
		if err != nil || len(checks) != 1 || checks[0].State != c.state || !strings.Contains(checks[0].Text, c.want) {
			t.Errorf("%s ± %s: %v, %v; want %q", c.offset, c.within, checks, err, c.want)
		}
	}
}

func TestFilesOfSecretsAreChecked(t *testing.T) {
	t.Parallel()
	open, closed := writeFile(t, "open", nil), writeFile(t, "closed", nil)
	if err := os.Chmod(open, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		files []string
		state web.CheckState
		want  string
	}{
		{nil, web.NotChecked, "no file"},
		{[]string{closed, filepath.Join(t.TempDir(), "missing")}, web.Passed, "(1)"},
		{[]string{closed, open}, web.Failed, "can open " + open},
	} {
		in := Installation{DB: &store.DB{}, SecretFiles: c.files}
		checks, err := in.checkFiles(t.Context())
		if err != nil || len(checks) != 1 || checks[0].State != c.state || !strings.Contains(checks[0].Text, c.want) {
			t.Errorf("%v: %v, %v", c.files, checks, err)
		}
	}
}

// TestChecksThatFailToBeMade say so, with their limit.
func TestChecksThatFailToBeMade(t *testing.T) {
	t.Parallel()
	b := setup(t)
	in := Installation{DB: b.DB, Network: Network{BaseURL: b.BaseURL}}
	checks := in.Diagnose(t.Context(), time.Minute)
	var names []string
	for _, c := range checks {
		if names = append(names, c.Name); c.Err != nil || c.Name == "" || c.Text == "" {
			t.Errorf("%+v", c)
		}
	}
	if len(names) != len(examinations) || !slices.Contains(names, "Clock") {
		t.Errorf("made %v", names)
	}
	for _, c := range in.Diagnose(t.Context(), time.Nanosecond) {
		if c.Name == "Totals of lists" && (!errors.Is(c.Err, context.DeadlineExceeded) || c.State != web.NotChecked || !strings.Contains(c.Text, "did not end within 1ns")) {
			t.Errorf("%+v", c)
		}
	}
	b.DB.Close()
	for _, c := range in.Diagnose(t.Context(), time.Minute) {
		if c.Name == "Migrations" && (c.Err == nil || c.State != web.NotChecked || strings.Contains(c.Text, "sql")) {
			t.Errorf("%+v", c)
		}
	}
}
