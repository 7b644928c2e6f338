package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"
)

// listing is the flags of the commands that list.
type listing struct {
	Format string `placeholder:"FORMAT" enum:"table,json" default:"table" help:"Output format: table, or json (one object a line). Default: ${default}"`
}

// print prints rows as a table, or each as a JSON object whose members are the columns in lower case.
// Cells are texts, numbers, times, lists of texts, or nil.
func (l listing) print(c *console, columns []string, rows [][]any) error {
	if l.Format == "json" {
		for _, row := range rows {
			object := make(map[string]any, len(row))
			for i, cell := range row {
				object[strings.ToLower(strings.ReplaceAll(columns[i], " ", "_"))] = cell
			}
			if err := json.NewEncoder(c.out).Encode(object); err != nil {
				return err
			}
		}
		return nil
	}
	table := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, strings.Join(columns, "\t"))
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = inTable(cell)
		}
		fmt.Fprintln(table, strings.Join(cells, "\t"))
	}
	return table.Flush()
}

// inTable is the text of a cell.
func inTable(cell any) string {
	switch v := cell.(type) {
	case nil:
		return "-"
	case *time.Time:
		if v == nil {
			return "never"
		}
		return v.UTC().Format("2006-01-02 15:04 UTC")
	case []string:
		return strings.Join(v, " ")
	}
	return fmt.Sprint(cell)
}
