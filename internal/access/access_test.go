package access

import (
	"bytes"
	"context"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
)

func TestLogRendersSortedIDsByResource(t *testing.T) {
	ctx, log := With(t.Context())
	if !log.Empty() {
		t.Error("a new log is not empty")
	}
	Note(ctx, "patients", "7", "3", "7")
	Note(ctx, "appointments", "12")
	Note(ctx, "accounts")
	if log.Empty() {
		t.Error("the log is empty after a note")
	}
	var out bytes.Buffer
	slog.New(slog.NewJSONHandler(&out, nil)).Info("access", "records", log)
	if want := `"records":{"appointments":["12"],"patients":["3","7"]}`; !strings.Contains(out.String(), want) {
		t.Errorf("got %s want %s", out.String(), want)
	}
}

func TestNoteWithoutLogDoesNothing(*testing.T) { Note(context.Background(), "patients", "1") }

func TestNoteIsSafeForConcurrentUse(t *testing.T) {
	ctx, log := With(t.Context())
	var group sync.WaitGroup
	for i := range 50 {
		group.Go(func() {
			Note(ctx, "patients", strconv.Itoa(i))
			_ = log.LogValue()
		})
	}
	group.Wait()
	if n := len(log.ids["patients"]); n != 50 {
		t.Errorf("%d ids, want 50", n)
	}
}
