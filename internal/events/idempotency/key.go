package idempotency

import "strings"

// MaxKey is the maximum length of a key, in characters.
const MaxKey = 255

// Message is the problem of a malformed header.
const Message = "must be one value of 1 to 255 visible ASCII characters, such as a UUID"

// ParseKey returns the key in the values of an Idempotency-Key header; ok is false if it is
// malformed. The key is a string of RFC 8941, in quotes, or the same text without quotes.
func ParseKey(values []string) (key string, ok bool) {
	if len(values) != 1 {
		return "", false
	}
	key = strings.TrimSpace(values[0])
	if strings.HasPrefix(key, `"`) {
		if key, ok = unquote(key[1:]); !ok {
			return "", false
		}
	}
	return key, key != "" && len(key) <= MaxKey && strings.IndexFunc(key, invisible) < 0
}

// unquote returns the string that ends with the last character of s, a quote. A backslash
// escapes a quote or a backslash.
func unquote(s string) (string, bool) {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			return out.String(), i == len(s)-1
		case '\\':
			i++
			if i == len(s) || s[i] != '"' && s[i] != '\\' {
				return "", false
			}
		}
		out.WriteByte(s[i])
	}
	return "", false
}

func invisible(r rune) bool { return r <= ' ' || r > '~' }
