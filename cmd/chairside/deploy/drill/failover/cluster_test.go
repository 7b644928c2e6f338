package main

import (
	"os"
	"strings"
	"testing"

	"github.com/go-faster/yaml"
)

// TestLockOutlivesAttempts: Patroni's documentation on "ttl" asks for as much as the wait between two attempts to
// renew the lock and two time-outs, and version 4 raises less than 20 s to that.
func TestLockOutlivesAttempts(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../failover/patroni.yml")
	if err != nil {
		t.Fatal(err)
	}
	var c struct {
		Bootstrap struct {
			DCS struct {
				TTL          int `yaml:"ttl"`
				LoopWait     int `yaml:"loop_wait"`
				RetryTimeout int `yaml:"retry_timeout"`
			} `yaml:"dcs"`
		} `yaml:"bootstrap"`
	}
	if err := yaml.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	if dcs := c.Bootstrap.DCS; dcs.LoopWait == 0 || dcs.RetryTimeout == 0 || dcs.TTL < max(20, dcs.LoopWait+2*dcs.RetryTimeout) {
		t.Errorf("the lock has %+v", dcs)
	}
	if !strings.Contains(string(text), "bin_dir: "+documentedBin+"\n") {
		t.Errorf("patroni.yml does not have %s, which the drill replaces", documentedBin)
	}
}
