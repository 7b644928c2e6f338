// Package provision sets up a new practice and its people: everything a practice
// needs before its first appointment can be booked (behaviour.md section 8).
//
//	Practice   practice.go   site, opening hours, first user, working sessions
//	content    content.go    the reasons, plans, treatments and fees it starts with
//	User       user.go       a further user; also a practitioner, where the role treats patients
//
// The caller gives the client of a transaction, so that there is all of a
// practice or nothing of it.
package provision
