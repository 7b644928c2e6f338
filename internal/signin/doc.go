// Package signin lets a practice's users sign in to the pages: it checks
// passwords and second factors, keeps sessions in the database, and slows
// guessing down. It draws no page.
//
// The way in, file by file:
//
//	password.go   e-mail address and password ── wrong ──▶ ErrWrong
//	   │              each try is counted first (throttle.go) ──▶ *Throttled
//	   ▼
//	factor.go     a code of an authenticator, or a recovery code, where the
//	   │              user has turned the second factor on
//	   ▼
//	sessions.go   a session: a cookie in the browser, its SHA-256 in the database
//	   │
//	   ▼
//	visitor.go    on every request: session → user → caller, who is confined to
//	                  the practice like the caller of an API request
//
// Files access.go and events.go end it all: sessions, tokens and what applications
// hold, one function per event (a changed password, a disabled user, …).
//
// Lifetimes: a session ends 12 hours after sign-in (Lifetime), after 2 hours
// without a page (IdleLife), when it is ended on the sessions page, or by an
// event; always with the next request and on every server process, because each
// request asks the database. A request that is under way when its session ends
// gives no access any more: making a session, a code or a token holds the user's
// row and looks again (store.HoldAccess).
//
// Guessing: failures count for 15 minutes. Ten failures for an account from
// one address, thirty for an account from addresses it never signed in from,
// or a hundred from one address for any accounts, make further tries wait
// (fewer for second factors). An address from which the account has signed in
// within 90 days counts for itself alone: whoever guesses elsewhere does not
// lock the owner out.
package signin
