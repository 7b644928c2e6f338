package browser

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"golang.org/x/oauth2"
)

// client is an OAuth application: a web server that sends its visitors to authorise it
// and shows the result.
type client struct {
	url    string // of its start page
	config oauth2.Config

	mu    sync.Mutex
	token *oauth2.Token // of the last visitor
}

// newClient starts an unconfigured client.
func newClient(t *testing.T) *client {
	t.Helper()
	c, verifier := &client{}, oauth2.GenerateVerifier()
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	c.url, c.config.RedirectURL = server.URL+"/", server.URL+"/callback"
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, c.config.AuthCodeURL("a state of mine", oauth2.S256ChallengeOption(verifier)), http.StatusSeeOther)
	})
	mux.HandleFunc("GET /callback", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if r.FormValue("state") != "a state of mine" {
			http.Error(w, "Another state", http.StatusBadRequest)
			return
		}
		if problem := r.FormValue("error"); problem != "" {
			_, _ = w.Write([]byte(resultPage("Not connected: " + problem)))
			return
		}
		token, err := c.config.Exchange(r.Context(), r.FormValue("code"), oauth2.VerifierOption(verifier))
		if err != nil {
			_, _ = w.Write([]byte(resultPage("Not connected: " + err.Error())))
			return
		}
		c.mu.Lock()
		c.token = token
		c.mu.Unlock()
		_, _ = w.Write([]byte(resultPage("Connected")))
	})
	return c
}

// resultPage is a page of the client that shows a text.
func resultPage(text string) string {
	return `<!DOCTYPE html><html lang="en"><link rel="icon" href="data:,"><title>Client</title><p>` + text
}

// access returns the client's token.
func (c *client) access(t *testing.T) string {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.token == nil {
		t.Fatal("the application has no token")
	}
	return c.token.AccessToken
}

// register registers the client on the pages, as the signed-in user, and configures it
// with the values shown.
func (c *client) register(p *tab) {
	p.t.Helper()
	p.visit("/settings/applications").follow("Register an application")
	p.fill("Name", "Perio Charting").fill("Redirect URIs", c.config.RedirectURL).grant("patient:read").submit("Register")
	p.has("Perio Charting is registered", "Copy the client secret now.")
	c.config.ClientID, c.config.ClientSecret = p.value("client-id"), p.value("client-secret")
	c.config.Scopes = []string{"patient:read"}
	c.config.Endpoint = oauth2.Endpoint{AuthURL: p.value("authorization-endpoint"), TokenURL: p.value("token-endpoint")}
	p.follow("I’ve copied the secret").lacks(c.config.ClientSecret)
}
