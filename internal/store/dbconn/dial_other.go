//go:build !linux

package dbconn

import (
	"context"
	"syscall"
)

// setUserTimeout does nothing: only Linux bounds the time of unacknowledged bytes.
func setUserTimeout(context.Context, string, string, syscall.RawConn) error { return nil }
