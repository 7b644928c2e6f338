package config

import (
	"cmp"
	"math"
	"net"
	"net/netip"
	"strconv"
	"time"
)

// ServeFlags are the flags of "chairside serve".
type ServeFlags struct {
	Database
	SystemDatabase
	ReplicaDatabases
	WebhookNetwork
	Network
	ServeBackupFlags
	SMTPFlags
	Demo             bool   `help:"Serve a sandbox: fill the database with demo data on the first start, and print a token."`
	Migrate          bool   `help:"Apply pending migrations to a PostgreSQL database on start. An embedded database is always migrated."`
	RateLimit        string `placeholder:"N" help:"Requests per hour and token, and per address without a valid token; 0 means no limit. Default: 3600, or 36000 with --demo."`
	PracticeLimit    string `name:"practice-rate-limit" placeholder:"N" help:"Requests per hour of all tokens of a practice together; 0 means no limit. Default: ten times --rate-limit."`
	AuditCheckpoints string `placeholder:"DIR" help:"Directory for signed checkpoints of the audit log, best on another machine's disk. Needs --audit-key."`
	ChangesRetention string `placeholder:"DAYS" help:"Days for which the change feed keeps changes. Default: 14"`
	Drain            string `placeholder:"DURATION" default:"5s" help:"How long a server that gets SIGTERM serves on, with /readyz at 503, so that a load balancer takes it out first. Default: ${default}"`
	SlowRequest      string `placeholder:"DURATION" default:"1s" help:"Log requests that take longer, with the names and times of their statements; 0 logs none. Default: ${default}"`
	OTLPEndpoint     string `name:"otlp-endpoint" env:"CHAIRSIDE_OTLP_ENDPOINT,OTEL_EXPORTER_OTLP_ENDPOINT" placeholder:"URL" help:"OpenTelemetry collector that gets traces by OTLP over HTTP, such as http://127.0.0.1:4318. Default: no traces."`
	TraceSampleRatio string `placeholder:"RATIO" default:"1" help:"Share of requests that are traced, from 0 to 1. Needs --otlp-endpoint. Default: ${default}"`
	PprofAddr        string `placeholder:"HOST:PORT" help:"Loopback address that serves Go's profiles at /debug/pprof/, without a token. Default: off."`
	MCPAllowWrites   bool   `name:"mcp-allow-writes" help:"Offer assistants at /mcp the operations that change data. Default: only those that read."`
	LogFormat        string `placeholder:"FORMAT" enum:"json,text" default:"json" help:"Format of the log on standard error: json or text. Default: ${default}"`
}

// Serve is the parsed ServeFlags.
type Serve struct {
	Database            Database
	SystemDatabaseURL   string // "" for one role
	ReplicaURLs         []string
	Addr                string
	BaseURL             string // without a trailing slash; "" for the address listened on
	Demo, Migrate       bool
	RateLimit           int // requests per hour and token; 0 is unlimited
	PracticeRateLimit   int // requests per hour and practice; 0 is unlimited
	ChangesRetention    time.Duration
	Drain               time.Duration
	Backup              ServeBackup
	SMTP                *SMTP  // nil for no mail
	AuditCheckpoints    string // "" for none
	CertFile, KeyFile   string
	TrustedProxies      []netip.Prefix
	MCPAllowWrites      bool
	WebhookAllowPrivate bool
	SlowRequest         time.Duration // 0 logs no slow requests
	OTLPEndpoint        string        // "" for no traces
	OTLPHeaders         map[string]string
	TraceSampleRatio    float64
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

// maxDrain is the longest time that a server may serve on.
const maxDrain = 10 * time.Minute

// Read checks the flags. The error is Mistakes, with everything that is wrong.
func (f ServeFlags) Read() (Serve, error) {
	var m Mistakes
	c := Serve{
		Database: f.Database, SystemDatabaseURL: f.SystemDatabaseURL, ReplicaURLs: f.ReplicaURL, Addr: f.Addr, Demo: f.Demo, Migrate: f.Migrate,
		CertFile: f.TLSCert, KeyFile: f.TLSKey, MCPAllowWrites: f.MCPAllowWrites, WebhookAllowPrivate: f.WebhookAllowPrivate, PprofAddr: f.PprofAddr, JSONLog: f.LogFormat == "json",
	}
	f.Database.check(&m)
	f.SystemDatabase.check(&m, f.Database)
	f.ReplicaDatabases.check(&m, f.Database)
	f.checkAddr(&m)
	if f.PprofAddr != "" && !isLoopback(f.PprofAddr) {
		m.add("pprof-addr", "must be HOST:PORT with a loopback address, such as 127.0.0.1:6060")
	}
	if c.AuditCheckpoints = f.AuditCheckpoints; c.AuditCheckpoints != "" && f.AuditKey == "" {
		m.add("audit-checkpoints", "needs --audit-key")
	}
	c.ChangesRetention = f.readChangesRetention(&m)
	c.Drain = f.readDrain(&m)
	c.Backup = f.ServeBackupFlags.read(&m, f.Database)
	c.SMTP = f.SMTPFlags.read(&m)
	c.SlowRequest = f.readSlowRequest(&m)
	c.OTLPEndpoint, c.TraceSampleRatio = f.readTraces(&m)
	c.OTLPHeaders = readOTLPHeaders(&m)
	c.BaseURL, c.TrustedProxies = f.readBaseURL(&m), f.readProxies(&m)
	c.RateLimit = f.readRateLimit(&m)
	c.PracticeRateLimit = f.readPracticeLimit(&m, c.RateLimit)
	f.checkCertificate(&m)
	return c, m.err()
}

// Validate reports every mistake in the flags; the parser calls it.
func (f ServeFlags) Validate() error {
	_, err := f.Read()
	return err
}

// isLoopback reports whether only this machine can connect to addr. Profiles need no
// token, so no other machine may read them.
func isLoopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	return err == nil && validAddr(addr) && (host == "localhost" || net.ParseIP(host).IsLoopback())
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

func (f ServeFlags) readDrain(m *Mistakes) time.Duration {
	d, err := time.ParseDuration(cmp.Or(f.Drain, "0"))
	if err != nil || d < 0 || d > maxDrain {
		m.add("drain", "must be a duration from 0 to 10m, such as 5s")
	}
	return d
}
