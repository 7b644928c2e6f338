package migrate

import (
	"embed"
	"io/fs"

	"entgo.io/ent/dialect"
)

//go:embed migrations
var embedded embed.FS

// Files returns the migrations of a dialect: VERSION_NAME.sql and atlas.sum.
func Files(dialectName string) fs.FS {
	dir := "migrations/sqlite"
	if dialectName == dialect.Postgres {
		dir = "migrations/postgres"
	}
	files, err := fs.Sub(embedded, dir)
	if err != nil {
		panic(err) // only for an invalid path
	}
	return files
}
