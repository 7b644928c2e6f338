// Package chairside is the map of the repository.
//
//	schema/              source of truth: one file per entity with its columns, edges, checks and its whole API
//	schema/ask           queries to a practice's records, for other Go programs
//	ent/, ogent/         generated from it; never edited
//	internal/codegen     the generator
//	internal/apispec     the annotations it reads; apispec/limit: what the values of a column may be
//	internal/entx        what generated ent code calls; entx/rowscan: scans rows; entx/table: describes all tables
//	internal/list        reads a page of a list; internal/write: creates, updates and deletes a row; write/etag: entity tags
//	internal/api         the rules of operations, one file per resource that has any
//	internal/diary       overlaps and slots, pure
//	internal/server      the HTTP server around the operations
//	internal/codec       decodes and validates the values of bodies and queries
//	internal/apierror    the one error type that reaches a client
//	internal/principal   who is calling; internal/token: resolves tokens; internal/scope: what they may do
//	internal/audit       which patients' records a request has read
//	internal/cache       a cache for less than a second, with single flight
//	internal/civil       days; internal/clock: the time of a request; internal/decimal: money
//	internal/oauth       the authorization server: applications, codes, tokens
//	internal/signin      sessions and second factors; signin/password: hashing and checks
//	internal/web         the pages: sign-in, consent, settings, reports
//	internal/report      reports for managers and analysts, and their rendering
//	internal/dump        exports and restores a whole installation, between databases
//	internal/importer    CSV files of other systems into a practice
//	internal/store       databases: opening, transactions, errors; below it connections, admission, counters, bulk loading and migrations
//	internal/seed        demo data; internal/provision: a new practice
//	internal/config      flags and environment
//	internal/arch        import rules as tests, decisions/, departures.md
//	internal/test        harness, contract suite, browser suite, local PostgreSQL servers
//	cmd/chairside        the program, one file per command
//	cmd/chairside-bench  measures it beside a hand-written server
//
// After a change of schema/:
//
//	go generate ./...
//	go run ./internal/store/diff NAME
//
// .github/CONTRIBUTING.md has recipes.
package chairside

//go:generate go run ./internal/codegen/generate
