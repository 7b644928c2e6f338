package web

import (
	"encoding/json"
	"net/http"
	"strconv"

	"chairside/ent"
	"chairside/ent/auditevent"
	"chairside/internal/signin"
	"chairside/schema"
)

const signInsPath = "/settings/sign-ins"

// signInRows is the most sign-ins of the page.
const signInRows = 50

// signInsView is the data of the sign-in history.
type signInsView struct {
	New  []schema.KnownBrowser // that have not been dismissed
	Rows []signInRow
}

// signInRow is one sign-in or failed attempt.
type signInRow struct {
	*ent.AuditEvent
	Browser string // family and system
	Network string // address without its last part; "" if unknown
	Failed  bool
	Passkey bool // it was with a passkey
	Mine    bool // it began the current session
}

// signIns lists the visitor's sign-ins and failed attempts, the newest first. The audit log has
// them, within a second.
func (s *Site) signIns(w http.ResponseWriter, r *http.Request) error {
	v := signin.From(r.Context())
	events, err := s.DB.Ent.AuditEvent.Query().
		Where(auditevent.RecordID(strconv.FormatInt(v.User.ID, 10)), auditevent.UserID(v.User.ID), auditevent.ActionIn("sign_in", "sign_in_failed")).
		Order(ent.Desc(auditevent.FieldID)).Limit(signInRows).
		All(r.Context())
	if err != nil {
		return err
	}
	page := signInsView{New: signin.NewBrowsers(v, s.sessions.Identify(r)), Rows: make([]signInRow, len(events))}
	for i, e := range events {
		row := signInRow{AuditEvent: e, Failed: e.Action != "sign_in"}
		row.Browser, row.Network, row.Passkey = signInOf(e)
		row.Mine = !row.Failed && e.SessionID != nil && *e.SessionID == v.SessionID
		page.Rows[i] = row
	}
	s.show(w, r, http.StatusOK, "sign_ins", view{Title: "Sign-in history", Here: signInsPath, Page: page})
	return nil
}

// signInOf returns the browser and the network of a sign-in, and whether it was with a passkey.
func signInOf(e *ent.AuditEvent) (browser, network string, passkey bool) {
	var details struct{ Browser, Network, Method string }
	if json.Unmarshal(e.Details.Text, &details) != nil || details.Browser == "" { // somebody has changed it
		return "Unknown browser", "", false
	}
	return details.Browser, details.Network, details.Method == "passkey"
}

// dismissSignIns ends the notice about new browsers.
func (s *Site) dismissSignIns(w http.ResponseWriter, r *http.Request) error {
	if err := s.sessions.DismissBrowsers(r.Context(), s.sessions.Identify(r)); err != nil {
		return err
	}
	return redirect(w, signInsPath+"?done=sign-ins-dismissed")
}
