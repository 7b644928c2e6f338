package bulk

// For tests in package bulk_test.
const (
	SQLiteBatch     = sqliteBatch
	SQLiteVariables = sqliteVariables
	CopyChunk       = copyChunk
)
