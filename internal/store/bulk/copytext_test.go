package bulk

import (
	"database/sql/driver"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"chairside/internal/civil"
	"chairside/internal/decimal"
)

func TestCopyText(t *testing.T) {
	type word string
	at := time.Date(2026, 7, 1, 9, 15, 0, 123e6, time.UTC)
	id := uuid.MustParse("0198f2a4-c1d0-7b3e-9a51-3f6f0c9d2e10")
	var c copyText
	rows := [][]any{
		{nil, "", "a\tb\nc\rd\\e", `\N`, `\\`, "é\x01"},
		{int64(-7), 12, 1.5, true, false, decimal.Decimal(1250)},
		{[]byte{0, '\\', 255}, []byte{}, at, at, at.Add(time.Hour), civil.MustParse("2026-07-01")},
		{id, word("Pending"), (*string)(nil), driver.Valuer(id), []byte(nil), uuid.NullUUID{}},
	}
	for _, r := range rows {
		if err := c.row(r); err != nil {
			t.Fatal(err)
		}
	}
	want := strings.Join([]string{
		`\N`, "", `a\tb\nc\rd\\e`, `\\N`, `\\\\`, "é\x01\n" +
			"-7", "12", "1.5", "true", "false", "1250\n" +
			`\\x005cff`, `\\x`, "2026-07-01 09:15:00.123Z", "2026-07-01 09:15:00.123Z", "2026-07-01 10:15:00.123Z", "2026-07-01\n" +
			id.String(), "Pending", `\N`, id.String(), `\\x`, `\N`,
	}, "\t")
	if got := string(c.take()); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if err := c.row([]any{struct{}{}}); err == nil {
		t.Error("a struct was accepted as a value")
	}
}
