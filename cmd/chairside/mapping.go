package main

import (
	"fmt"
	"io"

	"chairside/internal/config"
	"chairside/internal/importer"
)

type mappingCommand struct {
	listing
	Name string `arg:"" optional:"" words:"mappings" help:"Ready mapping to print: ${mappings}."`
}

// Help is the text of --help.
func (mappingCommand) Help() string {
	return `Ready mappings are for "chairside import --mapping NAME". Without a name, lists them. With a name, prints the mapping: its comment says which files it reads, and where they come from. To change it:

  chairside mapping opendental > export/mapping.yaml
  chairside import --explain export`
}

// Run lists the ready mappings, or prints one.
func (m *mappingCommand) Run(c *console) error {
	if m.Name == "" {
		var rows [][]any
		for _, r := range importer.ReadyMappings {
			rows = append(rows, []any{r.Name, r.About})
		}
		return m.print(c, []string{"NAME", "FILES"}, rows)
	}
	ready, ok := importer.FindReady(m.Name)
	if !ok {
		return config.Mistakes{fmt.Sprintf("<name>: must be one of: %s", importer.ReadyNames())}
	}
	_, err := io.WriteString(c.out, ready.Content)
	return err
}
