package web

import (
	"net/http"

	"chairside/ent"
	"chairside/internal/signin"
)

const sessionsPath = "/settings/sessions"

// sessionRow is one session in the list.
type sessionRow struct {
	*ent.Session
	Mine bool // the current session
}

// sessionList lists the visitor's sessions, the last used first.
func (s *Site) sessionList(w http.ResponseWriter, r *http.Request) error {
	all, err := s.sessions.List(r.Context())
	if err != nil {
		return err
	}
	rows := make([]sessionRow, len(all))
	for i, row := range all {
		rows[i] = sessionRow{row, row.ID == signin.From(r.Context()).SessionID}
	}
	s.show(w, r, http.StatusOK, "sessions", view{Title: "Sessions", Here: sessionsPath, Page: rows})
	return nil
}
