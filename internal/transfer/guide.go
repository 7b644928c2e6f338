package transfer

import (
	_ "embed"
	"go/parser"
	"go/token"
	"strings"
)

//go:embed doc.go
var docFile string

// Guide is what this package's documentation says of the files of another
// system: how a mapping describes them, and what becomes of their rows. Whoever
// has the program alone finds it in the help of the command.
func Guide() string {
	file, err := parser.ParseFile(token.NewFileSet(), "doc.go", docFile, parser.PackageClauseOnly|parser.ParseComments)
	if err != nil {
		panic(err) // it was compiled
	}
	text := file.Doc.Text()
	from, until := strings.Index(text, "# The files of another system"), strings.Index(text, "# What an import costs")
	return text[from:until]
}
