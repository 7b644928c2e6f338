package trail

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/google/uuid"

	"chairside/internal/audit"
)

// TestEntriesThatNoOneWritesAreBounded, as on a replica: of more than 40,000 the oldest are given up, and
// later reads are not added to them.
func TestEntriesThatNoOneWritesAreBounded(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	trail := New(nil, slog.New(slog.NewTextHandler(&log, nil)))
	read := func() {
		trail.Read(Entry{Who: Who{Practice: uuid.Max}, Operation: "getPatient", Request: "r"}, &audit.Log{})
	}
	read()
	for range 2*maxWaiting + 1 {
		trail.Add(Entry{Action: "export"})
		if n := trail.Waiting(); n > 2*maxWaiting {
			t.Fatalf("%d entries wait", n)
		}
	}
	if n := trail.Waiting(); n != maxWaiting+2 || strings.Count(log.String(), "given up") != 1 {
		t.Errorf("%d entries wait; the log: %s", n, log.String())
	}
	before := trail.Waiting()
	if read(); trail.Waiting() != before+1 {
		t.Error("a read was added to an entry that was given up")
	}
}
