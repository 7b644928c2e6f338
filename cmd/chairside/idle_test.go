package main

import (
	"net/http"
	"regexp"
	"strconv"
	"testing"

	"chairside/internal/test/localpg/pgtest"
)

var heapInUse = regexp.MustCompile(`(?m)^go_memstats_heap_inuse_bytes (\S+)$`)

// TestIdleMemory holds the heap of an idle server, which was 14 MB on both databases: an idle server may have 40 MB of
// private memory in all.
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
	status, metrics := get(t, serveOn(t, database)+"/metrics", "")
	found := heapInUse.FindStringSubmatch(metrics)
	if status != http.StatusOK || found == nil {
		t.Fatalf("%d, without the heap:\n%s", status, metrics)
	}
	bytes, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	if mb := bytes / 1e6; mb > 20 {
		t.Errorf("the heap of an idle server has %.1f MB, want at most 20: what does it keep that few requests need?", mb)
	}
}
