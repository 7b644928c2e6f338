//go:build unix

package dbconn

import (
	"net"
	"syscall"
)

// broken reports whether an idle connection has ended or has received unexpected bytes,
// such as the error that a server sends when it shuts down. It peeks without waiting.
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
	err = raw.Control(func(fd uintptr) { // Read would fail at the deadline of the last statement
		_, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		quiet = err == syscall.EAGAIN || err == syscall.EWOULDBLOCK
	})
	return err != nil || !quiet
}
