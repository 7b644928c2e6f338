// Package chairside is the map of the repository.
//
//	schema/            the source of everything: entities, links, checks, and how each appears in the API
//	ent/, ogent/       generated from it; never edited
//	internal/codegen   the generator; internal/apispec: the annotations it reads
//	internal/codec      values as they travel: reading bodies and queries, with all their latitude
//	internal/apispec/limit     what the values of a row may be, for the databases, the API and imports
//	internal/apierror     the one error type that reaches a client
//	schema/ask         for other Go programs: questions to a practice's records
//	internal/entx/rowscan       rows as the database gives them; internal/audit: the record of what was read
//	internal/cache    what was read less than a second ago: tokens, working hours
//	internal/civil     days; internal/clock: the time of a request; internal/decimal: money
//	internal/store/admission which request gets a connection of the pool, and which waits
//	internal/principal    who is calling; internal/token finds out, internal/scope says what they may do
//	internal/oauth     the authorization server: applications, codes, tokens
//	internal/signin    passwords, second factors, sessions
//	internal/web       the pages: sign-in, consent, settings, reports
//	internal/report    what managers ask of a practice, and how it is drawn
//	internal/transfer  export, import, moving between databases
//	internal/api       what the operations do, one file per resource
//	internal/diary     overlaps and free time, pure
//	internal/store     databases: opening, transactions, migrations
//	internal/server    the HTTP server around the operations
//	internal/seed      demo data; internal/provision: a new practice
//	internal/config    flags and environment
//	internal/arch      who may import whom, and decisions/: why things are as they are
//	internal/test/harness, internal/test/contract   the test harness, and tests across all operations
//	internal/test/browser   the pages in a browser
//	cmd/chairside      the program
//	cmd/chairside-bench   how fast it is, beside a hand-written server
//
// After a change of schema/:
//
//	go generate ./...
//	go run ./internal/store/diff NAME
package chairside

//go:generate go run ./internal/codegen/generate
