//go:build !unix

package dbconn

import "net"

// broken cannot be told without waiting: what is sent next will fail.
func broken(net.Conn) bool { return false }
