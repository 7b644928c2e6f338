//go:build !unix

package dbconn

import "net"

// broken returns false, because only Unix can read from a socket without waiting. The next
// statement on a broken connection fails.
func broken(net.Conn) bool { return false }
