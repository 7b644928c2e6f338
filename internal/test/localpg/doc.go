// Package localpg runs a private, temporary PostgreSQL server for tests and for the
// migration generator. It is not part of the product.
//
//	server, err := localpg.Start(ctx) // about 1.5 s, once per process
//	defer server.Stop()
//	err = server.CreateDatabase(ctx, "template")
//	err = server.CreateDatabaseFrom(ctx, "test_1", "template")
//	db, err := store.Open(ctx, server.URL("test_1"))
//
// It uses the PostgreSQL on PATH or in the distributions' usual directories
// (localpg.go). The server listens on a free loopback port, requires a random password,
// and never waits for the disk. PostgreSQL refuses to run as root, so root runs it as
// postgres or nobody.
//
// StartIn (keep.go) keeps its cluster in a directory and waits for the disk. Standby (standby.go)
// starts a streaming replica. StartPooler (pooler.go) starts a PgBouncer in front of a server.
//
// The default collation is linguistic ("a" < "B" < "c"), unlike SQLite's, so that a test
// fails for a column without the collation "C".
//
// A server ends with the process that started it (process_linux.go). The next Start
// removes directories that killed processes left behind.
package localpg
