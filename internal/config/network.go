package config

import (
	"crypto/tls"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// Network are the flags of how clients reach a server.
type Network struct {
	Addr           string   `placeholder:"HOST:PORT" default:"127.0.0.1:8080" help:"Address to listen on. Port 0 chooses a free port. Default: ${default}"`
	BaseURL        string   `placeholder:"URL" help:"Public URL of the server, used in links. Default: the address listened on."`
	TLSCert        string   `name:"tls-cert" placeholder:"FILE" help:"PEM file of the TLS certificate and its chain. Serves HTTPS; needs --tls-key."`
	TLSKey         string   `name:"tls-key" placeholder:"FILE" help:"PEM file of the certificate's private key."`
	TrustedProxies []string `placeholder:"CIDR" help:"Networks of proxies whose X-Forwarded-For and X-Forwarded-Proto headers are trusted."`
}

func (f Network) checkAddr(m *Mistakes) {
	if !validAddr(f.Addr) {
		m.add("addr", "must be HOST:PORT, such as 127.0.0.1:8080")
	}
}

func validAddr(addr string) bool {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}

func (f Network) readBaseURL(m *Mistakes) string {
	if f.BaseURL == "" {
		return ""
	}
	u, err := url.Parse(f.BaseURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		m.add("base-url", "must be a URL such as https://api.example.com")
	}
	return strings.TrimRight(f.BaseURL, "/")
}

func (f Network) readProxies(m *Mistakes) (networks []netip.Prefix) {
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

// checkPair checks that a certificate has its key.
func (f Network) checkPair(m *Mistakes) {
	switch {
	case f.TLSCert != "" && f.TLSKey == "":
		m.add("tls-key", "is required with --tls-cert")
	case f.TLSCert == "" && f.TLSKey != "":
		m.add("tls-cert", "is required with --tls-key")
	}
}

// checkCertificate checks that the certificate can be used.
func (f Network) checkCertificate(m *Mistakes) {
	f.checkPair(m)
	if f.TLSCert == "" || f.TLSKey == "" {
		return
	}
	if _, err := tls.LoadX509KeyPair(f.TLSCert, f.TLSKey); err != nil {
		m.add("tls-cert", "cannot be used with --tls-key: %v", err)
	}
}

// DoctorFlags are the flags of "chairside doctor".
type DoctorFlags struct {
	Database
	SystemDatabase
	ReplicaDatabases
	Network
	BackupScheduleFlags
}

// Doctor is the parsed DoctorFlags.
type Doctor struct {
	Database          Database
	SystemDatabaseURL string // "" for one role
	ReplicaURLs       []string
	Addr, BaseURL     string // as of Serve
	CertFile, KeyFile string // not opened yet
	TrustedProxies    []netip.Prefix
	Backup            ServeBackup // where and how often alone
}

// Read checks the flags. The error is Mistakes, with everything that is wrong.
func (f DoctorFlags) Read() (Doctor, error) {
	var m Mistakes
	f.Database.check(&m)
	f.SystemDatabase.check(&m, f.Database)
	f.ReplicaDatabases.check(&m, f.Database)
	f.checkAddr(&m)
	f.checkPair(&m)
	return Doctor{
		Database: f.Database, SystemDatabaseURL: f.SystemDatabaseURL, ReplicaURLs: f.ReplicaURL, Addr: f.Addr,
		BaseURL: f.readBaseURL(&m), CertFile: f.TLSCert, KeyFile: f.TLSKey, TrustedProxies: f.readProxies(&m),
		Backup: f.BackupScheduleFlags.read(&m, f.Database),
	}, m.err()
}

// Validate reports every mistake in the flags; the parser calls it.
func (f DoctorFlags) Validate() error {
	_, err := f.Read()
	return err
}
