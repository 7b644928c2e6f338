package main

import (
	"net/http"
	"regexp"
	"strconv"
	"testing"

	"chairside/internal/test/localpg/pgtest"
)

var (
	heapInUse = regexp.MustCompile(`(?m)^go_memstats_heap_inuse_bytes (\S+)$`)
	gcPercent = regexp.MustCompile(`(?m)^go_gc_gogc_percent (\S+)$`)
)

// TestIdleMemory holds the heap of an idle server, which was 14 MB on both databases: an idle server may have 40 MB of
// private memory in all. It also holds the percentage at which the server collects garbage.
func TestIdleMemory(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		idleHeap(t, "sqlite:"+t.TempDir()+"/idle.db")
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		idleHeap(t, pgtest.New(t))
	})
}

func idleHeap(t *testing.T, database string) {
	t.Helper()
	if text, err := runIn(t, t.TempDir(), "migrate", "up", "--database-url", database); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	const defaultGOGC = "GOGC=" // instead of that of the tests
	status, metrics := get(t, serveOn(t, database, defaultGOGC)+"/metrics", "")
	if status != http.StatusOK {
		t.Fatalf("%d: %s", status, metrics)
	}
	if percent := metric(t, metrics, gcPercent); percent != serverGCPercent {
		t.Errorf("the server collects garbage at %v %%, want %d", percent, serverGCPercent)
	}
	if mb := metric(t, metrics, heapInUse) / 1e6; mb > 20 {
		t.Errorf("the heap of an idle server has %.1f MB, want at most 20: what does it keep that few requests need?", mb)
	}
}

// metric returns the value that line matches in metrics.
func metric(t *testing.T, metrics string, line *regexp.Regexp) float64 {
	t.Helper()
	found := line.FindStringSubmatch(metrics)
	if found == nil {
		t.Fatalf("no line %s in:\n%s", line, metrics)
	}
	value, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return value
}
