package oauth_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"chairside/internal/oauth"
	"chairside/internal/test/harness"
)

// TestConcurrentExchangesRedeemACodeOnce through two servers on one database; the
// other uses revoke the token.
func TestConcurrentExchangesRedeemACodeOnce(t *testing.T) {
	const codes, racers = racedCodes, 50
	for name, database := range databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			where := database(t)
			w := build(t, harness.Start(t, where))
			servers := []string{w.URL, harness.Start(t, where).URL}
			client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: racers}}
			defer client.CloseIdleConnections()
			shown := w.authorize(w.admin, "").Form(t, oauth.AuthorizePath)
			won := 0
			for range codes {
				to := w.admin.Submit(shown, url.Values{"decision": {"allow"}}).Redirect(t)
				form := w.fill(alter(goodExchange, "code="+to.Query().Get("code")))
				tokens := w.race(client, servers, form, racers)
				if len(tokens) > 1 {
					t.Fatalf("a code was redeemed %d times", len(tokens))
				}
				won += len(tokens)
				for token := range tokens {
					w.Get(t, "/v1/patients?per_page=1", token).Error(t, 401, "invalid_token")
				}
			}
			if won != codes {
				t.Errorf("of %d codes %d were redeemed", codes, won)
			}
		})
	}
}

// race sends the same exchange many times at once and returns the tokens.
func (w *world) race(client *http.Client, servers []string, form string, racers int) (tokens map[string]bool) {
	tokens = map[string]bool{}
	var mu sync.Mutex
	var all sync.WaitGroup
	start := make(chan struct{})
	for racer := range racers {
		all.Go(func() {
			<-start
			token, err := redeem(client, servers[racer%len(servers)], form)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				w.t.Error(err)
			}
			if token != "" {
				tokens[token] = true
			}
		})
	}
	close(start)
	all.Wait()
	return tokens
}

// redeem returns the token of an exchange, or "" for a correct refusal.
func redeem(client *http.Client, server, form string) (token string, err error) {
	r, err := http.NewRequest(http.MethodPost, server+oauth.TokenPath, strings.NewReader(form))
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := client.Do(r)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return "", err
	}
	var body struct {
		AccessToken string `json:"access_token"`
		Error       string `json:"error"`
	}
	if err := json.Unmarshal(raw, &body); err != nil {
		return "", err
	}
	refused := res.StatusCode == http.StatusBadRequest && body.Error == grant
	if given := res.StatusCode == http.StatusOK && body.AccessToken != ""; !given && !refused {
		return "", fmt.Errorf("answered %d %s", res.StatusCode, raw)
	}
	return body.AccessToken, nil
}

// TestRevokingAnAuthorizationBeatsAConcurrentExchange: no token is left.
func TestRevokingAnAuthorizationBeatsAConcurrentExchange(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.token(w.admin) // the authorization to revoke
		shown := w.authorize(w.admin, "").Form(t, oauth.AuthorizePath)
		for range 10 {
			to := w.admin.Submit(shown, url.Values{"decision": {"allow"}}).Redirect(t)
			form := w.fill(alter(goodExchange, "code="+to.Query().Get("code")))
			var token string
			var err error
			var all sync.WaitGroup
			all.Go(func() { token, err = redeem(http.DefaultClient, w.URL, form) })
			all.Go(func() {
				if p := w.admin.Post("/settings/authorizations/"+w.names["{app}"]+"/revoke", url.Values{}); p.Code != http.StatusSeeOther {
					t.Errorf("taking back: status %d", p.Code)
				}
			})
			all.Wait()
			if err != nil {
				t.Error(err)
			}
			if token != "" {
				w.Get(t, "/v1/patients?per_page=1", token).Error(t, 401, "invalid_token")
			}
		}
	})
}
