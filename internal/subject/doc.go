// Package subject collects what the database holds about one patient, for the right of access
// (GDPR article 15) and for a move to another system (article 20), and erases it (article 17).
//
//	rows.go       which rows are about a patient: derived from the references of ent.Tables
//	file.go       reads them in one snapshot, and the entries of logs that name them
//	json.go       writes them as JSON; html.go: as a page to read and print
//	fhir.go       writes FHIR R4: the patient, appointments, account, invoices, treatment, medical alert
//	consent.go    the history of the consent to marketing, from the audit log
//	retention.go  how long records are kept, by country; the entry that keeps one
//	hold.go       legal holds
//	blank.go      which rows and columns stay when a patient is erased
//	erase.go      erases a patient in one transaction
//
// A new table needs no change for the file. If it references a patient, or a row about one, it is in
// the file; if not, TestEveryTableIsAccountedFor asks for a reason in notAboutPatients. An erasure
// removes its rows, unless keptTables names it. TestEveryTableHasAnEntryOrNot asks whether its rows
// keep the record.
package subject
