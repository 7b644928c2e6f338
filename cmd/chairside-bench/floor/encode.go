package floor

import (
	"encoding/hex"
	"encoding/json"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgtype"
)

// encoder appends JSON to b.
type encoder struct {
	b       []byte
	zone    *time.Location // of all times
	baseURL string
}

func (e *encoder) reset(baseURL string) { e.b, e.baseURL = e.b[:0], baseURL }

// comma appends a comma, unless at the beginning of an object or an array.
func (e *encoder) comma() {
	if n := len(e.b); n > 0 {
		switch e.b[n-1] {
		case '{', '[', ':':
		default:
			e.b = append(e.b, ',')
		}
	}
}

func (e *encoder) open(bracket byte) *encoder {
	e.comma()
	e.b = append(e.b, bracket)
	return e
}

func (e *encoder) close(bracket byte) *encoder {
	e.b = append(e.b, bracket)
	return e
}

func (e *encoder) key(name string) *encoder {
	e.comma()
	e.b = append(append(append(e.b, '"'), name...), '"', ':')
	return e
}

func (e *encoder) null() *encoder {
	e.b = append(e.b, "null"...)
	return e
}

func (e *encoder) int(n int64) *encoder {
	e.b = strconv.AppendInt(e.b, n, 10)
	return e
}

func (e *encoder) optionalInt(n *int64) *encoder {
	if n == nil {
		return e.null()
	}
	return e.int(*n)
}

func (e *encoder) bool(v bool) *encoder {
	e.b = strconv.AppendBool(e.b, v)
	return e
}

const hexDigits = "0123456789abcdef"

// text appends a string. Like the API's encoder it escapes only what JSON requires.
func (e *encoder) text(s string) *encoder {
	b, from := append(e.b, '"'), 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				b, from = append(append(b, s[from:i]...), `\ufffd`...), i+1
			}
			i += size
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		b = append(b, s[from:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		from = i
	}
	e.b = append(append(b, s[from:]...), '"')
	return e
}

func (e *encoder) optionalText(s *string) *encoder {
	if s == nil {
		return e.null()
	}
	return e.text(*s)
}

// time appends a time in the practice's time zone, with milliseconds.
func (e *encoder) time(t time.Time) *encoder {
	e.b = append(t.In(e.zone).AppendFormat(append(e.b, '"'), "2006-01-02T15:04:05.000-07:00"), '"')
	return e
}

func (e *encoder) optionalTime(t *time.Time) *encoder {
	if t == nil {
		return e.null()
	}
	return e.time(*t)
}

// date appends a date, or null.
func (e *encoder) date(d pgtype.Date) *encoder {
	if !d.Valid {
		return e.null()
	}
	e.b = append(d.Time.AppendFormat(append(e.b, '"'), time.DateOnly), '"')
	return e
}

// uuid appends a uuid, or null.
func (e *encoder) uuid(id pgtype.UUID) *encoder {
	if !id.Valid {
		return e.null()
	}
	b := append(e.b, '"')
	for i, part := range [][]byte{id.Bytes[:4], id.Bytes[4:6], id.Bytes[6:8], id.Bytes[8:10], id.Bytes[10:]} {
		if i > 0 {
			b = append(b, '-')
		}
		b = hex.AppendEncode(b, part)
	}
	e.b = append(b, '"')
	return e
}

// money appends an amount of hundredths with two fraction digits.
func (e *encoder) money(hundredths int64) *encoder {
	b := append(e.b, '"')
	if hundredths < 0 {
		b, hundredths = append(b, '-'), -hundredths
	}
	b = strconv.AppendInt(b, hundredths/100, 10)
	e.b = append(b, '.', byte('0'+hundredths%100/10), byte('0'+hundredths%10), '"')
	return e
}

func (e *encoder) optionalMoney(hundredths *int64) *encoder {
	if hundredths == nil {
		return e.null()
	}
	return e.money(*hundredths)
}

// object appends a stored hash of strings: compact, its keys in order.
func (e *encoder) object(stored []byte) (*encoder, error) {
	if len(stored) > len("{}") {
		var members map[string]string
		err := json.Unmarshal(stored, &members)
		if err != nil {
			return e, err
		}
		if stored, err = json.Marshal(members); err != nil {
			return e, err
		}
	}
	e.b = append(e.b, stored...)
	return e, nil
}

// avatar appends the URL of the neutral picture.
func (e *encoder) avatar() *encoder {
	e.b = append(append(append(e.b, '"'), e.baseURL...), `/static/avatar.svg"`...)
	return e
}
