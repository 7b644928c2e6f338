// Package password turns passwords into argon2id hashes and checks them.
//
// One hash takes 19 MiB of memory and some 40 ms of a processor. How many run
// at once is bounded by the number of processors, so a flood of sign-ins waits
// in line and cannot exhaust the machine.
package password
