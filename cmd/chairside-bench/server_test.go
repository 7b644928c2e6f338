package main

import (
	"os"
	"regexp"
	"testing"
)

// TestServersCollectAlike: the floor collects garbage as rarely as "chairside serve" does, or one of them has an advantage.
func TestServersCollectAlike(t *testing.T) {
	source, err := os.ReadFile("../chairside/memory.go")
	if err != nil {
		t.Fatal(err)
	}
	percent := regexp.MustCompile(`serverGCPercent = (\d+)`).FindSubmatch(source)
	if percent == nil || gcSetting != "GOGC="+string(percent[1]) {
		t.Errorf("%s, and chairside serve has %s", gcSetting, percent)
	}
}
