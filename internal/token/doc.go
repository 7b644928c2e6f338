// Package token makes access tokens and finds out for whom one acts
// (behaviour.md section 7).
//
// A token is 256 random bits behind a prefix that tells what it is:
//
//	cs_pat_   personal token, made by a user or on the command line
//	cs_oat_   given to an application by OAuth (package oauth)
//
// Only the SHA-256 of the whole text is stored. A fast hash is enough: nobody
// can try 2^256 values, and looking the hash up in an index tells an attacker
// who measures times nothing about the token behind it.
//
// A token lives as long as it is used at least every 14 days (IdleLife). Its
// last use is written at most once an hour, so an idle token may die up to an
// hour late, never early.
//
// # Scopes
//
// Create refuses scopes that the user's role may not hold. What a token may do is
// computed from its stored scopes whenever it is resolved or shown (Scopes): the
// role and the application may have changed since. Package scope has the table of
// roles, and a type for each of the two, so that no code mixes them up.
//
// # Remembering
//
// Every request has a token, and most have one that was just asked for:
//
//	Resolve    resolve.go   for whom the token acts, or why it lets nobody in
//	Get        ../cache     read less than 0.9 s ago: no query
//	read       lookup.go    token, user, practice and application in one query
//
// So revoking a token, disabling its user, changing the user's role or narrowing
// an application works within a second on every process, whoever did it and how.
// In the process that does it through the client, it works with the next request:
// a commit that changes a token, a user, a practice or an application empties the
// memory. Only what lets somebody in is believed
// without asking; an unknown token is not remembered at all. Ends are judged by
// the clock of each request, the age of what is remembered by one that nobody
// sets.
package token
