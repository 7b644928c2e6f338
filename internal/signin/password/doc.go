// Package password checks new passwords, hashes them with argon2id and verifies them.
//
//	Choose   password.go   checks and hashes: the only way to a hash to store
//	Check    check.go      length, common passwords, the user's own names
//	Verify   password.go   compares a password with a hash
//
// Everything that stores a password takes a Chosen, so no page or command can skip
// the check.
//
// A hash takes 19 MiB of memory and about 40 ms of processor time. The number of
// processors bounds how many run at once: a flood of sign-ins queues and cannot
// exhaust the machine.
package password
