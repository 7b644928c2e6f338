// Package oauth is the authorization server: users authorise applications, which get
// tokens that act for them (RFC 6749, section 4.1, with RFC 7636, 7009, 7662, 8414 and
// 9207, and the advice of RFC 9700). Package web renders the pages.
//
// The flow, file by file:
//
//	application              browser                     this server
//	     │                      │   register: name, redirect URIs, scopes
//	     │◀── client id, secret (shown once) ──────────────── applications.go
//	     │                      │
//	     ├─ GET /oauth/authorize ──────────────────────────▶ request.go
//	     │  client_id, redirect_uri, response_type=code,       checks the request
//	     │  scope, state, code_challenge (S256)
//	     │                      │◀───── sign-in, consent page (web)
//	     │                      ├── allow ─────────────────▶ authorize.go
//	     │◀─ redirect: code, state, iss ────────────────────   code: 10 minutes, once
//	     │                      │
//	     ├─ POST /oauth/token ─────────────────────────────▶ client.go   authenticates
//	     │  code, redirect_uri, code_verifier                 exchange.go code → token
//	     │◀─ access_token: 14 days, extended by every use;
//	     │   with refresh_token: an hour
//	     ├─ POST /oauth/token, only with refresh tokens ────▶ refresh.go
//	     │◀─ the next access_token and refresh_token          14 days, once
//	     │
//	     ├─ API requests with the token ───────────────────▶ package token
//	     ├─ POST /oauth/introspect ────────────────────────▶ introspect.go
//	     └─ POST /oauth/revoke ────────────────────────────▶ revoke.go
//
// metadata.go serves the discovery document, params.go parses requests, respond.go
// writes all responses and errors, authorizations.go lists and revokes a user's
// authorisations.
//
// The server has no state in memory: every decision reads the database and therefore
// holds on every process. Only resolved tokens are cached, for less than a second
// (package token). Client secrets, codes and tokens are 256 random bits, stored only
// as SHA-256, and compared in constant time.
//
// The user's role limits what an application gets (package scope). Scopes beyond the
// role are left out: the consent page lists them, and the token response names the
// scopes granted. Narrowing an application narrows its tokens.
//
// Any user of the installation can authorise an application, whichever practice
// registered it. Its token acts as that user in that user's practice.
//
// An application gets refresh tokens only if it is registered for them. All tokens of one
// authorization are one row of access_tokens, whose value each refresh replaces. So whatever
// revokes that row ends the refresh tokens too, and its rate limit goes on. The access token
// expires after an hour, because a client that refreshes needs no longer one, and a refresh
// token lives as long without use as other tokens do.
//
// Rules:
//
//   - Never redirect before the application and the redirect URI are known to be
//     valid. Redirect URIs are compared exactly.
//   - One statement with all conditions uses a code. A second use gets nothing and
//     revokes the token of the first. The same holds for refresh tokens, which in addition
//     may narrow the scopes of one access token but never widen them.
//   - A code without a challenge accepts no verifier, and one with a challenge
//     requires it: PKCE cannot be stripped from a request.
//   - A repeated parameter is refused.
package oauth
