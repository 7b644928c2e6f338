// Command generate writes ent/ and ogent/ from schema/. Run it at the root of
// the module, as go generate does.
package main

import (
	"fmt"
	"os"

	"chairside/internal/codegen"
)

func main() {
	if err := codegen.Generate(); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}
