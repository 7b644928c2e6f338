package seal

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"chairside/internal/apispec/limit"
)

// Value is the Go form of a sealed column: NULL, which is the zero Value, a sealed value, whose
// plain text is known once it was opened, or a plain text that is still to be sealed and that no
// database or document takes.
type Value struct {
	text  string  // sealed; "" for NULL, and before it is sealed
	plain *string // nil unless it is known; a pointer, so that printing a struct does not show it
}

// Plain returns a text that is sealed when the row is written.
func Plain(text string) Value { return Value{plain: &text} }

// ToSeal returns the text of Plain, and whether the value is still to be sealed.
func (v Value) ToSeal() (plain string, ok bool) {
	if v.plain == nil || v.text != "" {
		return "", false
	}
	return *v.plain, true
}

// Plain returns the plain text, "" for NULL, and whether it is known.
func (v Value) Plain() (text string, ok bool) {
	if v.plain == nil {
		return "", v.IsNull()
	}
	return *v.plain, true
}

// Holds reports whether the plain text is known and equal to the given one; NULL holds none.
func (v Value) Holds(plain string) bool { return v.plain != nil && *v.plain == plain }

// A stored value is prefix, the key's id in idDigits hexadecimal digits, a colon and base64.
const (
	prefix   = limit.SealedPrefix
	idDigits = 8
)

// KeyIDExpression returns the SQL expression for the key's id of the values of a column.
func KeyIDExpression(column string) string {
	return "substr(" + column + ", " + strconv.Itoa(len(prefix)+1) + ", " + strconv.Itoa(idDigits) + ")"
}

// Parse returns the value of a stored text, such as a line of an export.
func Parse(text string) (Value, error) {
	v := Value{text: text}
	if _, _, err := v.split(); err != nil {
		return Value{}, err
	}
	return v, nil
}

// IsNull reports whether there is no value.
func (v Value) IsNull() bool { return v == Value{} }

// String returns the stored text, which shows the key's id and nothing of the content. It is
// empty for a text that is not sealed yet.
func (v Value) String() string { return v.text }

// GoString keeps a text that is not sealed yet out of %#v.
func (v Value) GoString() string { return fmt.Sprintf("seal.Value(%q)", v.text) }

// MarshalJSON returns the stored text, or null.
func (v Value) MarshalJSON() ([]byte, error) {
	stored, err := v.Value()
	if err != nil {
		return nil, err
	}
	return json.Marshal(stored)
}

// Value implements driver.Valuer. It fails with ErrNotSealed.
func (v Value) Value() (driver.Value, error) {
	switch {
	case v.IsNull():
		return nil, nil
	case v.text == "":
		return nil, ErrNotSealed
	}
	return v.text, nil
}

// Scan implements sql.Scanner.
func (v *Value) Scan(stored any) (err error) {
	switch s := stored.(type) {
	case nil:
		*v = Value{}
	case string:
		*v, err = Parse(s)
	case []byte:
		*v, err = Parse(string(s))
	default:
		err = fmt.Errorf("seal: a sealed column holds a %T", stored)
	}
	return err
}

// split returns the key's id and the base64 of the ciphertext.
func (v Value) split() (key KeyID, ciphertext string, err error) {
	rest, sealed := strings.CutPrefix(v.text, prefix)
	id, ciphertext, complete := strings.Cut(rest, ":")
	key, err = ParseKeyID(id)
	if !sealed || !complete || err != nil {
		return 0, "", ErrNotSealed
	}
	return key, ciphertext, nil
}

// Place is where a value stands. A value opens only there.
type Place struct {
	Practice uuid.UUID
	Table    string
	Column   string
	Row      string // the row's id
}

// bytes returns the place as associated data. Only the last part could hold a NUL.
func (p Place) bytes() []byte {
	return []byte(p.Practice.String() + "\x00" + p.Table + "\x00" + p.Column + "\x00" + p.Row)
}
