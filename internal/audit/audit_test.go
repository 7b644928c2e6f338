package audit

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
)

func TestLogRendersSortedIDsByResource(t *testing.T) {
	t.Parallel()
	ctx, log := With(t.Context())
	if !log.Empty() {
		t.Error("a new log is not empty")
	}
	first, second := uuid.MustParse("00000000-0000-4000-8000-000000000001"), uuid.MustParse("f0000000-0000-4000-8000-000000000000")
	for _, id := range []int64{11, 3, 7, 11} {
		From(ctx).Note("patients", id)
	}
	for _, id := range []uuid.UUID{second, first, second} {
		From(ctx).NoteUUID("nhs_claims", id)
	}
	From(ctx).Note("appointments", 12)
	if log.Empty() {
		t.Error("the log is empty after a note")
	}
	for want, handler := range map[string]func(io.Writer) slog.Handler{
		`"records":{"appointments":["12"],"nhs_claims":["` + first.String() + `","` + second.String() + `"],"patients":["3","7","11"]}`: func(w io.Writer) slog.Handler { return slog.NewJSONHandler(w, nil) },
		`records.appointments=[12] records.nhs_claims="[` + first.String() + ` ` + second.String() + `]" records.patients="[3 7 11]"`:   func(w io.Writer) slog.Handler { return slog.NewTextHandler(w, nil) },
	} {
		var out bytes.Buffer
		slog.New(handler(&out)).Info("access", "records", log)
		if !strings.Contains(out.String(), want) {
			t.Errorf("got %s want %s", out.String(), want)
		}
	}
}

// TestAddKeepsOnlyAddedLogs checks that notes of a dropped query are not logged.
func TestAddKeepsOnlyAddedLogs(t *testing.T) {
	t.Parallel()
	ctx, log := With(t.Context())
	From(ctx).Note("patients", 7)
	sent, read := With(ctx)
	From(sent).Note("patients", 3)
	From(sent).Note("appointments", 12)
	From(sent).NoteUUID("nhs_claims", uuid.Nil)
	dropped, _ := With(ctx)
	From(dropped).Note("patients", 99)
	From(ctx).Add(read)
	From(context.Background()).Add(read)
	log.Add(nil)
	log.Add(log)
	var out bytes.Buffer
	slog.New(slog.NewJSONHandler(&out, nil)).Info("access", "records", log)
	if want := `"records":{"appointments":["12"],"nhs_claims":["` + uuid.Nil.String() + `"],"patients":["3","7"]}`; !strings.Contains(out.String(), want) {
		t.Errorf("got %s want %s", out.String(), want)
	}
}

func TestNoteWithoutLogDoesNothing(t *testing.T) {
	t.Parallel()
	From(context.Background()).Note("patients", 1)
	From(context.Background()).NoteUUID("nhs_claims", uuid.New())
}

func TestNoteIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	ctx, log := With(t.Context())
	var group sync.WaitGroup
	for i := range 50 {
		group.Go(func() {
			From(ctx).Note("patients", int64(i))
			_ = log.LogValue()
		})
	}
	group.Wait()
	if n := len(log.recordsOf("patients").int64s); n != 50 {
		t.Errorf("%d ids, want 50", n)
	}
}
