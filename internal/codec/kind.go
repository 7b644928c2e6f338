// Package codec decodes and validates the values of JSON bodies and query strings
// (behaviour.md section 2).
//
// It is lenient where clients vary: an id may be a number or a string of digits, a time may
// lack its offset, a decimal may be a JSON number. The server runs Body.Read and ReadQuery on
// a request, with tables generated from the schema. They return the canonical form, which
// the generated decoder always accepts, and a message for every invalid field.
package codec

import (
	"bytes"
	"encoding/json"
	"net/mail"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"chairside/internal/apispec/limit"
	"chairside/internal/civil"
	"chairside/internal/decimal"
)

// Kind is the format of a value.
type Kind string

// The kinds. The comment names the canonical form.
const (
	Text      Kind = "text"      // string
	Boolean   Kind = "boolean"   // true, false
	Flag      Kind = "flag"      // true, false; also 0, 1, "0", "1" on input
	Gender    Kind = "gender"    // true male, false female; also the words on input
	Integer   Kind = "integer"   // whole number
	Consent   Kind = "consent"   // whole number; also a boolean on input
	ID        Kind = "id"        // positive whole number; also digits in a string on input
	UUID      Kind = "uuid"      // lower-case uuid
	Date      Kind = "date"      // YYYY-MM-DD
	Time      Kind = "datetime"  // RFC 3339
	Day       Kind = "day"       // YYYY-MM-DD; a time on input means its local day
	Decimal   Kind = "decimal"   // string with two fraction digits; also a JSON number on input
	Enum      Kind = "enum"      // one of the listed words
	Email     Kind = "email"     // string
	Country   Kind = "country"   // ISO 3166 alpha-2 code, upper case
	Ethnicity Kind = "ethnicity" // one or two letters or digits
	Metadata  Kind = "metadata"  // object of strings
	Answers   Kind = "answers"   // array of {field_id, value}
	Avatar    Kind = "avatar"    // address of a picture; output only
	Object    Kind = "object"    // any JSON object; output only
	Strings   Kind = "strings"   // array of strings; on input each once, and one of Values if there are any
	Cursor    Kind = "cursor"    // opaque position in a list; query only
)

// Limits of metadata (spec.md, Limits). Lengths count Unicode code points.
const (
	MetadataKeys      = 3
	MetadataKeyRunes  = 40
	MetadataTextRunes = 500
)

var number = regexp.MustCompile(`^-?[0-9]+$`)

// Form returns the name of the kind's form (limit.Forms), or "".
func (k Kind) Form() string {
	switch k {
	case Country:
		return limit.Country
	case Ethnicity:
		return limit.Ethnicity
	default:
		return ""
	}
}

// text returns the content of a JSON string or the digits of a JSON number; ok is false for
// any other JSON value.
func text(raw json.RawMessage) (s string, ok bool) {
	switch {
	case len(raw) == 0:
		return "", false
	case raw[0] == '"' && !bytes.ContainsRune(raw, '\\'):
		return string(raw[1 : len(raw)-1]), true
	case raw[0] == '"':
		err := json.Unmarshal(raw, &s)
		return s, err == nil
	case raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9':
		return string(raw), true
	}
	return "", false
}

// ParseTime parses a time to be stored: an ISO 8601 date and time, with optional seconds,
// fraction, and Z or offset. Without an offset it is local to zone. A local time that the
// clocks show twice is the first one; one that they skip is read as if they had not changed.
// (Requests refuse skipped times; an import warns of them.) The result is in UTC, truncated
// to milliseconds, and in the years 1000 to 9998, which have four digits in every zone.
func ParseTime(s string, zone *time.Location) (time.Time, bool) {
	t, message := parseTime(s, zone)
	return t, !t.IsZero() && message != notTime && plausible(t)
}

// notTime is the message for text that is not a time.
const notTime = "must be an ISO 8601 time"

// parseTime returns a time or a message, or both for a skipped local time.
func parseTime(s string, zone *time.Location) (time.Time, string) {
	if len(s) < len("2006-") || s[4] != '-' {
		return time.Time{}, notTime
	}
	if len(s) > len("2006-01-02") && (s[10] == ' ' || s[10] == 't') {
		s = s[:10] + "T" + s[11:]
	}
	if len(s) > len("2006-01-02T") { // an unescaped "+" in a query
		s = s[:11] + strings.Replace(s[11:], " ", "+", 1)
	}
	if date, ok := strings.CutSuffix(s, "z"); ok {
		s = date + "Z"
	}
	for _, layout := range timeLayouts {
		t, err := time.Parse(layout, s)
		if err != nil {
			continue
		}
		message := ""
		if !strings.Contains(layout, "Z07") {
			var exists bool
			if t, exists = civil.Local(t, zone); !exists {
				message = "does not exist in " + zone.String() + " on this day"
			}
		}
		if _, offset := t.Zone(); t.Year() <= 0 || max(offset, -offset) >= 24*60*60 {
			return time.Time{}, notTime
		}
		return t.UTC().Truncate(time.Millisecond), message
	}
	return time.Time{}, notTime
}

var timeLayouts = []string{
	"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05Z07", "2006-01-02T15:04:05",
	"2006-01-02T15:04Z07:00", "2006-01-02T15:04Z0700", "2006-01-02T15:04Z07", "2006-01-02T15:04",
}

// plausible reports whether t can be stored: its year has four digits in every zone.
func plausible(t time.Time) bool { return t.Year() >= 1000 && t.Year() <= 9998 }

// Days before and after every time that can be stored. A filter beyond them matches the same
// rows as one by these days.
var (
	beforeAll = civil.MustParse("0999-12-30")
	afterAll  = civil.MustParse("9999-01-02")
)

// clamp returns d, limited to beforeAll and afterAll.
func clamp(d civil.Date) civil.Date {
	switch {
	case d.Before(beforeAll):
		return beforeAll
	case afterAll.Before(d):
		return afterAll
	}
	return d
}

// notDayOrTime is the message for text that is neither a date nor a time.
const notDayOrTime = "must be a date or an ISO 8601 time"

// parseDay parses the day of a filter: a date, or the local day of a time.
func parseDay(s string, zone *time.Location) (civil.Date, string) {
	if d, err := civil.Parse(s); err == nil {
		return clamp(d), ""
	}
	t, message := parseTime(s, zone)
	if message == notTime {
		message = notDayOrTime
	}
	return clamp(civil.Of(t.In(zone))), message
}

// parseFilterTime parses the time of a filter; a date is the start of that day in zone.
func parseFilterTime(s string, zone *time.Location) (time.Time, string) {
	t, message := parseTime(s, zone)
	if message != notTime && plausible(t) {
		return t, message
	}
	d, message := parseDay(s, zone)
	return d.In(zone).UTC(), message
}

func parseUUID(s string) (uuid.UUID, bool) {
	id, err := uuid.Parse(s)
	return id, err == nil && len(s) == 36
}

// ParseID parses an integer id. A number beyond 64 bits is a valid id that no record has, so
// ParseID returns the largest id for it, which is never assigned.
func ParseID(s string) (int64, bool) {
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	id, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		id = 1<<63 - 1
	}
	return id, true
}

// input is one value as the client sent it, other than null.
type input struct {
	raw      json.RawMessage
	text     string // text of a JSON string or number
	isText   bool
	word     string // raw without quotation marks
	isString bool
}

func newInput(raw json.RawMessage) input {
	s, isText := text(raw)
	return input{raw, s, isText, strings.Trim(string(raw), `"`), raw[0] == '"'}
}

// parse returns the value of a field (string, bool, int64, time.Time, decimal.Decimal or
// json.RawMessage) or a message.
func (f Field) parse(v input, zone *time.Location) (any, string) {
	if strings.ContainsRune(v.text, 0) {
		return nil, "must not contain NUL"
	}
	switch f.Kind {
	case Text, Email, Country, Ethnicity, Enum:
		return f.parseText(v)
	case Boolean, Flag, Gender:
		return f.parseBoolean(v)
	case Integer, Consent:
		return f.parseInteger(v)
	case ID:
		return f.parseID(v)
	case UUID:
		id, ok := parseUUID(v.text)
		if !ok {
			return nil, "must be a uuid"
		}
		return id.String(), ""
	case Date:
		d, err := civil.Parse(v.text)
		if !v.isString || err != nil {
			return nil, "must be a date of the form YYYY-MM-DD"
		}
		return d.String(), ""
	case Time:
		t, message := parseTime(v.text, zone)
		switch {
		case !v.isString:
			return nil, notTime
		case message != "":
			return nil, message
		case !plausible(t):
			return nil, "must be of the years 1000 to 9998"
		}
		return t, ""
	case Decimal:
		return f.parseDecimal(v)
	case Metadata:
		return metadata(v.raw)
	case Answers:
		return answers(v.raw)
	case Strings:
		return f.parseStrings(v.raw)
	}
	return nil, "cannot be written"
}

func (f Field) parseText(v input) (any, string) {
	if !v.isText {
		return nil, "must be a string"
	}
	s := v.text
	if f.Kind == Country {
		s = strings.ToUpper(s)
	}
	if message := f.checkText(s); message != "" {
		return nil, message
	}
	return s, ""
}

func (f Field) parseBoolean(v input) (any, string) {
	switch v.word {
	case "true", "false":
		return v.word == "true", ""
	case "1", "0":
		if f.Kind == Flag {
			return v.word == "1", ""
		}
	}
	if f.Kind == Gender && (strings.EqualFold(v.text, "male") || strings.EqualFold(v.text, "female")) {
		return strings.EqualFold(v.text, "male"), ""
	}
	return nil, "must be true or false"
}

func (f Field) parseInteger(v input) (any, string) {
	s := v.text
	if f.Kind == Consent && !v.isString && (v.word == "true" || v.word == "false") {
		s = map[string]string{"true": "1", "false": "0"}[v.word]
	} else if !v.isText || !number.MatchString(s) {
		return nil, "must be a whole number"
	}
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil || f.Min != nil && n < *f.Min || f.Max != nil && n > *f.Max {
		return nil, f.rangeMessage()
	}
	return n, ""
}

func (f Field) parseID(v input) (any, string) {
	id, ok := ParseID(v.text)
	if !v.isText || !ok {
		return nil, "must be an id"
	}
	if _, err := strconv.ParseInt(v.text, 10, 64); f.Plain && err != nil {
		return nil, f.rangeMessage() // it is stored, so ParseID must not change it
	}
	return id, ""
}

func (f Field) parseDecimal(v input) (any, string) {
	if !v.isText {
		return nil, decimal.ErrSyntax.Error()
	}
	d, err := decimal.Parse(v.text)
	switch {
	case err != nil:
		return nil, err.Error()
	case f.Min != nil && int64(d) < *f.Min:
		return nil, "must not be negative"
	}
	return d, ""
}

// maxStrings is the most strings of an array.
const maxStrings = 1000

// parseStrings returns an array of strings, each once; those of Values in their order.
func (f Field) parseStrings(raw json.RawMessage) (any, string) {
	var given []string
	if raw[0] != '[' || json.Unmarshal(raw, &given) != nil || len(given) > maxStrings {
		return nil, "must be an array of strings"
	}
	words := []string{}
	for _, s := range given {
		switch {
		case len(f.Values) > 0 && !slices.Contains(f.Values, s):
			return nil, "must be made of: " + strings.Join(f.Values, ", ")
		case strings.ContainsRune(s, 0):
			return nil, "must not contain NUL"
		case !slices.Contains(words, s):
			words = append(words, s)
		}
	}
	if len(f.Values) > 0 {
		words = slices.DeleteFunc(slices.Clone(f.Values), func(word string) bool { return !slices.Contains(words, word) })
	}
	b, err := json.Marshal(words)
	if err != nil {
		return nil, "must be an array of strings"
	}
	return json.RawMessage(b), ""
}

func (f Field) checkText(s string) string {
	switch {
	case f.Required && strings.TrimSpace(s) == "":
		return blank
	case f.MaxRunes > 0 && utf8.RuneCountInString(s) > f.MaxRunes:
		return "must not be longer than " + strconv.Itoa(f.MaxRunes) + " characters"
	case f.Kind == Enum && !slices.Contains(f.Values, s):
		return "must be one of: " + strings.Join(f.Values, ", ")
	case f.Kind == Email && !ValidEmail(s):
		return "must be an e-mail address"
	case f.Kind.Form() != "" && !limit.Forms[f.Kind.Form()].Matches(s):
		return limit.Forms[f.Kind.Form()].Message
	}
	return ""
}

// ValidEmail reports whether s has the form of an e-mail address: local part, @, a domain
// with a dot.
func ValidEmail(s string) bool {
	a, err := mail.ParseAddress(s)
	if err != nil || a.Address != s {
		return false
	}
	_, domain, _ := strings.Cut(s, "@")
	return strings.Contains(strings.Trim(domain, "."), ".")
}

func (f Field) rangeMessage() string {
	switch {
	case f.Min != nil && f.Max != nil:
		return "must be between " + strconv.FormatInt(*f.Min, 10) + " and " + strconv.FormatInt(*f.Max, 10)
	case f.Min != nil:
		return "must be at least " + strconv.FormatInt(*f.Min, 10)
	}
	return "is out of range"
}

func metadata(raw json.RawMessage) (json.RawMessage, string) {
	var given map[string]json.RawMessage
	if raw[0] != '{' || json.Unmarshal(raw, &given) != nil {
		return nil, "must be an object of strings"
	}
	values := make(map[string]string, len(given))
	for key, v := range given {
		s, ok := text(v)
		if w := string(v); w == "true" || w == "false" {
			s, ok = w, true
		}
		if !ok {
			return nil, "values must be strings, numbers or booleans"
		}
		values[key] = s
	}
	if message := CheckMetadata(values); message != "" {
		return nil, message
	}
	b, err := json.Marshal(values)
	if err != nil {
		return nil, "must be an object of strings"
	}
	return b, ""
}

// CheckMetadata returns a message if metadata exceed a limit (spec.md, Limits), or "".
func CheckMetadata(m map[string]string) string {
	if len(m) > MetadataKeys {
		return "must not have more than " + strconv.Itoa(MetadataKeys) + " keys"
	}
	for key, v := range m {
		switch {
		case strings.ContainsRune(key+v, 0):
			return "must not contain NUL"
		case key == "":
			return "keys must not be blank"
		case utf8.RuneCountInString(key) > MetadataKeyRunes:
			return "keys must not be longer than " + strconv.Itoa(MetadataKeyRunes) + " characters"
		case utf8.RuneCountInString(v) > MetadataTextRunes:
			return "values must not be longer than " + strconv.Itoa(MetadataTextRunes) + " characters"
		}
	}
	return ""
}

// Answer is one entry of a custom_fields array in a request.
type Answer struct {
	FieldID uuid.UUID       `json:"field_id"`
	Value   json.RawMessage `json:"value"`
}

func answers(raw json.RawMessage) (json.RawMessage, string) {
	const message = "must be an array of objects with field_id and value"
	var given []struct {
		FieldID string          `json:"field_id"`
		Value   json.RawMessage `json:"value"`
	}
	if raw[0] != '[' || json.Unmarshal(raw, &given) != nil {
		return nil, message
	}
	read := make([]Answer, len(given))
	for i, g := range given {
		id, ok := parseUUID(g.FieldID)
		if !ok {
			return nil, "field_id must be a uuid"
		}
		if s, _ := text(g.Value); strings.ContainsRune(s, 0) {
			return nil, "must not contain NUL"
		}
		if len(g.Value) == 0 {
			g.Value = json.RawMessage("null")
		}
		read[i] = Answer{FieldID: id, Value: g.Value}
	}
	b, err := json.Marshal(read)
	if err != nil {
		return nil, message
	}
	return b, ""
}
