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
// last use is written at most once an hour, so a token may die up to an hour
// early, never late. Revoking it, or disabling its user, works with the next
// request, because Resolve asks the database every time.
package token
