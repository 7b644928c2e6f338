package transfer

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"chairside/internal/civil"
	"chairside/internal/decimal"
)

// kind is how the values of a column are stored and shown.
type kind int

const (
	text     kind = iota // words, also those of enums
	integer              // 64 bits
	amount               // hundredths; shown as "12.50"
	boolean              //
	unique               // uuid
	date                 // YYYY-MM-DD
	moment               // UTC; shown as RFC 3339 with as many digits as it has
	binary               // shown as base64
	document             // JSON; shown with sorted keys
)

var errText = errors.New("is not UTF-8")

// show is the text of a value as it comes from either database; the same value
// has the same text, wherever it was stored. ok is false for null.
func (k kind) show(v any) (shown string, ok bool, err error) {
	if v == nil {
		return "", false, nil
	}
	switch k {
	case integer:
		n, err := asInteger(v)
		return strconv.FormatInt(n, 10), true, err
	case amount:
		n, err := asInteger(v)
		return decimal.Decimal(n).String(), true, err
	case boolean:
		b, err := asBoolean(v)
		return strconv.FormatBool(b), true, err
	case date:
		var d civil.Date
		err := d.Scan(v)
		return d.String(), true, err
	case moment:
		t, isTime := v.(time.Time)
		if !isTime {
			return "", false, fmt.Errorf("a time is %T", v)
		}
		return t.UTC().Format(time.RFC3339Nano), true, nil
	case binary:
		b, isBytes := v.([]byte)
		if !isBytes {
			return "", false, fmt.Errorf("bytes are %T", v)
		}
		return base64.StdEncoding.EncodeToString(b), true, nil
	}
	switch typed := v.(type) {
	case string:
		shown = typed
	case []byte:
		shown = string(typed)
	default:
		return "", false, fmt.Errorf("a text is %T", v)
	}
	switch {
	case !utf8.ValidString(shown):
		return "", false, errText
	case k == unique:
		return strings.ToLower(shown), true, nil
	case k == document:
		shown, err = canonicalJSON(shown)
		return shown, err == nil, err
	}
	return shown, true, nil
}

func asInteger(v any) (int64, error) {
	switch n := v.(type) {
	case int64:
		return n, nil
	case []byte:
		return strconv.ParseInt(string(n), 10, 64)
	}
	return 0, fmt.Errorf("a number is %T", v)
}

// asBoolean reads a boolean; SQLite has numbers for them.
func asBoolean(v any) (bool, error) {
	switch b := v.(type) {
	case bool:
		return b, nil
	case int64:
		return b != 0, nil
	}
	return false, fmt.Errorf("a boolean is %T", v)
}

// canonicalJSON prints a document as both databases show it the same: keys
// sorted, no spaces. PostgreSQL keeps neither order nor spaces.
func canonicalJSON(s string) (string, error) {
	decoder := json.NewDecoder(strings.NewReader(s))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		return "", err
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// read is the inverse of show: what is stored for a text. The error does not
// repeat the text.
func (k kind) read(shown string) (any, error) {
	switch k {
	case integer:
		n, err := strconv.ParseInt(shown, 10, 64)
		if err != nil {
			return nil, errors.New("is not a whole number")
		}
		return n, nil
	case amount:
		whole, cents, ok := strings.Cut(shown, ".")
		n, err := strconv.ParseInt(whole+cents, 10, 64)
		if err != nil || !ok || len(cents) != 2 || decimal.Decimal(n).String() != shown {
			return nil, errors.New("is not an amount with two fraction digits")
		}
		return n, nil
	case boolean:
		switch shown {
		case "true":
			return true, nil
		case "false":
			return false, nil
		}
		return nil, errors.New("is neither true nor false")
	case unique:
		id, err := uuid.Parse(shown)
		if err != nil || id.String() != shown {
			return nil, errors.New("is not a uuid")
		}
		return shown, nil
	case date:
		d, err := civil.Parse(shown)
		if err != nil {
			return nil, errors.New("is not a date")
		}
		return d.String(), nil
	case moment:
		t, err := time.Parse(time.RFC3339Nano, shown)
		if err != nil {
			return nil, errors.New("is not a time")
		}
		return t.UTC(), nil
	case binary:
		b, err := base64.StdEncoding.DecodeString(shown)
		if err != nil {
			return nil, errors.New("is not base64")
		}
		return b, nil
	case document:
		if !json.Valid([]byte(shown)) {
			return nil, errors.New("is not JSON")
		}
		return shown, nil
	}
	switch {
	case !utf8.ValidString(shown):
		return nil, errText
	case strings.ContainsRune(shown, 0):
		return nil, errors.New("contains NUL")
	}
	return shown, nil
}
