package importer

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// readAll reads a file. It returns each row as its line and cells, or as its line and message.
func readAll(t testing.TB, content string) (header []string, rows []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.csv")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := openSource(path, 0, 0)
	if err != nil {
		return nil, []string{err.Error()}
	}
	defer s.close()
	for {
		row, err := s.next()
		if errors.Is(err, io.EOF) {
			return s.header, rows
		}
		if err != nil {
			t.Fatal(err)
		}
		shown := string(rune('0'+row.line)) + ":" + strings.Join(row.cells, "|")
		if row.message != "" {
			shown = string(rune('0'+row.line)) + " " + row.message
		}
		rows = append(rows, shown)
	}
}

func TestSourceReader(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		content, header, rows string
	}{
		"plain":                            {"a,b\n1,2\n3,4\n", "a b", "2:1|2 3:3|4"},
		"no final line break":              {"a,b\r\n1,2", "a b", "2:1|2"},
		"byte order mark and tabs":         {"\ufeffa\tb\r\n1\t2,3\r\n", "a b", "2:1|2,3"},
		"excel":                            {"sep=;\na;b\n1;2\n", "a b", "3:1|2"},
		"pipes":                            {"a|b\n1|2\n", "a b", "2:1|2"},
		"line break in a cell":             {"a,b\n\"1\n1\",2\n3,4\n", "a b", "2:1\n1|2 4:3|4"},
		"blank lines":                      {"a,b\n\n1,2\n,\n  ,\n3,4\n\n", "a b", "3:1|2 6:3|4"},
		"too short":                        {"a,b\n1\n3,4\n", "a b", "2 has 1 columns, the header has 2 3:3|4"},
		"delimiters at the end":            {"a,b\n1,2,,\n3,4,5\n", "a b", "2:1|2 3 has 3 columns, the header has 2"},
		"quotation mark in a cell":         {"a,b\n5\" nail,2\n3,4\n", "a b", "2:5\" nail|2 3:3|4"},
		"quotation marks in a quoted cell": {"a,b\n\"x \"y\" z\",2\n3,4\n", "a b", "2 has a misplaced or unclosed quotation mark 3:3|4"},
		"unclosed quotation mark":          {"a,b\n\n1,\"2\n3,4\n5,6\n", "a b", "3 has a misplaced or unclosed quotation mark 4:3|4 5:5|6"},
		"unclosed after blank lines":       {"a,b\n , \n\n1,\"2\n3,4\n", "a b", "4 has a misplaced or unclosed quotation mark 5:3|4"},
		"unclosed in a long file":          {"a,b\n1,\"2\n" + strings.Repeat("3,4\n", 3) + "5," + strings.Repeat("x", 2*maxRowBytes) + "\n7,8\n", "a b", ""},
		"empty":                            {"", "", ""},
		"only a header":                    {"a,b\n", "a b", ""},
		"UTF-16 little-endian":             {"\xff\xfea\x00,\x00b\x00\n\x00\xe9\x00,\x002\x00\n\x00", "a b", "2:é|2"},
		"UTF-16 big-endian":                {"\xfe\xff\x00a\x00;\x00b\x00\r\x00\n\x00\"\x001\x00\n\x001\x00\"\x00;\x20\xac\x00\n\x00\n\x003\x00;\x004", "a b", "2:1\n1|€ 5:3|4"},
		"carriage returns":                 {"\ufeffa;b\r1;\"2\r3\"\r\r4;5\r", "a b", "2:1|2\n3 5:4|5"},
		"UTF-16 with carriage returns":     {"\xff\xfea\x00,\x00b\x00\r\x001\x00,\x002\x00", "a b", "2:1|2"},
		"UTF-16 unclosed quotation mark":   {"\xff\xfea\x00,\x00b\x00\n\x001\x00,\x00\"\x002\x00", "a b", "2 has a misplaced or unclosed quotation mark"},
		"UTF-16 without byte order mark":   {"a\x00,\x00", "", "is UTF-16 without a byte order mark; save it as UTF-8"},
		"comma in a header cell":           {"\"a,x\";b\n1;2\n", "a,x b", "2:1|2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			header, rows := readAll(t, test.content)
			if strings.Join(header, " ") != test.header {
				t.Errorf("the header is %q", header)
			}
			if name == "unclosed in a long file" {
				if n := len(rows); n != 6 || rows[1] != "3:3|4" || rows[5] != "7:7|8" {
					t.Errorf("%d rows", n)
				}
				return
			}
			if got := strings.Join(rows, " "); got != test.rows {
				t.Errorf("got  %q\nwant %q", got, test.rows)
			}
		})
	}
}

func TestDecodeText(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		bytes, encoding, want string
		ok                    bool
	}{
		{"Jos\xe9", latin1, "José", true}, {"Jos\xe9", utf8Encoding, "Jos\ufffd", false}, {"Jos\xe9", mixed, "José", true},
		{"José", mixed, "José", true}, {"\x80 5", windows, "€ 5", true}, {"x\x81", windows, "x\ufffd", false},
	} {
		if got, ok := decodeText(test.bytes, test.encoding); got != test.want || ok != test.ok {
			t.Errorf("%q in %s is %q, %v", test.bytes, test.encoding, got, ok)
		}
	}
}
