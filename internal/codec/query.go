package codec

import (
	"cmp"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"chairside/internal/apierror"
	"chairside/internal/civil"
	"chairside/internal/decimal"
)

// maxQueryRunes is the maximum length of a text parameter, which becomes part of a statement.
const maxQueryRunes = 255

// maxCursor is the maximum length of a cursor in bytes.
const maxCursor = 8192

// maxElements is the maximum number of different values of an array parameter.
const maxElements = 1000

// Param is a query parameter of an operation. The tables are generated.
type Param struct {
	Name     string
	Kind     Kind
	Values   []string
	Array    bool
	Min, Max int64 // of integers: below Min is refused, above Max is clamped; 0 is no limit
	MaxItems int   // of an array, which may then not be empty
}

// aliases are other names of parameters (behaviour.md section 3).
var aliases = map[string]string{"updated_since": "updated_after"}

// synonyms are other words for values of an enum (behaviour.md section 2).
var synonyms = map[string]string{"complete": "completed"}

// ReadQuery returns the canonical form of a query, the sorted names of unknown parameters,
// and a message for every invalid parameter. A date where a time is expected is the start of
// that day in zone.
func ReadQuery(sent url.Values, known []Param, zone *time.Location) (canonical url.Values, unknown []string, params apierror.Params) {
	canonical, params = url.Values{}, apierror.Params{}
	given := map[string][]string{}
	for name, values := range sent {
		p := find(known, name)
		switch {
		case name == "access_token": // the server has read it
		case p == nil:
			unknown = append(unknown, name)
		default:
			given[p.Name] = append(given[p.Name], values...)
		}
	}
	slices.Sort(unknown)
	for _, p := range known {
		values, ok := given[p.Name]
		if p.Array {
			values = strings.Split(strings.Join(values, ","), ",")
		}
		switch {
		case ok && p.MaxItems > 0 && strings.Join(values, "") == "":
			params.Add(p.Name, "must have at least one value")
			continue
		case !ok || p.Array && strings.Join(values, "") == "":
			continue
		case !p.Array && len(values) > 1:
			params.Add(p.Name, "must be given once")
			continue
		}
		for _, v := range values {
			switch c, message := p.value(v, zone); {
			case message != "":
				params.Add(p.Name, message)
			case slices.Contains(canonical[p.Name], c): // a duplicate
			case len(canonical[p.Name]) == p.maxItems():
				params.Add(p.Name, "must not have more than "+strconv.Itoa(p.maxItems())+" values")
			default:
				canonical.Add(p.Name, c)
			}
		}
	}
	return canonical, unknown, params
}

func (p Param) maxItems() int { return cmp.Or(p.MaxItems, maxElements) }

// find returns the parameter of a name, an alias or, for arrays, name[] or name[0]. id[] is an
// alias of ids.
func find(known []Param, name string) *Param {
	if a, ok := aliases[name]; ok {
		name = a
	}
	base, index, bracket := strings.Cut(name, "[")
	if bracket && base == "id" {
		base = "ids"
	}
	for i, p := range known {
		if p.Name == name {
			return &known[i]
		}
		if digits, closed := strings.CutSuffix(index, "]"); p.Array && bracket && closed && p.Name == base && strings.Trim(digits, "0123456789") == "" {
			return &known[i]
		}
	}
	return nil
}

// value returns the canonical form of one value, or a message.
func (p Param) value(s string, zone *time.Location) (canonical, message string) {
	if strings.ContainsRune(s, 0) {
		return "", "must not contain NUL"
	}
	switch p.Kind {
	case Boolean, Flag, Gender:
		switch s {
		case "true", "1", "True": // as Python prints it
			return "true", ""
		case "false", "0", "False":
			return "false", ""
		}
		return "", "must be true or false"
	case Integer, Consent:
		return p.integer(s)
	case ID:
		id, ok := ParseID(s)
		if !ok {
			return "", "must be an id"
		}
		return strconv.FormatInt(id, 10), ""
	case UUID:
		id, ok := parseUUID(s)
		if !ok {
			return "", "must be a uuid"
		}
		return id.String(), ""
	case Date:
		d, err := civil.Parse(s)
		if err != nil {
			return "", "must be a date of the form YYYY-MM-DD"
		}
		return d.String(), ""
	case Day:
		d, message := parseDay(s, zone)
		if message != "" {
			return "", message
		}
		return d.String(), ""
	case Time:
		t, message := parseFilterTime(s, zone)
		if message != "" {
			return "", message
		}
		return t.Format(time.RFC3339Nano), ""
	case Decimal:
		d, err := decimal.Parse(s)
		if err != nil {
			return "", err.Error()
		}
		return d.String(), ""
	case Text, Email, Country, Ethnicity:
		if utf8.RuneCountInString(s) > maxQueryRunes {
			return "", "must not be longer than " + strconv.Itoa(maxQueryRunes) + " characters"
		}
	case Enum:
		return p.enum(s)
	case Cursor:
		if len(s) > maxCursor {
			return "", "is not a cursor of this list"
		}
	}
	return s, ""
}

// integer returns a whole number within Min and Max, and within the int of the generated decoder.
func (p Param) integer(s string) (string, string) {
	n, ok := ParseID(strings.TrimPrefix(s, "-"))
	if !ok {
		return "", "must be a whole number"
	}
	if strings.HasPrefix(s, "-") {
		n = -n
	}
	if p.Min != 0 && n < p.Min {
		return "", "must be at least " + strconv.FormatInt(p.Min, 10)
	}
	if p.Max > 0 {
		n = min(n, p.Max)
	}
	return strconv.FormatInt(max(math.MinInt, min(n, math.MaxInt)), 10), ""
}

func (p Param) enum(s string) (string, string) {
	if word, ok := synonyms[s]; ok && slices.Contains(p.Values, word) {
		return word, ""
	}
	if !slices.Contains(p.Values, s) {
		return "", "must be one of: " + strings.Join(p.Values, ", ")
	}
	return s, ""
}
