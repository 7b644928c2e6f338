package server

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/ogen-go/ogen/ogenerrors"
)

// maxCause bounds the text of a cause in the log, in bytes.
const maxCause = 400

// quoted is text in quotes of any kind, or behind the "=" of a key's values:
// where error messages repeat what they were given.
var quoted = regexp.MustCompile("\"[^\"]*\"?|'[^']*'?|`[^`]*`?|=\\([^)]*\\)?")

// describe says what went wrong in words that are safe to log. The messages of
// databases and parsers repeat the values they stumbled over, and those may be
// a patient's: of a database error only its code, table and constraint are
// kept, of any other error the types and the text without what it quotes.
func describe(err error) string {
	if text, ok := describeDatabase(err); ok {
		return text
	}
	text := quoted.ReplaceAllString(err.Error(), "…")
	if len(text) > maxCause {
		text = strings.ToValidUTF8(text[:maxCause], "") + "…"
	}
	return typeOf(err) + ": " + text
}

// describeDatabase recognises the databases' errors by their methods; the
// drivers themselves are the store's business.
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
	var decoding ogenerrors.Error // has a Code, too: an HTTP status
	if errors.As(err, &sqlite) && !errors.As(err, &decoding) {
		return fmt.Sprintf("SQLite error %d", sqlite.Code()), true
	}
	return "", false
}

// typeOf names the type of the innermost error, which tells most.
func typeOf(err error) string {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return fmt.Sprintf("%T", err)
}
