//go:build unix

package dbconn

import (
	"net"
	"syscall"
)

// broken reports whether a connection on which nothing is awaited has ended, or
// something has come all the same: the last words of a server that shuts down.
// Nothing but a read tells; this one does not wait.
func broken(c net.Conn) bool {
	socket, ok := c.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return true
	}
	var quiet bool
	err = raw.Read(func(fd uintptr) bool {
		_, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		quiet = err == syscall.EAGAIN || err == syscall.EWOULDBLOCK
		return true
	})
	return err != nil || !quiet
}
