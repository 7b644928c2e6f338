// Package etag makes and compares entity tags (RFC 9110, sections 8.8.3 and 13.1).
//
// A tag is the hash of a response body, so the response to a write and the next read of the
// record have the same tag, and nothing is stored. In lists a position may follow (At). The
// server tags every response and compares If-None-Match. If-Match is passed in the context,
// because it is compared inside the transaction of the write (behaviour.md section 6).
package etag
