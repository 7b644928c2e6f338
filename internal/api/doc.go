// Package api implements the operations that are more than a generated read or write, and the
// rules of writes: one file per resource that has any.
//
//	server (checks the token and scope, reads query and body)
//	  └▶ ogent (routes, decodes) ─▶ a method here, or a generated one (ogent.Writes)
//	       read:   filters (generated) and rules (here) ─▶ Ent query ─▶ response form (generated)
//	       write:  package write, which calls the resource's rule here
//
// A failure is a *apierror.Error or internal. Ent confines every query and mutation to the
// caller's practice and site (package schema) and writes the audit log (package store), so
// nothing here does.
package api
