// Package provision creates practices and users: everything that a practice needs
// before its first appointment.
//
//	Practice      practice.go   site, opening hours, first user, working sessions
//	addDefaults   content.go    appointment reasons, plans, treatments and fees
//	User          user.go       a further user; also a practitioner if the role treats patients
//
// The caller passes the client of a transaction, so that a failure leaves nothing
// behind.
package provision
