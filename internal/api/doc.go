// Package api is what the operations do: one file per resource, one method per
// operation that is more than a plain read.
//
//	server (token, scope, query and body read)
//	  └▶ ogent (route, decode) ─▶ a method here, or ogent.Reads
//	       read:   filters (generated) + rules (here) ─▶ ent query ─▶ response form (generated)
//	       write:  one transaction: find and lock ─▶ If-Match ─▶ read the clock ─▶ all field errors ─▶ conflict ─▶ save ─▶ read back
//	               (a booking saves under conditions, and asks for errors where they do not hold)
//
// Every failure is a *apierror.Error or is internal. Ent adds the caller's
// practice and site to every query and mutation, and the record of changes to
// every write (packages schema and store); nothing here asks for either.
package api
