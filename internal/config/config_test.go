package config

import (
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"chairside/internal/civil"
)

func TestServeReportsAllMistakesAtOnce(t *testing.T) {
	_, err := ServeFlags{
		Database: Database{"mysql://root:secret@host/db"}, Addr: "localhost", BaseURL: "api.example.com", RateLimit: "-1", PprofAddr: "0.0.0.0:6060",
		TLSCert: "cert.pem", TrustedProxies: []string{"10.0.0.0/8", "home"},
	}.Read()
	if err == nil {
		t.Fatal("no error")
	}
	for _, flag := range []string{"--database-url", "--addr", "--base-url", "--rate-limit", "--tls-key", "--trusted-proxies", "--pprof-addr"} {
		if !strings.Contains(err.Error(), flag+": ") {
			t.Errorf("%s is not named in:\n%v", flag, err)
		}
	}
	if strings.Contains(err.Error(), "secret") {
		t.Error("the message repeats the password")
	}
}

func TestServeDefaults(t *testing.T) {
	flags := ServeFlags{Database: Database{"sqlite:x.db"}, Addr: "127.0.0.1:0", LogFormat: "text"}
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
		Database: Database{"postgres://localhost/x"}, Addr: "[::1]:8443", BaseURL: "https://api.example.com/dental/",
		TrustedProxies: []string{"10.1.2.3/8", " 192.0.2.1", "::1"},
	}.Read()
	if err != nil {
		t.Fatal(err)
	}
	want := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("192.0.2.1/32"), netip.MustParsePrefix("::1/128")}
	if c.BaseURL != "https://api.example.com/dental" || !reflect.DeepEqual(c.TrustedProxies, want) {
		t.Errorf("got %+v", c)
	}
	if c.Database.Embedded() || !(Database{"sqlite:x"}).Embedded() {
		t.Error("Embedded is wrong")
	}
}

func TestSeed(t *testing.T) {
	_, err := SeedFlags{Database: Database{"sqlite:"}, Patients: "0", Years: "99", RandomSeed: "x", AsOf: "2026-02-30"}.Read()
	for _, flag := range []string{"--database-url", "--patients", "--years", "--random-seed", "--as-of"} {
		if err == nil || !strings.Contains(err.Error(), flag+": ") {
			t.Errorf("%s is not named in:\n%v", flag, err)
		}
	}
	c, err := SeedFlags{Database: Database{"sqlite:x"}, Patients: "5", Years: "1", RandomSeed: "-7", AsOf: "2026-02-28"}.Read()
	if err != nil || c.Patients != 5 || c.Years != 1 || c.RandomSeed != -7 || c.AsOf != civil.MustParse("2026-02-28") {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestPracticeAndUser(t *testing.T) {
	_, err := PracticeFlags{Database: Database{"x"}, Name: " ", TimeZone: "Local", Country: "GBR", Email: "me", FirstName: "\x00", LastName: strings.Repeat("x", 256)}.Read()
	for _, flag := range []string{"--database-url", "--name", "--time-zone", "--country", "--email", "--first-name", "--last-name"} {
		if err == nil || !strings.Contains(err.Error(), flag+": ") {
			t.Errorf("%s is not named in:\n%v", flag, err)
		}
	}
	p, err := PracticeFlags{Database: Database{"sqlite:x"}, Name: " Bright ", TimeZone: "Europe/Paris", Country: "fr", Email: "Ann@Example.org", FirstName: "A", LastName: "B"}.Read()
	if err != nil || p.Name != "Bright" || p.Country != "FR" || p.Email != "ann@example.org" {
		t.Errorf("%+v, %v", p, err)
	}
	_, err = UserFlags{Database: Database{"sqlite:x"}, Practice: "demo", Email: "a@b.test", FirstName: "A", LastName: "B", Role: "king"}.Read()
	if err == nil || !strings.HasPrefix(err.Error(), "--role: must be one of: receptionist") {
		t.Errorf("got %v", err)
	}
}

func TestToken(t *testing.T) {
	_, err := TokenFlags{Database: Database{"sqlite:x"}, Name: "", Scopes: "patient teeth", Site: "7"}.Read()
	for _, text := range []string{"--name: ", "--scopes: unknown scope: teeth", "--site: "} {
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%q is missing in:\n%v", text, err)
		}
	}
	if _, err := (TokenFlags{Database: Database{"sqlite:x"}, Name: "n", Scopes: " "}).Read(); err == nil {
		t.Error("a token without scopes was accepted")
	}
	c, err := TokenFlags{Database: Database{"sqlite:x"}, User: "A@b.test", Name: "n", Scopes: "user patient:read"}.Read()
	if err != nil || c.Site != nil || c.Scopes.String() != "patient:read user" || c.User != "a@b.test" {
		t.Errorf("%+v, %v", c, err)
	}
}
