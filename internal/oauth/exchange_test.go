package oauth_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"chairside/internal/oauth"
)

// request is a valid request with a change or another body, and the expected status
// and error.
type request struct {
	name   string
	change string
	header string // added or replaced: "Name: value"
	body   string // replaces the form
	status int
	word   string // error, "" for none
}

// send sends each request to an endpoint. Errors must not repeat codes, tokens or
// secrets, and must not be cacheable.
func send(t *testing.T, path, good string, requests []request) {
	each(t, func(t *testing.T, w *world) {
		for _, q := range requests {
			t.Run(q.name, func(t *testing.T) {
				w := w.forSubtest(t)
				form := alter(good, q.change)
				if q.body != "" {
					form = q.body
				}
				form = w.fill(form)
				var headers []string
				if q.header != "" {
					headers = []string{w.header(q.header)}
				}
				res := w.post(path, form, headers...).Status(t, q.status)
				if got := res.Header.Get("Cache-Control"); got != "no-store" || res.Header.Get("Pragma") != "no-cache" {
					t.Errorf("Cache-Control %q, Pragma %q", got, res.Header.Get("Pragma"))
				}
				challenged := res.Header.Get("WWW-Authenticate") != ""
				if tried := strings.HasPrefix(q.header, "Authorization: "); q.status == http.StatusUnauthorized && tried != challenged || q.status != http.StatusUnauthorized && challenged {
					t.Errorf("WWW-Authenticate %q", res.Header.Get("WWW-Authenticate"))
				}
				if q.word == "" {
					return
				}
				wantError(t, res, q.status, q.word)
				if res.Text(t, "error_description") == "" || len(res.JSON) != 2 {
					t.Errorf("body %s", res.Raw)
				}
				for _, secret := range []string{"cs_code_", "cs_oat_", "cs_pat_", "cs_secret_", verifier, "evil"} {
					if strings.Contains(string(res.Raw), secret) {
						t.Errorf("%s comes back: %s", secret, res.Raw)
					}
				}
			})
		}
	})
}

// header fills in a header and encodes "Authorization: Basic id:secret".
func (w *world) header(text string) string {
	for _, scheme := range []string{"Basic ", "basic "} {
		if pair, ok := strings.CutPrefix(text, "Authorization: "+scheme); ok {
			return strings.Replace(basic(w.fill(pair)), "Basic ", scheme, 1)
		}
	}
	return w.fill(text)
}

const (
	form   = "Content-Type: application/x-www-form-urlencoded"
	asJSON = "Content-Type: application/json"
	// noClient removes the client's authentication from a body.
	noClient = "client_id&client_secret"
	// publicExchange is the valid exchange of a public application.
	publicExchange = "client_secret&code={publiccode}&" + asPublicClient
	// goodJSON begins the valid exchange as JSON; cases complete it.
	goodJSON = `{"client_id":"{app}","client_secret":"{secret}","grant_type":"authorization_code","redirect_uri":"` + callback + `","code_verifier":"` + verifier + `"`
)

// TestTokenEndpointAcceptsFormsAndJSON, with the secret in the body or in Basic.
func TestTokenEndpointAcceptsFormsAndJSON(t *testing.T) {
	send(t, oauth.TokenPath, goodExchange, []request{
		{"form, secret in the body", "", "", "", 200, ""},
		{"form, Basic", noClient, "Authorization: Basic {app}:{secret}", "", 200, ""},
		{"form, Basic, client_id in both", "client_secret", "Authorization: Basic {app}:{secret}", "", 200, ""},
		{"form with a character set", "", form + "; charset=UTF-8", "", 200, ""},
		{"form, media type in capitals", "", "Content-Type: APPLICATION/X-WWW-FORM-URLENCODED", "", 200, ""},
		{"JSON, secret in the body", "", asJSON, goodJSON + `,"code":"{code}"}`, 200, ""},
		{"JSON, null counts as not sent", "", asJSON, goodJSON + `,"code":"{code}","scope":null}`, 200, ""},
		{"empty parameters count as not sent", "scope=&resource=", "", "", 200, ""},
		{"unknown parameters", "audience=x&foo=y", "", "", 200, ""},
		{"public application", publicExchange, "", "", 200, ""},
		{"without PKCE", "code={barecode}&code_verifier", "", "", 200, ""},

		{"no content type", "", "Content-Type: ", "", 415, invalid},
		{"plain text", "", "Content-Type: text/plain", "", 415, invalid},
		{"multipart", "", "Content-Type: multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=\"code\"\r\n\r\nx\r\n--x--\r\n", 415, invalid},
		{"XML", "", "Content-Type: application/xml", "<code/>", 415, invalid},
		{"JSON said to be a form", "", form, goodJSON + `,"code":"{code}"}`, 401, "invalid_client"},
		{"form said to be JSON", "", asJSON, "", 400, invalid},
		{"empty body", "", form, " ", 401, "invalid_client"},
		{"empty JSON", "", asJSON, " ", 400, invalid},
		{"JSON array", "", asJSON, `[` + goodJSON + `}]`, 400, invalid},
		{"JSON text", "", asJSON, `"code"`, 400, invalid},
		{"JSON nested", "", asJSON, goodJSON + `,"code":{"code":"{code}"}}`, 400, invalid},
		{"JSON array as a value", "", asJSON, goodJSON + `,"code":["{code}"]}`, 400, invalid},
		{"JSON number as a value", "", asJSON, goodJSON + `,"code":1}`, 400, invalid},
		{"JSON boolean as a value", "", asJSON, goodJSON + `,"code":true}`, 400, invalid},
		{"JSON cut off", "", asJSON, goodJSON + `,"code":"{code}"`, 400, invalid},
		{"JSON followed by more", "", asJSON, goodJSON + `,"code":"{code}"}{}`, 400, invalid},
		{"JSON with a member twice", "", asJSON, goodJSON + `,"code":"{code}","code":"{code}"}`, 400, invalid},
		{"JSON with a member twice, once escaped", "", asJSON, goodJSON + `,"code":"{code}","c\u006fde":"{code}"}`, 400, invalid},
		{"JSON with a member twice, once null", "", asJSON, goodJSON + `,"code":"{code}","code":null}`, 400, invalid},
		{"JSON with members in capitals", "", asJSON, goodJSON + `,"CODE":"{code}"}`, 400, invalid},
		{"a body of 64 KiB and more", "x=" + strings.Repeat("x", 64<<10), "", "", 413, invalid},
		{"a malformed form", "code=%zz", "", "", 400, invalid},
		{"a form with semicolons", "code=x;y=z", "", "", 400, invalid},
	})
}

// TestRepeatedParametersAreRefusedAtEachEndpoint, even with equal values.
func TestRepeatedParametersAreRefusedAtEachEndpoint(t *testing.T) {
	for path, good := range endpoints {
		t.Run(strings.TrimPrefix(path, "/oauth/"), func(t *testing.T) {
			requests := []request{{"unknown ones", "x=1&x=1", "", "", 400, invalid}}
			for pair := range strings.SplitSeq(good, "&") {
				name, _, _ := strings.Cut(pair, "=")
				requests = append(requests,
					request{name + " twice the same", pair + "&" + pair, "", "", 400, invalid},
					request{name + " and another", pair + "&" + name + "=evil", "", "", 400, invalid},
					request{name + " and none", pair + "&" + name + "=", "", "", 400, invalid},
					request{name + " again by an encoded name", pair + "&%" + strconv.FormatInt(int64(name[0]), 16) + name[1:] + "=evil", "", "", 400, invalid},
				)
			}
			send(t, path, good, requests)
		})
	}
}

// endpoints are the endpoints, each with a valid request.
var endpoints = map[string]string{
	oauth.TokenPath:      goodExchange,
	oauth.RevokePath:     "client_id={app}&client_secret={secret}&token=x",
	oauth.IntrospectPath: "client_id={app}&client_secret={secret}&token=x",
}

// TestScopesCannotBeEscalatedAtTheExchange, where no user is asked.
func TestScopesCannotBeEscalatedAtTheExchange(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for _, scopes := range []string{"appointment", "patient:read+user:read", "patient", "everything"} {
			res := w.exchange("scope="+scopes).Status(t, 200)
			used := w.Get(t, "/v1/patients?per_page=1", res.Text(t, "access_token")).Status(t, 200)
			if res.Text(t, "scope") != "patient:read" || used.Header.Get("X-OAuth-Scopes") != "patient:read" {
				t.Errorf("asked for %s: %s, the token has %s", scopes, res.Raw, used.Header.Get("X-OAuth-Scopes"))
			}
		}
	})
}

func TestExchangeChecksEachParameter(t *testing.T) {
	const grant = "invalid_grant"
	send(t, oauth.TokenPath, goodExchange, []request{
		{"grant type password", "grant_type=password&username=" + url.QueryEscape("admin@demo.chairside.test") + "&password=demo-password", "", "", 400, "unsupported_grant_type"},
		{"grant type client_credentials", "grant_type=client_credentials", "", "", 400, "unsupported_grant_type"},
		{"grant type refresh_token", "grant_type=refresh_token&refresh_token={code}", "", "", 400, "unauthorized_client"},
		{"grant type implicit", "grant_type=implicit", "", "", 400, "unsupported_grant_type"},
		{"grant type of a device", "grant_type=urn:ietf:params:oauth:grant-type:device_code", "", "", 400, "unsupported_grant_type"},
		{"grant type of an assertion", "grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer&assertion=x", "", "", 400, "unsupported_grant_type"},
		{"grant type in capitals", "grant_type=AUTHORIZATION_CODE", "", "", 400, "unsupported_grant_type"},
		{"grant type missing", "grant_type", "", "", 400, invalid},
		{"grant type empty", "grant_type=", "", "", 400, invalid},

		{"code missing", "code", "", "", 400, invalid},
		{"code empty", "code=", "", "", 400, invalid},
		{"code unknown", "code=cs_code_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "", "", 400, grant},
		{"code with a space after it", "code={code}%20", "", "", 400, grant},
		{"code with NUL after it", "code={code}%00", "", "", 400, invalid},
		{"code cut off", "code=cs_code_", "", "", 400, grant},
		{"code as SQL", "code='%20OR%201=1--", "", "", 400, grant},
		{"code that is broken UTF-8", "code=%ff%fe", "", "", 400, invalid},
		{"code of another client", "code={othercode}", "", "", 400, grant},
		{"code of a public client", "code={publiccode}&redirect_uri=" + publicCallback, "", "", 400, grant},
		{"code that was used", "code={usedcode}", "", "", 400, grant},
		{"own code, by another client", "client_id={other}&client_secret={othersecret}", "", "", 400, grant},
		{"own code, by another practice's client", "client_id={second}&client_secret={secondsecret}", "", "", 400, grant},
		{"own code, by a public client", "client_secret&client_id={public}", "", "", 400, grant},

		{"redirect_uri missing", "redirect_uri", "", "", 400, invalid},
		{"redirect_uri empty", "redirect_uri=", "", "", 400, invalid},
		{"redirect_uri with a slash at its end", "redirect_uri=" + callback + "/", "", "", 400, grant},
		{"redirect_uri in capitals", "redirect_uri=" + strings.ToUpper(callback), "", "", 400, grant},
		{"redirect_uri that is another registered one", "redirect_uri=" + localCallback, "", "", 400, grant},
		{"redirect_uri of somebody else", "redirect_uri=https://evil.example/callback", "", "", 400, grant},
		{"redirect_uri with NUL", "redirect_uri=" + callback + "%00", "", "", 400, invalid},
		{"redirect_uri that is broken UTF-8", "redirect_uri=" + callback + "%ff", "", "", 400, invalid},

		{"verifier missing", "code_verifier", "", "", 400, grant},
		{"verifier empty", "code_verifier=", "", "", 400, grant},
		{"verifier wrong", "code_verifier=" + strings.Repeat("w", 43), "", "", 400, grant},
		{"verifier that is the challenge", "code_verifier={challenge}", "", "", 400, grant},
		{"verifier with a letter more", "code_verifier=" + verifier + "x", "", "", 400, grant},
		{"verifier in capitals", "code_verifier=" + strings.ToUpper(verifier), "", "", 400, grant},
		{"verifier too short", "code_verifier=" + verifier[:42], "", "", 400, grant},
		{"verifier too long", "code_verifier=" + strings.Repeat("v", 129), "", "", 400, grant},
		{"verifier with a character of no verifier", "code_verifier=" + verifier + "%20", "", "", 400, grant},
		{"verifier with NUL", "code_verifier=" + verifier + "%00", "", "", 400, invalid},
		{"verifier where there was no challenge", "code={barecode}", "", "", 400, grant},
		{"public, verifier missing", publicExchange + "&code_verifier", "", "", 400, grant},
		{"public, verifier wrong", publicExchange + "&code_verifier=" + strings.Repeat("w", 43), "", "", 400, grant},
	})
}

// TestParametersInTheURLAreRefused, because URLs end up in logs.
func TestParametersInTheURLAreRefused(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		code := w.code(w.admin, "")
		for _, path := range []string{oauth.TokenPath, oauth.RevokePath, oauth.IntrospectPath} {
			for _, query := range []string{"code=" + code, "client_secret={secret}", "access_token=x", "scope=", "x"} {
				wantError(t, w.post(path+"?"+w.fill(query), alter(goodExchange, "code="+code)), 400, invalid)
			}
		}
		w.exchange("code="+code).Status(t, 200)
	})
}

func TestTokenResponseFollowsRFC6749(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		asked := "scope=user:read+appointment+user:read"
		res := w.exchange("code="+w.code(w.admin, asked)).Status(t, 200)
		if got := res.Text(t, "access_token"); !strings.HasPrefix(got, "cs_oat_") || len(got) != len("cs_oat_")+43 {
			t.Errorf("access_token %s", got)
		}
		for name, want := range map[string]string{"token_type": "bearer", "scope": "appointment user:read"} {
			if got := res.Text(t, name); got != want {
				t.Errorf("%s %q, want %q", name, got, want)
			}
		}
		if len(res.JSON) != 3 || res.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s", res.Header.Get("Content-Type"), res.Raw)
		}
		used := w.Get(t, "/v1/user", res.Text(t, "access_token")).Status(t, 200)
		if got := used.Header.Get("X-OAuth-Scopes"); got != "appointment user:read" {
			t.Errorf("the token has the scopes %q", got)
		}
		w.Get(t, "/v1/patients?per_page=1", res.Text(t, "access_token")).Error(t, 403, "insufficient_scope")
	})
}
