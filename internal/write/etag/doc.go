// Package etag makes and compares entity tags (RFC 9110, sections 8.8.3 and 13.1).
//
// A tag is derived from the bytes of a response, so the answer to a write and
// the next read of the same record carry the same tag without anything being
// stored. The server makes the tag of every answer and compares If-None-Match;
// If-Match travels in the context, because it has to be compared inside the
// transaction of the write (behaviour.md section 6).
package etag
