package config

import (
	"fmt"
	"strings"
)

// Mistakes is everything that is wrong with the flags of a command, a line each.
type Mistakes []string

// Error lists the mistakes, one a line.
func (m Mistakes) Error() string { return strings.Join(m, "\n") }

func (m *Mistakes) add(flag, format string, args ...any) {
	*m = append(*m, "--"+flag+": "+fmt.Sprintf(format, args...))
}

// err is m, or nil where there are none.
func (m Mistakes) err() error {
	if len(m) == 0 {
		return nil
	}
	return m
}
