// Package signin signs users in to the pages: it checks passwords, two-factor codes and
// passkeys, stores sessions in the database, and throttles guessing. It renders no page.
//
// How a user signs in, file by file:
//
//	password.go   e-mail address and password ── incorrect ──▶ ErrWrong
//	   │              each attempt is counted first (throttle.go) ──▶ *Throttled
//	   ▼
//	factor.go     an authenticator's code or a recovery code, or a passkey, if the
//	   │              user has turned on two-factor authentication
//	   ▼
//	sessions.go   a session: a cookie in the browser, its SHA-256 in the database
//	   │
//	   ▼
//	visitor.go    on every request: session → user → principal, confined to the
//	   │              practice as in an API request
//	   ▼
//	confirm.go    the password, a code or a passkey again: after a time without a
//	                  request (the session is locked), and before sensitive pages
//
// A passkey replaces the password and the code:
//
//	passkey_challenge.go   a challenge of five minutes, bound to the browser by a cookie
//	   │                       and to a purpose; its row is deleted by the first response
//	   ▼
//	passkey_use.go         the browser's response: package webauthn verifies it, and the
//	   │                       signature counter must have gone up
//	   ▼
//	sessions.go            a session, as above
//
// passkey_manage.go adds, renames and removes passkeys; passkey.go says for which host name
// they are.
//
// rules.go has what a practice requires: two-factor authentication, the idle lock. browser.go
// recognises browsers by a cookie that gives no access, to tell users of a new one.
//
// access.go and events.go end access: sessions, tokens and authorised applications,
// one function per event (password changed, user disabled, …).
//
// Lifetimes: a session ends 12 hours after sign-in (Lifetime), after 2 hours without
// a request (IdleLife), when it is revoked, or by an event. Every process notices at
// the next request, because each request queries the database. A request that is in
// progress when its session ends cannot create access: creating a session, a code or a
// token locks the user's row and checks again (store.HoldAccess).
//
// Throttling: failures count for 15 minutes. Ten failures for an account from one
// address, thirty for an account from unknown addresses, or a hundred from one address
// for any accounts make further attempts wait (fewer for codes). Passkeys count as
// accounts of their own. An address is known
// for 90 days after the account signed in from it; failures elsewhere do not lock it
// out.
package signin
