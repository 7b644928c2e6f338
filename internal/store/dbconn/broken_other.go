//go:build !unix

package dbconn

import "net"

// broken returns false: only Unix has the read without waiting that it needs. On a broken
// connection the next statement fails.
func broken(net.Conn) bool { return false }
