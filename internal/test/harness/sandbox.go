package harness

import (
	"context"
	"os"

	"chairside/internal/seed"
	"chairside/internal/test/testdb"
)

// Sandbox is a server for examples, which have no testing.T: the seeded practices on
// SQLite, with the clock at Now.
type Sandbox struct {
	URL   string // without a final slash
	Token string // of the main practice's administrator, with every scope
	stop  []func()
}

// NewSandbox starts a server. It panics on failure.
func NewSandbox() *Sandbox {
	s := &Sandbox{}
	if err := s.start(context.Background()); err != nil {
		s.Close()
		panic(err)
	}
	return s
}

func (s *Sandbox) start(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "chairside-sandbox-*")
	if err != nil {
		return err
	}
	s.stop = append(s.stop, func() { os.RemoveAll(dir) })
	url, err := testdb.Practice.CopySQLite(dir)
	if err != nil {
		return err
	}
	e, stop, err := start(ctx, url)
	if err != nil {
		return err
	}
	s.stop = append(s.stop, stop)
	s.URL = e.URL
	s.Token, err = e.tokenOf(ctx, "sandbox", seed.DemoAdmin, "", nil)
	return err
}

// Close stops the server.
func (s *Sandbox) Close() {
	for i := range s.stop {
		s.stop[len(s.stop)-1-i]()
	}
}
