// Package audit collects which patients' records a request reads, for one log line.
//
// The server puts an empty Log into the context of a request (With). Code that loads rows
// notes their ids (From, Note), and the server logs one line when the request has ended. A
// Log holds only ids, never names or values. Answers to custom fields have no id in a
// response, so the record that they belong to is noted instead.
package audit
