// Package chairside is the map of the repository.
//
//	schema/              source of truth: one file per resource with its columns, edges, checks and API
//	schema/ask           lets other Go programs query a practice's records
//	ent/, ogent/         generated from schema/; never edited
//	internal/codegen     the generator; codegen/examples: the source of ogent's examples
//	internal/apispec     the schema's API annotations; apispec/limit: limits of column values
//	internal/entx        support code of generated ent code; entx/rowscan: scans rows; entx/table: describes all tables
//	internal/list        reads a page of a list; internal/write: creates, updates and deletes a row; write/etag: entity tags
//	internal/api         hand-written rules of operations, one file per resource
//	internal/diary       overlaps and slots: pure functions
//	internal/server      the HTTP server around the operations
//	internal/codec       decodes and validates bodies and queries
//	internal/apierror    the API's error type
//	internal/principal   the caller; internal/token: resolves tokens; internal/scope: scopes and roles
//	internal/audit       what a request reads, for the audit log; audit/trail: entries that are no writes, and the request log; audit/chain: seals and verifies the log
//	internal/events/idempotency  makes writes safe to send again
//	internal/cache       caches values for less than a second
//	internal/durable     writes files that survive a power failure
//	internal/civil       days; internal/clock: the time of a request; internal/decimal: money
//	internal/ratelimit   limits of tokens, practices and addresses, shared by server processes
//	internal/events/feed the change feed: pages, waiting, snapshots
//	internal/events/extract  writes records and their changes to files for data warehouses
//	internal/events/webhook  delivers changes to webhooks
//	internal/oauth       the authorization server: applications, codes, tokens
//	internal/signin      sessions and two-factor authentication; signin/password: hashing and checks
//	internal/mcp         the operations as tools for assistants (Model Context Protocol)
//	internal/web         the pages: sign-in, consent, settings, reports
//	internal/guides      guides for integrators and operators, in Markdown; web serves them
//	internal/report      reports for managers and analysts; report/render: tables, charts, HTML, CSV and JSON; report/schedule: files and mails of a report each week
//	internal/closure     closing a practice on a day, and deleting it
//	internal/subject     everything about one patient: JSON, a page, FHIR
//	internal/dump        exports and restores a whole installation
//	internal/importer    imports CSV files of other systems into a practice
//	internal/store       databases: opening, transactions, errors; below it admission, analyst, bulk, counters, dbconn, feedlog, rowsecurity, sealing
//	internal/seal        encrypts the secrets that the server must know
//	internal/store/migrate  versions of the schema; plan, lint and diff write the next one
//	internal/seed        demo data; internal/provision: new practices and users
//	internal/config      flags and environment
//	internal/arch        import rules as tests, decisions/, departures.md
//	internal/test        harness, contract suite, browser suite, template databases, local PostgreSQL servers
//	cmd/chairside        the program, one file per command; cmd/chairside/deploy: packages, monitoring, failover, and drills that each are one command
//	cmd/chairside-bench  benchmarks it against a hand-written server
//
// After a change of schema/:
//
//	go generate ./...
//	go run ./internal/store/migrate/diff NAME
//
// See .github/CONTRIBUTING.md for recipes.
package chairside

//go:generate go run ./internal/codegen/generate
