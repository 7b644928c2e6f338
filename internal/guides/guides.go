// Package guides has the guides for integrators and operators, as Markdown.
package guides

import "embed"

// Files are the guides.
//
//go:embed *.md
var Files embed.FS
