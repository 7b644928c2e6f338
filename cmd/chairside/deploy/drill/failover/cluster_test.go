package main

import (
	"os"
	"strings"
	"testing"

	"github.com/go-faster/yaml"
)

// TestLockOutlivesAttempts: by Patroni's documentation, ttl must be at least loop_wait + 2 × retry_timeout; Patroni 4
// raises anything below 20 s to 20 s.
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
		t.Errorf("%+v: ttl is less than 20, or than loop_wait and two retry_timeout", dcs)
	}
	if !strings.Contains(string(text), "bin_dir: "+documentedBin+"\n") {
		t.Errorf("patroni.yml does not have %s, which the drill replaces", documentedBin)
	}
}
