package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"chairside/internal/apierror"
	"chairside/internal/store/migrate"
)

// probeTime is the time limit of a readiness probe.
const probeTime = 2 * time.Second

// healthz responds 200 while the process runs.
func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) { status(w, "ok") }

// readyz responds 200 unless the server is stopping, the database cannot be read, or migrations
// are pending. On a read-only replica the server is ready, because it serves reads. Once all
// migrations were applied it does not check them again: a newer program may then migrate while
// this one still serves.
func (s *Server) readyz(w http.ResponseWriter, r *http.Request) {
	if err := s.ready(r.Context()); err != nil {
		s.fail(w, stateOf(r.Context()), apierror.Unavailable(err))
		return
	}
	status(w, "ready")
}

func (s *Server) ready(ctx context.Context) error {
	if s.stopping.Load() >= draining {
		return errors.New("server: stopping")
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	if !s.migrated.Load() {
		if err := migrate.Check(ctx, s.DB); err != nil {
			return err
		}
		s.migrated.Store(true)
	}
	return s.DB.Ready(ctx)
}

func status(w http.ResponseWriter, word string) {
	w.Header().Set("Content-Type", jsonType)
	w.Header().Set("Cache-Control", "no-store")
	_, _ = io.WriteString(w, `{"status":"`+word+`"}`+"\n") // fails if the client has disconnected
}
