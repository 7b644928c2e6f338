package server

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/ogen-go/ogen/ogenerrors"
)

// maxCause is the maximum length of a cause in the log, in bytes.
const maxCause = 400

// quoted matches the parts of a message that repeat its input: text in any kind of quotes,
// and PostgreSQL's "Key (name)=(value)".
var quoted = regexp.MustCompile("\"[^\"]*\"?|'[^']*'?|`[^`]*`?|=\\([^)]*\\)?")

// describeError returns text about an error that is safe to log. Databases and parsers repeat
// their input, which may be patient data, in their messages. So of a database error the text
// has only the code, table and constraint; of any other, the type and the message without
// its quoted parts.
func describeError(err error) string {
	if text, ok := describeDatabase(err); ok {
		return text
	}
	text := quoted.ReplaceAllString(err.Error(), "…")
	if len(text) > maxCause {
		text = strings.ToValidUTF8(text[:maxCause], "") + "…"
	}
	return typeOf(err) + ": " + text
}

// describeDatabase recognises the databases' errors by their methods, because only package
// store may import the drivers.
func describeDatabase(err error) (string, bool) {
	var postgres interface {
		error
		SQLState() string
	}
	if errors.As(err, &postgres) {
		text := "PostgreSQL error " + postgres.SQLState()
		if fields, ok := postgres.(interface{ Get(byte) string }); ok {
			for _, f := range []struct {
				code  byte
				label string
			}{{'t', "table"}, {'c', "column"}, {'n', "constraint"}, {'R', "routine"}} {
				if value := fields.Get(f.code); value != "" {
					text += ", " + f.label + " " + value
				}
			}
		}
		return text, true
	}
	var sqlite interface {
		error
		Code() int
	}
	var decoding ogenerrors.Error // also has a Code, an HTTP status
	if errors.As(err, &sqlite) && !errors.As(err, &decoding) {
		return fmt.Sprintf("SQLite error %d", sqlite.Code()), true
	}
	return "", false
}

// typeOf returns the type of the innermost error, the most specific one.
func typeOf(err error) string {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return fmt.Sprintf("%T", err)
}
