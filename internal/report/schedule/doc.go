// Package schedule runs reports once a week, and stores their files in a directory or mails them.
//
//	manage.go   adding a schedule, and its state in words
//	every.go    the day of the week and the time, in the practice's time zone
//	period.go   the days that a report covers
//	   │ due
//	   ▼
//	run.go      leases: of any number of server processes, one makes an attempt
//	attempt.go  one attempt: rights, report, delivery, outcome, back-off
//	   │  folder.go   a file under a temporary name, then renamed
//	   │  mail.go     a mail with the file, by SMTP with STARTTLS
//	   ▼
//	the next due time
//
// # Guarantees
//
// Each due time has one successful run, whatever the number of servers and restarts; after a crash it may be delivered
// twice. If servers were down at several due times, the schedule runs for the last of them alone.
//
// A lease belongs to one attempt: what an attempt records counts only while the schedule has the number of
// its lease. A process that dies between delivery and record leaves the schedule due, and another process
// delivers again when the lease ends: the file of the same name is replaced by the same report, and the second
// mail has the Message-ID of the first, by which many mail systems recognise duplicates.
//
// The report has the rights that the user of the schedule has at the run. A schedule stops, and says why, when
// the user is disabled, when the user's role no longer allows the report, or when the mail server has refused the
// mailbox or the mail for good at three due times. Until then a refused mail is tried again once a day. Whatever else
// goes wrong is tried again, with longer and longer pauses, until it succeeds or the schedule is removed.
//
// Mails name the report, its period and the practice, and no patient. The log and the state of a schedule have neither
// addresses nor what a mail server says, which may repeat them.
package schedule
