// Package audit collects which patients' records a request has read, for the
// record of accesses that the server writes to its log.
//
// The server puts an empty Log into the context of a request (With); what
// loads rows notes their ids (From, Note); when the request is done the server
// writes one line from the Log. Nothing but ids is ever kept: no names, no
// values. What has no id in any response (answers to custom fields) is not noted
// by itself: the record it is part of is.
package audit
