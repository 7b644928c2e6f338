// Package trail writes the entries of the audit log that are no writes: reads of patients' data,
// sign-ins, refusals, reports and exports. (Package store writes those of writes, in their
// transactions.)
//
// A server collects them and writes them every second in one transaction, so that a read does not
// wait for them. Reads of one caller by one operation within that second become one entry. The
// server's log has a line about each of them when the request ends, before the entry is written:
// after a crash, the lines of the last second are the record.
package trail
