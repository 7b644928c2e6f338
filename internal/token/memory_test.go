package token

import (
	"crypto/sha256"
	"encoding/binary"
	"testing"

	"chairside/internal/clock"
)

func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	c := &Cache{}
	c.forget()
	m := c.memory.Load()
	for i := range uint64(3 * remembered) {
		hash := sha256.Sum256(binary.LittleEndian.AppendUint64(nil, i))
		m.keep(hash, &holder{asked: clock.Uptime()})
		if len(m.holders) > remembered {
			t.Fatalf("%d tokens are remembered", len(m.holders))
		}
		if m.recall(hash) == nil {
			t.Fatal("what was kept last is not there")
		}
	}
}

func TestOldReadingsAreNotRecalled(t *testing.T) {
	t.Parallel()
	c := &Cache{}
	c.forget()
	hash := sha256.Sum256(nil)
	c.memory.Load().keep(hash, &holder{asked: clock.Uptime() - fresh})
	if c.memory.Load().recall(hash) != nil {
		t.Error("a reading is recalled after its time")
	}
}
