package table

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"chairside/internal/civil"
	"chairside/internal/decimal"
)

// Kind is how the databases store the values of a column: the name of a PostgreSQL type, or
// Amount.
type Kind string

// The kinds. The comments describe their text (Format).
const (
	Text    Kind = "text"
	Integer Kind = "bigint"
	Amount  Kind = "amount"      // hundredths in a bigint; "12.50"
	Boolean Kind = "boolean"     // true, false
	UUID    Kind = "uuid"        // in lower case
	Date    Kind = "date"        // YYYY-MM-DD
	Time    Kind = "timestamptz" // RFC 3339 in UTC, as many fraction digits as it has
	Bytes   Kind = "bytea"       // base64
	JSON    Kind = "jsonb"       // sorted keys, no spaces
)

// SQL returns PostgreSQL's name of the type.
func (k Kind) SQL() string {
	if k == Amount {
		return string(Integer)
	}
	return string(k)
}

var errUTF8 = errors.New("is not UTF-8")

// Format returns a scanned value as text, which is the same for both databases. ok is false
// for null.
func (k Kind) Format(v any) (text string, ok bool, err error) {
	if v == nil {
		return "", false, nil
	}
	switch k {
	case Integer, Amount:
		n, err := Int(v)
		if k == Amount {
			return decimal.Decimal(n).String(), true, err
		}
		return strconv.FormatInt(n, 10), true, err
	case Boolean:
		b, isBool := v.(bool)
		if n, isInt := v.(int64); isInt { // SQLite
			b, isBool = n != 0, true
		}
		return strconv.FormatBool(b), true, expect(isBool, v)
	case Date:
		var d civil.Date
		err := d.Scan(v)
		return d.String(), true, err
	case Time:
		t, isTime := v.(time.Time)
		return t.UTC().Format(time.RFC3339Nano), true, expect(isTime, v)
	case Bytes:
		b, isBytes := v.([]byte)
		return base64.StdEncoding.EncodeToString(b), true, expect(isBytes, v)
	}
	text, isText := v.(string)
	if b, isBytes := v.([]byte); isBytes {
		text, isText = string(b), true
	}
	switch {
	case !isText:
		return "", false, expect(false, v)
	case !utf8.ValidString(text):
		return "", false, errUTF8
	case k == UUID:
		return strings.ToLower(text), true, nil
	case k == JSON:
		text, err = Canonical(text)
	}
	return text, err == nil, err
}

func expect(ok bool, v any) error {
	if !ok {
		return fmt.Errorf("is stored as %T", v)
	}
	return nil
}

// Int returns a scanned whole number. PostgreSQL returns sums as text.
func Int(v any) (int64, error) {
	switch n := v.(type) {
	case int64:
		return n, nil
	case []byte:
		return strconv.ParseInt(string(n), 10, 64)
	}
	return 0, expect(false, v)
}

// Canonical formats a JSON document independently of the database: keys sorted, no spaces.
func Canonical(s string) (string, error) {
	decoder := json.NewDecoder(strings.NewReader(s))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		return "", err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return "", errors.New("holds more than one JSON value")
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// Parse is the inverse of Format: it returns the value to store. Its error does not repeat
// the text, which may be patient data.
func (k Kind) Parse(text string) (v any, err error) {
	message := ""
	switch k {
	case Integer:
		v, err = strconv.ParseInt(text, 10, 64)
		message = "is not a whole number"
	case Amount:
		whole, cents, _ := strings.Cut(text, ".")
		n, failed := strconv.ParseInt(whole+cents, 10, 64)
		if failed != nil || decimal.Decimal(n).String() != text {
			return nil, errors.New("is not an amount with two fraction digits")
		}
		return n, nil
	case Boolean:
		if text != "true" && text != "false" {
			return nil, errors.New("is neither true nor false")
		}
		return text == "true", nil
	case UUID:
		id, failed := uuid.Parse(text)
		if failed != nil || id.String() != text {
			return nil, errors.New("is not a uuid")
		}
		return text, nil
	case Date:
		var d civil.Date
		d, err = civil.Parse(text)
		v, message = d.String(), "is not a date"
	case Time:
		var t time.Time
		t, err = time.Parse(time.RFC3339Nano, text)
		v, message = t.UTC(), "is not a time"
	case Bytes:
		v, err = base64.StdEncoding.DecodeString(text)
		message = "is not base64"
	case JSON:
		if !json.Valid([]byte(text)) {
			return nil, errors.New("is not JSON")
		}
		return text, nil
	default:
		switch {
		case !utf8.ValidString(text):
			return nil, errUTF8
		case strings.ContainsRune(text, 0):
			return nil, errors.New("contains NUL")
		}
		return text, nil
	}
	if err != nil {
		return nil, errors.New(message)
	}
	return v, nil
}

// Stored returns a scanned value in the form in which it is written.
func (k Kind) Stored(v any) (any, error) {
	text, ok, err := k.Format(v)
	if err != nil || !ok {
		return nil, err
	}
	return k.Parse(text)
}
