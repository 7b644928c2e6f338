package web

import "net/http"

// FrontPath is the pattern of the front page. Other clients than browsers get the API's
// response there.
const FrontPath = frontAddress + "{$}"

const frontAddress = "/"

// DemoUser is the user as whom anyone may sign in to the demo.
type DemoUser struct{ Email, Password string }

// frontView is the data of the front page.
type frontView struct {
	Demo  *DemoUser // nil on a live server
	Ready bool      // the server can read its database, and all migrations are applied
}

// front shows what this server is, and where to go from here.
func (s *Site) front(w http.ResponseWriter, r *http.Request) error {
	s.show(w, r, http.StatusOK, "front", view{Title: "Dental practice management", Here: frontAddress, Page: frontView{s.Demo, s.Ready(r.Context()) == nil}})
	return nil
}
