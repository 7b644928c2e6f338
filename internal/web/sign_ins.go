package web

import (
	"encoding/json"
	"net/http"
	"slices"
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
	Pending bool // only the password was given
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
	page := signInsView{New: signin.NewBrowsers(v, s.sessions.Identify(r))}
	for _, e := range events {
		row := signInRow{AuditEvent: e, Failed: e.Action != "sign_in"}
		row.readDetails()
		row.Mine = !row.Failed && e.SessionID != nil && *e.SessionID == v.SessionID
		if !slices.ContainsFunc(page.Rows, row.completedBy) {
			page.Rows = append(page.Rows, row)
		}
	}
	s.show(w, r, http.StatusOK, "sign_ins", view{Title: "Sign-in history", Here: signInsPath, Page: page})
	return nil
}

// completedBy reports whether a later sign-in of the same browser completed a password.
func (s signInRow) completedBy(later signInRow) bool {
	return s.Pending && !later.Failed && later.Browser == s.Browser && later.Network == s.Network && later.At.Sub(s.At) < signin.FactorLife
}

// readDetails sets what the details of the event say.
func (s *signInRow) readDetails() {
	var details struct{ Browser, Network, Method, Reason string }
	if json.Unmarshal(s.Details.Text, &details) != nil || details.Browser == "" { // somebody has changed it
		s.Browser = "Unknown browser"
		return
	}
	s.Browser, s.Network = details.Browser, details.Network
	s.Passkey, s.Pending = details.Method == "passkey", details.Reason == "second_factor_needed"
}

// dismissSignIns ends the notice about new browsers.
func (s *Site) dismissSignIns(w http.ResponseWriter, r *http.Request) error {
	if err := s.sessions.DismissBrowsers(r.Context(), s.sessions.Identify(r)); err != nil {
		return err
	}
	return redirect(w, signInsPath+"?done=sign-ins-dismissed")
}
