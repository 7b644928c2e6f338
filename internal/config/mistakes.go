package config

import (
	"fmt"
	"strings"
)

// Mistakes lists everything that is wrong with a command's flags. It is an error.
type Mistakes []string

// Error lists the mistakes, one per line.
func (m Mistakes) Error() string { return strings.Join(m, "\n") }

func (m *Mistakes) add(flag, format string, args ...any) {
	*m = append(*m, "--"+flag+": "+fmt.Sprintf(format, args...))
}

// err is m, or nil if m is empty.
func (m Mistakes) err() error {
	if len(m) == 0 {
		return nil
	}
	return m
}
