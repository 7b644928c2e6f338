// Package audit collects which patients' records a request reads, for the log.
//
// The server puts an empty Log into the context of a request (With). Code that loads rows
// notes their ids (From, Note), and the server logs them (TakeReads) before it sends the
// first byte of the response, or of the next part of a response that is sent while it is read. A
// Log holds only ids, never names or values. Answers to custom fields have no id in a
// response, so the record that they belong to is noted instead.
package audit
