// Command chairside is the whole product in one program: the server, the
// migrations, and the administration of practices, users and tokens.
//
// Every command is a struct in a file of its own, with its flags (from package
// config) and a Run method. Results go to standard output; prompts, progress
// and logs to standard error. The exit status is 0 when the work was done, 1
// when it failed, and 2 when the command was called wrongly.
package main
