package codec_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"chairside/internal/codec"
	"chairside/internal/decimal"
)

// TestReadTextAgreesWithBodies checks that a text and the same JSON string have the same
// value and message; "" is null.
func TestReadTextAgreesWithBodies(t *testing.T) {
	texts := []string{
		"", " ", "Ada", "eleven chars", "\x00", "true", "false", "0", "1", "24", "25", "-1", "x", "male", "Female", "12.50", "-3", "1e3", "12.345", u, strings.ToUpper(u),
		"2026-02-03", "2026-02-30", "2026-02-03T10:00:00+02:00", "2026-07-01 09:30", "Letter", "letter", "ada@example.org", "ada", "gb", "GBR", "99", "A1", "9999999999999999999", `"`, `é\`,
	}
	london := zone(t, "Europe/London")
	for _, f := range every.Fields {
		if f.Kind == codec.Metadata || f.Kind == codec.Answers { // their text is JSON
			continue
		}
		for _, s := range texts {
			sent, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			if s == "" {
				sent = []byte("null")
			}
			want, messages := "", []string(nil)
			if f.Name == "name" {
				want, messages = readName(t, string(sent))
			} else {
				want, messages = read(t, f.Name, string(sent))
			}
			v, derived, message := f.ReadText(s, london)
			got := shown(t, v)
			if derived || message != "" {
				got = ""
			}
			if got != want || !slices.Equal(messages, nonEmpty(message)) {
				t.Errorf("%s: %q is decoded as %s (%s), in a body as %s (%s)", f.Name, s, got, message, want, messages)
			}
		}
	}
}

func readName(t *testing.T, value string) (canonical string, messages []string) {
	t.Helper()
	out, params, err := every.Read([]byte(`{"thing":{"name":`+value+`}}`), time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	var body map[string]map[string]json.RawMessage
	if err := json.Unmarshal(out, &body); err != nil {
		t.Fatal(err)
	}
	return string(body["thing"]["name"]), params["name"]
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// shown returns a value as in a canonical body.
func shown(t *testing.T, v any) string {
	t.Helper()
	switch typed := v.(type) {
	case time.Time:
		v = typed.Format(time.RFC3339Nano)
	case decimal.Decimal:
		v = typed.String()
	}
	content, err := json.Marshal(v)
	if err != nil {
		t.Fatal(fmt.Sprint(v), err)
	}
	return string(content)
}

func TestReadTextOfObjects(t *testing.T) {
	f := every.Fields[slices.IndexFunc(every.Fields, func(f codec.Field) bool { return f.Kind == codec.Metadata })]
	for s, want := range map[string]string{`{"a":"b"}`: `{"a":"b"}`, "": "{}", "[]": "", "x": "", `{"a":["b"]}`: ""} {
		v, derived, message := f.ReadText(s, time.UTC)
		raw, _ := v.(json.RawMessage)
		if string(raw) != want || derived || (message == "") != (want != "") {
			t.Errorf("%q is %s (%s), want %s", s, raw, message, want)
		}
	}
}
