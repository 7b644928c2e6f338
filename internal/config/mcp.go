package config

import (
	"net"
	"net/url"
	"os"
	"strings"
)

// MCPFlags are the flags of "chairside mcp". The token is not one of them: other users of a
// machine can see a program's arguments.
type MCPFlags struct {
	Database
	Server      string `placeholder:"URL" help:"Use the server at this URL instead of a database."`
	TokenFile   string `placeholder:"FILE" help:"File that holds the access token. Default: the environment variable CHAIRSIDE_TOKEN."`
	AllowWrites bool   `help:"Offer the operations that change data. Each shows a preview until it is confirmed. Default: only those that read."`
	BaseURL     string `placeholder:"URL" default:"http://127.0.0.1:8080" help:"Public URL of the server that serves the database, used in links. Default: ${default}"`
}

// MCP is the parsed MCPFlags.
type MCP struct {
	Database    Database
	Server      string // URL, without a trailing slash; "" for the database
	BaseURL     string // without a trailing slash
	Token       string
	RateLimit   int // requests per hour, if a database is opened
	AllowWrites bool
}

// Read checks the flags. The error is Mistakes, with everything that is wrong.
func (f MCPFlags) Read() (MCP, error) {
	var m Mistakes
	c := MCP{Database: f.Database, Server: strings.TrimRight(f.Server, "/"), RateLimit: defaultRateLimit, AllowWrites: f.AllowWrites}
	f.Database.check(&m)
	if c.Server != "" && !isPrivate(c.Server) {
		m.add("server", "%s", serverRule)
	}
	c.BaseURL = Network{BaseURL: f.BaseURL}.readBaseURL(&m)
	c.Token = readToken(f.TokenFile, &m)
	return c, m.err()
}

// Validate reports every mistake in the flags; the parser calls it.
func (f MCPFlags) Validate() error {
	_, err := f.Read()
	return err
}

// serverRule is what a server's URL must be, so that the token cannot be intercepted.
const serverRule = "must be an https URL such as https://api.example.com, or an http URL of this machine"

// isPrivate reports whether a connection to the server cannot be intercepted: it uses HTTPS
// or stays on this machine.
func isPrivate(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return false
	}
	return u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback())
}

// readToken returns the token in a file, or in the environment if none is named.
func readToken(file string, m *Mistakes) string {
	if file == "" {
		token := strings.TrimSpace(os.Getenv(EnvPrefix + "_TOKEN"))
		if token == "" {
			m.add("token-file", "is required, unless the environment variable CHAIRSIDE_TOKEN holds an access token")
		}
		return token
	}
	text, err := os.ReadFile(file)
	token := strings.TrimSpace(string(text))
	switch {
	case err != nil:
		m.add("token-file", "cannot be read: %v", err)
	case token == "" || strings.ContainsAny(token, " \t\r\n"):
		m.add("token-file", "must hold one access token")
	}
	return token
}
