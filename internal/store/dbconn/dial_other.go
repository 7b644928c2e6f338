//go:build !linux

package dbconn

import (
	"context"
	"syscall"
)

// setUserTimeout does nothing: only Linux can limit how long bytes stay unacknowledged.
func setUserTimeout(context.Context, string, string, syscall.RawConn) error { return nil }
