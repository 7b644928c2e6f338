package bulk

import (
	"database/sql/driver"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"github.com/lib/pq"
)

// copyChunk is how many bytes of rows are passed to the driver at a time.
const copyChunk = 16 << 10

// copyText encodes rows in the text format of COPY.
type copyText struct {
	text      []byte
	timestamp time.Time // the last one encoded: most rows repeat the previous row's
	encoded   []byte    // its text
}

// row adds a row.
func (c *copyText) row(values []any) error {
	for i, v := range values {
		if i > 0 {
			c.text = append(c.text, '\t')
		}
		if err := c.value(v); err != nil {
			return err
		}
	}
	c.text = append(c.text, '\n')
	return nil
}

// value adds a value as the driver would send it.
func (c *copyText) value(v any) error {
	switch v := v.(type) {
	case nil:
		c.text = append(c.text, `\N`...)
	case string:
		c.escaped(v)
	case int64:
		c.text = strconv.AppendInt(c.text, v, 10)
	case float64:
		c.text = strconv.AppendFloat(c.text, v, 'f', -1, 64)
	case bool:
		c.text = strconv.AppendBool(c.text, v)
	case []byte:
		c.text = hex.AppendEncode(append(c.text, `\\x`...), v)
	case time.Time:
		if v != c.timestamp || c.encoded == nil {
			c.timestamp, c.encoded = v, pq.FormatTimestamp(v)
		}
		c.text = append(c.text, c.encoded...)
	default:
		plain, err := driver.DefaultParameterConverter.ConvertValue(v)
		if err != nil {
			return fmt.Errorf("store: %w", err)
		}
		return c.value(plain) // one of the above
	}
	return nil
}

// escapes maps the characters that have a meaning in COPY to the letters that escape them.
var escapes = [256]byte{'\\': '\\', '\n': 'n', '\r': 'r', '\t': 't'}

func (c *copyText) escaped(s string) {
	from := 0
	for i := range len(s) {
		if e := escapes[s[i]]; e != 0 {
			c.text = append(append(c.text, s[from:i]...), '\\', e)
			from = i + 1
		}
	}
	c.text = append(c.text, s[from:]...)
}

// take returns the rows added since the last call, without the last line break.
func (c *copyText) take() []byte {
	text := c.text[:max(0, len(c.text)-1)]
	c.text = c.text[:0]
	return text
}
