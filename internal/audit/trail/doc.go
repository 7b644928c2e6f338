// Package trail writes what a server notes about requests, in batches, so that no request waits for
// it: the entries of the audit log that are no writes (Trail), and the request log (Requests).
//
// Entries of the audit log are reads of patients' data, sign-ins, refusals, reports and exports.
// (Package store writes those of writes, in their transactions.) They are written every second in
// one transaction. Reads of one caller by one operation within that second become one entry. The
// server's log has a line about each of them before the response leaves, and so before the entry is
// written: after a crash, the lines of the last second are the record.
//
// The request log is for developers: the recent requests of each token, without ids, queries and
// bodies. Its cost and its size are bounded. Of requests within a second that have the same token,
// route, status and error code, only the first get an entry, and the last entry counts the others. A
// practice has at most about 10,000 entries, for a week. It is not evidence: a crash or a failing
// database loses entries.
package trail
