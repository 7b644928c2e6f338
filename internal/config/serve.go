package config

import (
	"crypto/tls"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// ServeFlags are the flags of "chairside serve".
type ServeFlags struct {
	Database
	Addr           string   `placeholder:"HOST:PORT" default:"127.0.0.1:8080" help:"Where to listen. Port 0 takes any free one. Default: ${default}"`
	BaseURL        string   `placeholder:"URL" help:"The address by which clients reach the server, for links in answers. Default: http:// and the address listened on, https:// with a certificate."`
	Demo           bool     `help:"Serve a sandbox: create the database and fill it with made-up data on the first start, and print a token."`
	Migrate        bool     `help:"Apply pending migrations to a PostgreSQL database before serving. An embedded one always is migrated."`
	RateLimit      string   `placeholder:"N" help:"Requests per hour and token; 0 for no limit. Default: 3600, with --demo 36000."`
	TLSCert        string   `name:"tls-cert" placeholder:"FILE" help:"PEM file of the TLS certificate and its chain. With --tls-key the server speaks HTTPS."`
	TLSKey         string   `name:"tls-key" placeholder:"FILE" help:"PEM file of the certificate's private key."`
	TrustedProxies []string `placeholder:"CIDR" help:"Networks of proxies whose X-Forwarded-For and X-Forwarded-Proto headers are believed."`
	PprofAddr      string   `placeholder:"HOST:PORT" help:"Serve Go's profiles at /debug/pprof/ on this loopback address, without a token. Default: off."`
	LogFormat      string   `placeholder:"FORM" enum:"json,text" default:"json" help:"Form of the log on standard error, json or text. Default: ${default}"`
}

// Serve is what ServeFlags amount to.
type Serve struct {
	Database          Database
	Addr              string
	BaseURL           string // without a final slash; "" for the address listened on
	Demo, Migrate     bool
	RateLimit         int // requests per hour and token; 0 is unlimited
	CertFile, KeyFile string
	TrustedProxies    []netip.Prefix
	PprofAddr         string // a loopback address; "" for off
	JSONLog           bool
}

// Requests per hour and token where nothing else was asked for (behaviour.md section 7).
const (
	defaultRateLimit = 3600
	demoRateLimit    = 36000
)

// Read checks the flags. The error is Mistakes, with everything that is wrong.
func (f ServeFlags) Read() (Serve, error) {
	var m Mistakes
	c := Serve{
		Database: f.Database, Addr: f.Addr, Demo: f.Demo, Migrate: f.Migrate,
		CertFile: f.TLSCert, KeyFile: f.TLSKey, PprofAddr: f.PprofAddr, JSONLog: f.LogFormat == "json",
	}
	f.Database.check(&m)
	if !validAddr(f.Addr) {
		m.add("addr", "must be HOST:PORT, with a port from 0 to 65535")
	}
	if f.PprofAddr != "" && !isLoopback(f.PprofAddr) {
		m.add("pprof-addr", "must be HOST:PORT on a loopback address, like 127.0.0.1:6060")
	}
	c.BaseURL = f.readBaseURL(&m)
	c.RateLimit = f.readRateLimit(&m)
	c.TrustedProxies = f.readProxies(&m)
	f.checkCertificate(&m)
	return c, m.err()
}

// Validate reports every mistake in the flags; the parser calls it.
func (f ServeFlags) Validate() error {
	_, err := f.Read()
	return err
}

func validAddr(addr string) bool {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}

// isLoopback reports whether only programs on this machine can connect to addr:
// profiles show what the program is doing to anyone who asks.
func isLoopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	return err == nil && validAddr(addr) && (host == "localhost" || net.ParseIP(host).IsLoopback())
}

func (f ServeFlags) readBaseURL(m *Mistakes) string {
	if f.BaseURL == "" {
		return ""
	}
	u, err := url.Parse(f.BaseURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		m.add("base-url", "must be an address like https://api.example.com")
	}
	return strings.TrimRight(f.BaseURL, "/")
}

func (f ServeFlags) readRateLimit(m *Mistakes) int {
	switch {
	case f.RateLimit != "":
		n, err := strconv.ParseUint(f.RateLimit, 10, 31)
		if err != nil {
			m.add("rate-limit", "must be a whole number, 0 for no limit")
		}
		return int(n)
	case f.Demo:
		return demoRateLimit
	}
	return defaultRateLimit
}

func (f ServeFlags) readProxies(m *Mistakes) (networks []netip.Prefix) {
	for _, text := range f.TrustedProxies {
		text = strings.TrimSpace(text)
		if address, err := netip.ParseAddr(text); err == nil {
			address = address.Unmap()
			networks = append(networks, netip.PrefixFrom(address, address.BitLen()))
			continue
		}
		network, err := netip.ParsePrefix(text)
		if err != nil {
			m.add("trusted-proxies", "%q is not a network like 10.0.0.0/8", text)
			continue
		}
		networks = append(networks, network.Masked())
	}
	return networks
}

func (f ServeFlags) checkCertificate(m *Mistakes) {
	switch {
	case f.TLSCert == "" && f.TLSKey == "":
	case f.TLSKey == "":
		m.add("tls-key", "is needed with --tls-cert")
	case f.TLSCert == "":
		m.add("tls-cert", "is needed with --tls-key")
	default:
		if _, err := tls.LoadX509KeyPair(f.TLSCert, f.TLSKey); err != nil {
			m.add("tls-cert", "cannot be used with its key: %v", err)
		}
	}
}
