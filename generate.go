// Package chairside is the map of the repository.
//
//	schema/            the source of everything: entities, links, checks, and how each appears in the API
//	ent/, ogent/       generated from it; never edited
//	internal/codegen   the generator
//	internal/api       what the operations do, one file per resource
//	internal/diary     overlaps and free time, pure
//	internal/store     databases: opening, transactions, migrations
//	internal/server    the HTTP server around the operations
//	internal/seed      demo data
//	cmd/chairside      the program
//
// After a change of schema/:
//
//	go generate ./...
//	go run ./internal/store/diff NAME
package chairside

//go:generate go run ./internal/codegen/generate
