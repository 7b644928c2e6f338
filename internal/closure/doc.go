// Package closure closes a practice on a day and deletes everything that it owns.
//
//	Schedule   a day in the future; the practice works as before    schedule.go
//	   │ Cancel cancels it, until the deletion begins
//	   ▼ the day
//	closed     no sign-in, no token: packages signin and token read practices.closes_at
//	   │ after three minutes at most, unless it waits: see below
//	Run        deletes all rows in short transactions; one process at a time    delete.go
//	   ▼
//	the row in practice_deletions stays: which practice, when, and where its records are kept
//
// # What must not go wrong
//
//   - Records that must be kept wait for the operator. A deletion that was requested without saying where
//     they are does not begin while the law or a legal hold keeps one. Otherwise it does not begin if
//     a patient's record changed, or a legal hold began, after the request. Schedule, called again, confirms. Once a run
//     has noted began_at, nothing stops it.
//   - A run that is interrupted is continued: every run deletes whatever is left.
//   - A transaction deletes a bounded number of rows, so others wait for milliseconds.
//   - Rows go before those that they refer to: the reverse of ent.Tables.
//   - Nothing of other practices goes, except their tokens for the practice's applications, which their
//     audit logs record.
//   - The audit log and earlier texts of notes are append-only for both roles of row-level security.
//     A function in the database, which belongs to the tables' owner, deletes their rows of a
//     practice that is due. Only the owner writes practice_deletions, so neither role can make a
//     practice due (package rowsecurity).
package closure
