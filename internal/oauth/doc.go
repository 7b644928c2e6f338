// Package oauth is the authorization server: it lets users give applications a
// token that acts for them (RFC 6749, section 4.1, with RFC 7636, 7009, 7662,
// 8414, 9207 and the advice of RFC 9700). It decides and records; the pages of
// package web draw what a user sees.
//
// The flow, file by file:
//
//	application              browser                     this server
//	     │                      │   register: name, redirect addresses, scopes
//	     │◀── client id, secret (shown once) ──────────────── applications.go
//	     │                      │
//	     ├─ GET /oauth/authorize ──────────────────────────▶ request.go
//	     │  client_id, redirect_uri, response_type=code,       who asks, where to,
//	     │  scope, state, code_challenge (S256)                for what: checked
//	     │                      │◀───── sign-in, consent page (web)
//	     │                      ├── allow ─────────────────▶ authorize.go
//	     │◀─ redirect: code, state, iss ────────────────────   code: 10 minutes, once
//	     │                      │
//	     ├─ POST /oauth/token ─────────────────────────────▶ client.go   who asks
//	     │  code, redirect_uri, code_verifier                 exchange.go code → token
//	     │◀─ access_token: 14 days, renewed by every use
//	     │
//	     ├─ API requests with the token ───────────────────▶ package token
//	     ├─ POST /oauth/introspect ────────────────────────▶ introspect.go
//	     └─ POST /oauth/revoke ────────────────────────────▶ revoke.go
//
// metadata.go tells programs where all this is, params.go reads what they send,
// respond.go is the one place that answers them, errors included.
// authorizations.go shows users what they have allowed, and takes it back.
//
// Nothing is kept in memory: every decision reads the database, so it holds on
// every server process at once; only that a token is in use is remembered for
// less than a second (package token). Client secrets, codes and tokens are 256
// random bits, stored as SHA-256 alone, and compared in constant time.
//
// A user gives an application no more than the user's role may hold (package
// scope). What it asks for beyond that is left out: the consent page lists it, and
// the answer to the exchange has the scopes that were granted. Narrowing an
// application narrows the tokens that it holds.
//
// An application may be authorised by any user of the installation, whichever
// practice registered it; its token acts as that user in that user's practice.
//
// Rules that are easy to break:
//
//   - The browser is sent nowhere before the application and the redirect
//     address are known to be good, and that address is compared exactly.
//   - A code is used by one statement that holds all conditions. Whoever comes
//     second gets nothing, and ends the token that the first one got.
//   - A code without a challenge takes no verifier, and one with a challenge
//     takes no exchange without: PKCE cannot be stripped from a request.
//   - A parameter that comes twice is refused, wherever it stands.
package oauth
