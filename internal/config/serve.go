package config

import (
	"crypto/tls"
	"math"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// ServeFlags are the flags of "chairside serve".
type ServeFlags struct {
	Database
	SystemDatabase
	WebhookNetwork
	Addr             string   `placeholder:"HOST:PORT" default:"127.0.0.1:8080" help:"Address to listen on. Port 0 chooses a free port. Default: ${default}"`
	BaseURL          string   `placeholder:"URL" help:"Public URL of the server, used in links. Default: the address listened on."`
	Demo             bool     `help:"Serve a sandbox: fill the database with demo data on the first start, and print a token."`
	Migrate          bool     `help:"Apply pending migrations to a PostgreSQL database on start. An embedded database is always migrated."`
	RateLimit        string   `placeholder:"N" help:"Requests per hour and token, and per address without a valid token; 0 means no limit. Default: 3600, or 36000 with --demo."`
	PracticeLimit    string   `name:"practice-rate-limit" placeholder:"N" help:"Requests per hour of all tokens of a practice together; 0 means no limit. Default: ten times --rate-limit."`
	AuditCheckpoints string   `placeholder:"DIR" help:"Directory for signed checkpoints of the audit log, best on another machine's disk. Needs --audit-key."`
	ChangesRetention string   `placeholder:"DAYS" help:"Days for which the change feed keeps changes. Default: 14"`
	TLSCert          string   `name:"tls-cert" placeholder:"FILE" help:"PEM file of the TLS certificate and its chain. Serves HTTPS; needs --tls-key."`
	TLSKey           string   `name:"tls-key" placeholder:"FILE" help:"PEM file of the certificate's private key."`
	TrustedProxies   []string `placeholder:"CIDR" help:"Networks of proxies whose X-Forwarded-For and X-Forwarded-Proto headers are trusted."`
	PprofAddr        string   `placeholder:"HOST:PORT" help:"Loopback address that serves Go's profiles at /debug/pprof/, without a token. Default: off."`
	MCPAllowWrites   bool     `name:"mcp-allow-writes" help:"Offer assistants at /mcp the operations that change data. Default: only those that read."`
	LogFormat        string   `placeholder:"FORMAT" enum:"json,text" default:"json" help:"Format of the log on standard error: json or text. Default: ${default}"`
}

// Serve is the parsed ServeFlags.
type Serve struct {
	Database            Database
	SystemDatabaseURL   string // "" for one role
	Addr                string
	BaseURL             string // without a trailing slash; "" for the address listened on
	Demo, Migrate       bool
	RateLimit           int // requests per hour and token; 0 is unlimited
	PracticeRateLimit   int // requests per hour and practice; 0 is unlimited
	ChangesRetention    time.Duration
	AuditCheckpoints    string // "" for none
	CertFile, KeyFile   string
	TrustedProxies      []netip.Prefix
	MCPAllowWrites      bool
	WebhookAllowPrivate bool
	PprofAddr           string // a loopback address; "" for off
	JSONLog             bool
}

// The default requests per hour and token (behaviour.md section 7).
const (
	defaultRateLimit = 3600
	demoRateLimit    = 36000
	// practiceTokens is the number of tokens that a practice can use to their limit by
	// default: far more than the programs of one practice do, and few enough that one
	// practice cannot occupy a server that several share.
	practiceTokens = 10
)

// How long the change feed keeps changes, in days.
const (
	defaultChangesRetention = 14
	maxChangesRetention     = 3650
)

// Read checks the flags. The error is Mistakes, with everything that is wrong.
func (f ServeFlags) Read() (Serve, error) {
	var m Mistakes
	c := Serve{
		Database: f.Database, SystemDatabaseURL: f.SystemDatabaseURL, Addr: f.Addr, Demo: f.Demo, Migrate: f.Migrate,
		CertFile: f.TLSCert, KeyFile: f.TLSKey, MCPAllowWrites: f.MCPAllowWrites, WebhookAllowPrivate: f.WebhookAllowPrivate, PprofAddr: f.PprofAddr, JSONLog: f.LogFormat == "json",
	}
	f.Database.check(&m)
	f.SystemDatabase.check(&m, f.Database)
	if !validAddr(f.Addr) {
		m.add("addr", "must be HOST:PORT, such as 127.0.0.1:8080")
	}
	if f.PprofAddr != "" && !isLoopback(f.PprofAddr) {
		m.add("pprof-addr", "must be HOST:PORT with a loopback address, such as 127.0.0.1:6060")
	}
	if c.AuditCheckpoints = f.AuditCheckpoints; c.AuditCheckpoints != "" && f.AuditKey == "" {
		m.add("audit-checkpoints", "needs --audit-key")
	}
	c.ChangesRetention = f.readChangesRetention(&m)
	c.BaseURL = f.readBaseURL(&m)
	c.RateLimit = f.readRateLimit(&m)
	c.PracticeRateLimit = f.readPracticeLimit(&m, c.RateLimit)
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

// isLoopback reports whether only this machine can connect to addr. Profiles need no
// token, so no other machine may read them.
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
		m.add("base-url", "must be a URL such as https://api.example.com")
	}
	return strings.TrimRight(f.BaseURL, "/")
}

func (f ServeFlags) readRateLimit(m *Mistakes) int {
	switch {
	case f.RateLimit != "":
		return readLimit(m, "rate-limit", f.RateLimit)
	case f.Demo:
		return demoRateLimit
	}
	return defaultRateLimit
}

// readPracticeLimit reads the limit of a practice; perToken is that of a token.
func (f ServeFlags) readPracticeLimit(m *Mistakes, perToken int) int {
	if f.PracticeLimit != "" {
		return readLimit(m, "practice-rate-limit", f.PracticeLimit)
	}
	return min(perToken, math.MaxInt32/practiceTokens) * practiceTokens
}

func readLimit(m *Mistakes, flag, text string) int {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		m.add(flag, "must be a whole number; 0 means no limit")
	}
	return int(n)
}

func (f ServeFlags) readChangesRetention(m *Mistakes) time.Duration {
	days := uint64(defaultChangesRetention)
	if f.ChangesRetention != "" {
		var err error
		if days, err = strconv.ParseUint(f.ChangesRetention, 10, 31); err != nil || days < 1 || days > maxChangesRetention {
			m.add("changes-retention", "must be a number of days from 1 to %d", maxChangesRetention)
		}
	}
	return time.Duration(days) * 24 * time.Hour
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
			m.add("trusted-proxies", "%q must be a network, such as 10.0.0.0/8", text)
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
		m.add("tls-key", "is required with --tls-cert")
	case f.TLSCert == "":
		m.add("tls-cert", "is required with --tls-key")
	default:
		if _, err := tls.LoadX509KeyPair(f.TLSCert, f.TLSKey); err != nil {
			m.add("tls-cert", "cannot be used with --tls-key: %v", err)
		}
	}
}
