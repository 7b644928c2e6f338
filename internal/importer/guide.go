package importer

import _ "embed"

// Guide describes mappings, and what becomes of the rows of files, for the help of the
// command.
//
//go:embed mapping.md
var Guide string
