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

// probeTime is how long the database may take to answer a readiness probe.
const probeTime = 2 * time.Second

// healthz answers as long as the process does.
func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) { status(w, "ok") }

// readyz answers 200 while the server can do its work: it is not stopping, the tables
// of the database can be read, and every migration has been applied. The last is asked
// until it is true: then a newer program may add migrations while this one serves.
func (s *Server) readyz(w http.ResponseWriter, r *http.Request) {
	if err := s.ready(r.Context()); err != nil {
		s.fail(w, of(r.Context()), apierror.Unavailable(err))
		return
	}
	status(w, "ready")
}

func (s *Server) ready(ctx context.Context) error {
	if s.stopping.Load() {
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
	_, _ = io.WriteString(w, `{"status":"`+word+`"}`+"\n") // fails where the client went away
}
