package dbconn

import "testing"

// TestGreetingFindsTheProcess feeds beginnings of connections, whole and byte by byte.
func TestGreetingFindsTheProcess(t *testing.T) {
	t.Parallel()
	const (
		authenticated = "R\x00\x00\x00\x08\x00\x00\x00\x00"
		parameter     = "S\x00\x00\x00\x0aabc\x00d\x00"
		key           = "K\x00\x00\x00\x0c\x00\x01\x00\x02\x11\x22\x33\x44"
		ready         = "Z\x00\x00\x00\x05I"
	)
	for name, test := range map[string]struct {
		bytes   string
		process int64
	}{
		"plain":             {authenticated + parameter + key + ready, 1<<16 + 2},
		"TLS refused":       {"N" + authenticated + parameter + key + ready, 1<<16 + 2},
		"TLS":               {"S\x16\x03\x03\x00\x7a" + authenticated + key, 0},
		"without key":       {authenticated + parameter + ready + key, 0},
		"error":             {"E\x00\x00\x00\x06S\x00", 0},
		"length too small":  {"R\x00\x00\x00\x00" + key, 0},
		"length too large":  {"R\x7f\x00\x00\x00" + key, 0},
		"length of the key": {authenticated + "K\x00\x00\x00\x04" + key, 1<<16 + 2},
		"nothing":           {"", 0},
	} {
		var whole, single greeting
		whole.receive([]byte(test.bytes))
		for i := range len(test.bytes) {
			single.receive([]byte(test.bytes[i : i+1]))
		}
		if whole.process != test.process || single.process != test.process {
			t.Errorf("%s: %d, byte by byte %d, want %d", name, whole.process, single.process, test.process)
		}
	}
}
