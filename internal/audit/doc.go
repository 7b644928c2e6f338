// Package audit collects which patients' records a request reads, for one log line.
//
// The server puts an empty Log into the context of a request (With). Code that loads rows
// notes their ids (From, Note), and the server writes a line from the Log when the request
// has ended. A Log holds ids only, never names or values. Answers to custom fields have no
// id in a response, so they are noted as the record that they belong to.
package audit
