package contracttest

import (
	"net"
	"sync/atomic"
	"testing"
	"time"
)

// delayed is a proxy that holds back what clients send.
type delayed struct {
	address string
	by      atomic.Int64 // a time.Duration
}

// delay starts a proxy to a server.
func delay(t *testing.T, to string) *delayed {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	d := &delayed{address: listener.Addr().String()}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", to)
			if err != nil {
				client.Close()
				continue
			}
			go d.forward(server, client, func() time.Duration { return time.Duration(d.by.Load()) })
			go d.forward(client, server, func() time.Duration { return 0 })
		}
	}()
	return d
}

// forward passes on what comes, each part so much later, until either side ends.
func (d *delayed) forward(to, from net.Conn, by func() time.Duration) {
	type part struct {
		at   time.Time
		data []byte
	}
	parts := make(chan part, 1024)
	go func() {
		defer to.Close()
		for p := range parts {
			<-time.After(time.Until(p.at))
			if _, err := to.Write(p.data); err != nil {
				from.Close()
			}
		}
	}()
	defer close(parts)
	for {
		data := make([]byte, 32<<10)
		n, err := from.Read(data)
		if n > 0 {
			parts <- part{time.Now().Add(by()), data[:n]}
		}
		if err != nil {
			return
		}
	}
}
