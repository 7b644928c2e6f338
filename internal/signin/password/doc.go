// Package password decides which passwords may be chosen, turns them into
// argon2id hashes and checks them.
//
//	Choose   password.go   the only way from a text to a hash that is stored
//	Check    check.go      length; not common, not the user's own name
//	Verify   password.go   does this password have that hash?
//
// Everything that stores a password takes a Chosen, so a new page or command
// cannot forget the rule.
//
// One hash takes 19 MiB of memory and some 40 ms of a processor. How many run
// at once is bounded by the number of processors, so a flood of sign-ins waits
// in line and cannot exhaust the machine.
package password
