// Command chairside is the server, its migrations, and the administration of
// practices, users and tokens, in one program.
//
// Each command has its own file: a struct with its flags (from package config) and a
// Run method. Results go to standard output; prompts, progress and logs to standard
// error. The exit status is 0 for success, 1 for failure and 2 for wrong usage.
package main
