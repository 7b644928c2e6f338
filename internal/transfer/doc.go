// Package transfer moves data in and out: whole installations between databases
// of either kind, and the CSV files of other systems into a practice.
//
//	err := transfer.Export(ctx, db, "out", transfer.ExportOptions{})
//	done, err := transfer.Restore(ctx, other, "out", transfer.RestoreOptions{})
//	report, err := transfer.Import(ctx, db, "oldsoft", transfer.ImportOptions{Practice: "bright"})
//
// Tables, columns, their order and what they refer to come from the generated
// code (entity.go): a new entity is exported and imported without a change here.
//
//	export   export.go → ndjson.go or nativecsv.go → manifest.go
//	restore  load.go: manifest → checksums → decode → bulk.Tx → sequences
//	import   import.go, for each file in the order of dependencies, 2500 rows at a time:
//	         source.go     a row of the file, its line, its bytes
//	         ahead.go      the next rows, while those before are stored
//	         plan.go       mapping × header × entity, made once (mapping.go, target.go, phrase.go, fields.go)
//	         record.go     texts → values: foreign.go, calendar.go, then the API's codec.Field
//	         batch.go      which row it is already; what it refers to (parents.go, unique.go)
//	         rules.go      rules and derived columns (derive.go), with the functions of package schema
//	         write.go      new rows, changed rows, the record of changes (children.go, explain.go, answers.go)
//	         turn.go       in the order of the file, also where two batches are stored at a time
//	         note.go       how far it has come, in the same transaction
//	         settle.go     then the totals of the practice (sums.go, trim.go)
//	         compare.go    and what the files said of them
//
// # An export
//
// One file for each table in the order of dependencies, rows in the order of
// their ids, and manifest.json: layout, latest migration, and for each file its
// rows, SHA-256 and the last id the table gave out. All files show the database at
// one moment. The same data give the same bytes, whichever database they are in.
//
// NDJSON has one object a line with every column in the table's order. Amounts
// are strings with two fraction digits, times RFC 3339 in UTC, bytes base64.
// CSV has the same texts under a header; \N is null, a backslash is \\ and a
// carriage return \r. What lives for moments stays behind (lists.go): sessions,
// authorization codes, sign-in attempts, and the progress of imports.
//
// A restore needs an empty database with the same migrations. It is one
// transaction: killed, it leaves nothing and is started again; done, it is noted
// and a second one does nothing. Memory does not grow with the rows.
//
// # From SQLite to PostgreSQL
//
// A practice that outgrows the embedded database stops its server, and
//
//	chairside export out --database-url sqlite:chairside.db
//	chairside migrate up --database-url postgres://…
//	chairside import out --database-url postgres://…
//
// Users, passwords, tokens, ids and the record of changes are the same after it;
// people who were signed in sign in again. The other direction works as well.
//
// # The files of another system
//
// mapping.yaml (or mapping.json) beside the files says how they are read. Only
// source, and file and entity of each file, are required.
//
//	source: oldsoft            the other system; part of the identity of its records
//	practice: bright           id or short name, unless --practice or the only one
//	loose_ids: true            ids are the same that differ in case or, being numbers, in zeros
//	                           in front; otherwise 00123 is not 123, but 123.0 always is
//	encoding: latin-1          utf-8 (default), latin-1, windows-1252, or mixed: UTF-8 where it
//	                           is; others that begin with the mark of UTF-8 or UTF-16 are that
//	delimiter: ";"             or tab; default the most frequent of , ; tab | in the header
//	dates: [DD/MM/YYYY]        forms of dates, beside ISO 8601; a date that two forms read
//	                           differently is refused; a time of day may follow any of them
//	times: ["D MMM YYYY h:mm a"]   other forms of dates with times; unix or unix ms counts
//	                           seconds or milliseconds since the beginning of 1970, excel
//	                           the days of spreadsheets, as in 45123.5; dates may have these too
//	time_zone: UTC             of times without an offset; default the practice's. The day of
//	                           a time is the practice's; midnight is a day alone
//	decimal_mark: ","          of all numbers; default a point
//	nulls: [NULL, n/a]         texts that are no value; default NULL and \N
//	files:
//	  - file: patients.csv
//	    entity: patients       the table, as in the API
//	    header: 3              its line, where others stand above it
//	    id: PatNo              column of the id there, or several; "line" for the line's number;
//	                           "A{No}" for A and what column No says. Default legacy_id or id;
//	                           [] for records that can be there only once
//	    only: {Deleted: ~, Kind: [PAY, REF]}   rows that say this in these columns ("*" is any
//	                           word); others are not read. A file may be listed for several
//	                           entities, and again for the same one: for other rows, or for
//	                           the fees of another plan
//	    columns:               column → field; columns named like a field map themselves
//	      Surname: last_name
//	      Date: [start_time, finish_time]     a column may go to several fields; columns of
//	      From: start_time                    the same field are joined by a space
//	      Shoe Size: ~                        goes nowhere
//	      Sex: {field: gender, values: {1: male, 2: female, "*": ~}}    "*" is any other word
//	      Name:
//	        - {field: last_name, match: "^([^,]+),[^,]+$"}
//	        - {field: first_name, match: "^[^,]+, *([^,]+)$"}
//	                           the part in brackets, or all that matches; a row in which
//	                           something else stands there is refused
//	      DOB: {field: date_of_birth, dates: [DD.MM.YY]}
//	      Dentist: {field: dentist_id, by: email, missing: blank}
//	      Owes: {field: claimed_balance, negate: true, default: "0"}
//	      Pence: {field: opening_balance, hundredths: true}
//	      Ref: metadata.old_reference
//	    constants: {ethnicity: "99", metadata.shelf: "{Room}/{PatNo}"}     in a constant or a
//	                           default, {Room} is what the row has in that column; where that is
//	                           blank, all of it is. "{Initials}@staff.invalid" is an address for
//	                           a user without
//	    # encoding … nulls also here, for one file
//
// A reference holds a legacy id of the file of its entity, or the name by which
// people know such a record: e-mail address of users and practitioners, else
// name, nomenclature or reason. by names another column of it (a practitioner's
// are also its user's), full_name, legacy_id, or id for an id of ours. One that
// finds nothing, or two records, refuses its row; with missing: blank the field
// stays empty and a warning is written. An id of several columns is referred to by
// as many, in the same order; by: legacy_id says so where there are names as well.
//
// Amounts may have a currency, thousands apart, a dash for pence as in 12,-, and what
// is left of binary fractions as in 37.199999999999996; £ - is nothing. yes, no, Y, N,
// 1, 0 are booleans; titles, states and other words of a list are found in any case.
// Dates may have an English day of the week before them, 1st for 1, and Sept for Sep.
// Dates with two digits for the year are at most 20 years ahead, of birth not in the
// future. A day alone is its first moment, but not when something starts or ends. A
// time alone may stand behind a day such as 30/12/1899 or 1900-01-01, and a day alone
// before midnight, as databases write them. Texts are trimmed, and freed of the
// formula of spreadsheets, as in ="00123". Lists of teeth are separated by commas,
// semicolons, slashes, bars or spaces; Palmer's 6| and |6 stay as they are. A weekday
// is 0 for Sunday to 6, or its English name; the minutes of a working session may be
// times of day.
//
// Fields follow from others where a file does not give them: the account and the
// site of an invoice from its patient, the patient of a treatment from its plan
// (and again where the plan changes it; of claims and answers, when their rows come
// again), an appointment's end from its duration, an item's price from its total.
// Patients take opening_balance. A payment takes invoice_id and then pays that
// invoice, with what is left of both; its patient is that of the invoice where no
// column says so. Without a file of items an invoice that has none gets one, until
// its own arrive.
//
// Amounts that follow from other rows are computed, never taken over: what a file
// says of them (amount and amount_outstanding of invoices, total_price of items,
// amount_unexplained of payments, current_balance of accounts, claimed_balance of
// patients, and so on) is compared with what the rows come to.
//
// # What becomes of a row
//
// A row's legacy id is remembered in imported_records, and on patients also in
// legacy_id; one with it there that no other source has brought is taken for the
// same. With loose ids it is remembered as it is spelled, too: whether they are
// loose may change between imports of files that spell them alike. Where that makes
// one id of those of two records, the row is refused. A row that was imported before
// changes the columns in which it differs, a new one is added; nothing is ever
// deleted, and what was deleted here stays so. Only what pays what is taken back
// where it holds no longer: the payment or the invoice does not count any more, is
// less, or of another patient, or the payment names another invoice. A user with the
// same e-mail address, and other records that can be there only once, are taken for
// the same, but not by two rows of an import; who is an administrator here stays one.
// Each written row leaves a line in the record of changes, without a user, as the
// command line does.
//
// A row that breaks a rule of the API, the schema or the database is written to
// rejects/FILE.csv with its line, the fields, the reasons and its cells; the rest
// goes in. That file has commas and is UTF-8; mended, and in the place of FILE.csv,
// it is read so with the same mapping, and its rows keep their lines. A second row
// with the same legacy id, or of a record that can be there only once, is refused,
// also where it is in another file of the entity: two files that both count from
// one need ids that differ, such as "A{No}" and "B{No}". findings.csv lists what to
// look at about rows that went in: claimed and computed totals (difference), patients
// with the same name and date of birth, appointments to come at the same time, dates
// longer ago than people live or more than 50 years ahead, times that a change of
// clocks skips or repeats, references left empty (warning).
//
// An import that was stopped goes on after the last batch when it is started
// again with the same files and mapping; rejects and findings are those of an
// undisturbed one. Where these are not there any more it begins anew, and finds
// the rows that are in. A dry run does all of it in one transaction, which is
// undone; on an embedded database nobody else can write meanwhile. Memory holds
// four batches at most, the names of the practice's lists, 20 bytes for each row
// of the files of one entity (40 where one of these has no ids), and the numbers of the
// lines of it that were refused.
//
// # What an import costs
//
// It is mostly PostgreSQL's work for the rows it writes, three for the simplest:
// the row, the record of its change, the memory of its legacy id. So rows are
// written with COPY, in the order of their ids, looked up with one argument for
// all of a batch, not looked for among the imported ones where nothing of the kind
// was imported before, and read while others are written. The record and the
// memory have no foreign key and no more index than they need. Where the rows of
// a file have nothing to do with each other (treatments, sources and such lists),
// PostgreSQL writes the rows of a batch while it writes the record and the memory
// of the batch before, on two connections. BenchmarkImport tells what comes of it.
package transfer
