// Package token creates, revokes and resolves access tokens.
//
// A token is 256 random bits behind a prefix that says what it is:
//
//	cs_pat_   personal access token, created by a user or on the command line
//	cs_oat_   an application's token from OAuth (package oauth)
//
// The database holds only the SHA-256 of the whole text. A fast hash is enough: 2^256
// values cannot be tried, and the timing of an index lookup reveals nothing about the
// token.
//
// A token expires after 14 days without use (IdleLife). Its last use is written at
// most hourly, so an idle token may expire up to an hour late, never early.
//
// # Scopes
//
// Create refuses scopes beyond the user's role. A token's effective scopes are
// computed from the stored ones whenever it is resolved or shown (Scopes), because the
// role and the application may have changed. Package scope has the table of roles, and
// a type for each kind of scope, so that code cannot mix them up.
//
// # Cache
//
// Every request resolves a token, usually one that was resolved just before:
//
//	Resolve    resolve.go   the token's principal, or the reason why it is refused
//	Get        ../cache     read less than 0.9 s ago: no query
//	read       lookup.go    token, user, practice and application in one query
//
// Revoking a token, disabling its user, changing the role or narrowing an application
// therefore takes effect within a second on every process. In the process that makes
// the change through the client it takes effect with the next request: a commit that
// changes a token, a user, a practice or an application clears the cache. Only
// positive results are cached: before refusing a token the database is queried. Expiry
// follows each request's clock, the age of an entry a monotonic one.
package token
