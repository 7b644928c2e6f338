package config

import (
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"chairside/internal/civil"
)

func TestServeReportsAllMistakesAtOnce(t *testing.T) {
	_, err := ServeFlags{
		Database: Database{DatabaseURL: "mysql://root:secret@host/db"}, RateLimit: "-1", Drain: "soon", PprofAddr: "0.0.0.0:6060",
		SlowRequest: "-1s", SMTPFlags: SMTPFlags{SMTPAddr: "mail.example.com:465", SMTPFrom: "reports", SMTPUser: "reports"}, OTLPEndpoint: "http://user:secret@collector:4318", TraceSampleRatio: "NaN",
		Network: Network{Addr: "localhost", BaseURL: "api.example.com", TLSCert: "cert.pem", TrustedProxies: []string{"10.0.0.0/8", "home"}},
	}.Read()
	if err == nil {
		t.Fatal("no error")
	}
	for _, flag := range []string{"--database-url", "--addr", "--base-url", "--rate-limit", "--tls-key", "--trusted-proxies", "--pprof-addr", "--drain", "--slow-request", "--otlp-endpoint", "--trace-sample-ratio", "--smtp-addr", "--smtp-from", "--smtp-user"} {
		if !strings.Contains(err.Error(), flag+": ") {
			t.Errorf("%s is not named in:\n%v", flag, err)
		}
	}
	if strings.Contains(err.Error(), "secret") {
		t.Error("the message repeats the password")
	}
}

func TestMCPReportsAllMistakesAtOnce(t *testing.T) {
	t.Setenv("CHAIRSIDE_TOKEN", " \n")
	_, err := MCPFlags{Database: Database{DatabaseURL: "mysql://root:secret@host/db"}, Server: "http://api.example.com", BaseURL: "api"}.Read()
	if err == nil {
		t.Fatal("no error")
	}
	for _, flag := range []string{"--database-url", "--server", "--base-url", "--token-file"} {
		if !strings.Contains(err.Error(), flag+": ") {
			t.Errorf("%s is not named in:\n%v", flag, err)
		}
	}
}

func TestMCPReadsTheToken(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("cs_pat_file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CHAIRSIDE_TOKEN", "cs_pat_environment")
	flags := MCPFlags{Database: Database{DatabaseURL: "sqlite:x.db"}, BaseURL: "http://127.0.0.1:8080"}
	for tokenFile, want := range map[string]string{"": "cs_pat_environment", file: "cs_pat_file"} {
		flags.TokenFile = tokenFile
		if c, err := flags.Read(); err != nil || c.Token != want || c.RateLimit != 3600 {
			t.Errorf("%q: %+v %v", tokenFile, c, err)
		}
	}
	if err := os.WriteFile(file, []byte("two words"), 0o600); err != nil {
		t.Fatal(err)
	}
	flags.TokenFile = file
	if _, err := flags.Read(); err == nil {
		t.Error("no error")
	}
}

func TestTokensGoOnlyWhereNobodyReadsThem(t *testing.T) {
	for address, want := range map[string]bool{
		"https://api.example.com": true, "https://api.example.com:8443/dental": true,
		"http://127.0.0.1:8080": true, "http://[::1]:8080": true, "http://localhost": true,
		"http://api.example.com": false, "http://127.0.0.1.example.com": false, "http://localhost.example.com": false, "http://10.0.0.1": false,
		"https://user:password@api.example.com": false, "https://api.example.com?x": false, "ftp://localhost": false, "https://": false, "localhost": false,
	} {
		if got := isPrivate(address); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
}

func TestServeReadsHeadersOfTheCollector(t *testing.T) {
	flags := ServeFlags{Database: Database{DatabaseURL: "sqlite:x.db"}, Network: Network{Addr: "127.0.0.1:0"}, OTLPEndpoint: "http://collector:4318/"}
	t.Setenv(otlpHeaders, " Authorization=Bearer%20secret , x-team=a=b,")
	c, err := flags.Read()
	if want := map[string]string{"Authorization": "Bearer secret", "x-team": "a=b"}; err != nil || !reflect.DeepEqual(c.OTLPHeaders, want) || c.OTLPEndpoint != "http://collector:4318" || c.TraceSampleRatio != 1 {
		t.Errorf("%+v %v", c, err)
	}
	for _, wrong := range []string{"secret", "=secret", "a=%zzsecret", "a=secret%0D%0Ab"} {
		t.Setenv(otlpHeaders, wrong)
		if _, err := flags.Read(); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}

func TestServeDefaults(t *testing.T) {
	flags := ServeFlags{Database: Database{DatabaseURL: "sqlite:x.db"}, Network: Network{Addr: "127.0.0.1:0"}, LogFormat: "text"}
	for _, test := range []struct {
		demo  bool
		limit string
		want  int
	}{{false, "", 3600}, {true, "", 36000}, {true, "0", 0}, {false, "12", 12}} {
		flags.Demo, flags.RateLimit = test.demo, test.limit
		c, err := flags.Read()
		if err != nil || c.RateLimit != test.want {
			t.Errorf("%+v: %d, %v", test, c.RateLimit, err)
		}
	}
}

func TestServeReads(t *testing.T) {
	c, err := ServeFlags{
		Database: Database{DatabaseURL: "postgres://localhost/x"}, Network: Network{
			Addr: "[::1]:8443", BaseURL: "https://api.example.com/dental/", TrustedProxies: []string{"10.1.2.3/8", " 192.0.2.1", "::1"},
		},
	}.Read()
	if err != nil {
		t.Fatal(err)
	}
	want := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("192.0.2.1/32"), netip.MustParsePrefix("::1/128")}
	if c.BaseURL != "https://api.example.com/dental" || !reflect.DeepEqual(c.TrustedProxies, want) {
		t.Errorf("got %+v", c)
	}
	if c.Database.Embedded() || !(Database{DatabaseURL: "sqlite:x"}).Embedded() {
		t.Error("Embedded is wrong")
	}
}

func TestSeed(t *testing.T) {
	_, err := SeedFlags{Database: Database{DatabaseURL: "sqlite:"}, Patients: "0", Years: "99", RandomSeed: "x", AsOf: "2026-02-30"}.Read()
	for _, flag := range []string{"--database-url", "--patients", "--years", "--random-seed", "--as-of"} {
		if err == nil || !strings.Contains(err.Error(), flag+": ") {
			t.Errorf("%s is not named in:\n%v", flag, err)
		}
	}
	c, err := SeedFlags{Database: Database{DatabaseURL: "sqlite:x"}, Patients: "5", Years: "1", RandomSeed: "-7", AsOf: "2026-02-28"}.Read()
	if err != nil || c.Patients != 5 || c.Years != 1 || c.RandomSeed != -7 || c.AsOf != civil.MustParse("2026-02-28") {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestPracticeAndUser(t *testing.T) {
	_, err := PracticeFlags{Database: Database{DatabaseURL: "x"}, Name: " ", TimeZone: "Local", Country: "GBR", Email: "me", FirstName: "\x00", LastName: strings.Repeat("x", 256)}.Read()
	for _, flag := range []string{"--database-url", "--name", "--time-zone", "--country", "--email", "--first-name", "--last-name"} {
		if err == nil || !strings.Contains(err.Error(), flag+": ") {
			t.Errorf("%s is not named in:\n%v", flag, err)
		}
	}
	p, err := PracticeFlags{Database: Database{DatabaseURL: "sqlite:x"}, Name: " Bright ", TimeZone: "Europe/Paris", Country: "fr", Email: "Ann@Example.org", FirstName: "A", LastName: "B"}.Read()
	if err != nil || p.Name != "Bright" || p.Country != "FR" || p.Email != "ann@example.org" {
		t.Errorf("%+v, %v", p, err)
	}
	_, err = UserFlags{Database: Database{DatabaseURL: "sqlite:x"}, Practice: "demo", Email: "a@b.test", FirstName: "A", LastName: "B", Role: "king"}.Read()
	if err == nil || !strings.HasPrefix(err.Error(), "--role: must be one of: receptionist") {
		t.Errorf("got %v", err)
	}
}

func TestToken(t *testing.T) {
	_, err := TokenFlags{Database: Database{DatabaseURL: "sqlite:x"}, Name: "", Scopes: "patient teeth", Site: "7"}.Read()
	for _, text := range []string{"--name: ", "--scopes: unknown scope: teeth", "--site: "} {
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%q is missing in:\n%v", text, err)
		}
	}
	if _, err := (TokenFlags{Database: Database{DatabaseURL: "sqlite:x"}, Name: "n", Scopes: " "}).Read(); err == nil {
		t.Error("a token without scopes was accepted")
	}
	c, err := TokenFlags{Database: Database{DatabaseURL: "sqlite:x"}, User: "A@b.test", Name: "n", Scopes: "user patient:read"}.Read()
	if err != nil || c.Site != nil || c.Scopes.String() != "patient:read user" || c.User != "a@b.test" {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestReplicasNeedPostgreSQL(t *testing.T) {
	flags := ServeFlags{Database: Database{DatabaseURL: "sqlite:x.db"}, Network: Network{Addr: "127.0.0.1:0"}, LogFormat: "text"}
	flags.ReplicaURL = []string{"postgres://user:secret@replica/chairside"}
	if _, err := flags.Read(); err == nil || !strings.Contains(err.Error(), "--replica-url: needs a PostgreSQL --database-url") || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
	flags.DatabaseURL = "postgres://user:secret@primary/chairside"
	if c, err := flags.Read(); err != nil || len(c.ReplicaURLs) != 1 {
		t.Error(c, err)
	}
	flags.ReplicaURL = append(flags.ReplicaURL, "sqlite:copy.db")
	if _, err := flags.Read(); err == nil || !strings.Contains(err.Error(), "--replica-url: must be postgres://") {
		t.Error(err)
	}
}
