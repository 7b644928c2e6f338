package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
)

const (
	terminalWidth = 80
	columnGap     = 2
	// minLastWidth keeps the last column readable beside wide ones.
	minLastWidth = 20
)

// listing is the flags of the commands that list.
type listing struct {
	Format string `placeholder:"FORMAT" enum:"table,json" default:"table" help:"Output format: table, or json (one object a line). Default: ${default}"`
}

// print prints rows as a table, or each as a JSON object whose members are the columns in lower case.
// Cells are texts, numbers, times (also zonedTime), lists of texts, or nil.
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
	table := tabwriter.NewWriter(c.out, 0, 0, columnGap, ' ', 0)
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

// count returns a number with its noun: "1 problem", "2 problems".
func count[N int | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// zonedTime is a time that tables show in a zone. JSON does not have the zone.
type zonedTime struct {
	at   *time.Time // nil for never
	zone *time.Location
}

// MarshalJSON returns the time as that of other cells.
func (z zonedTime) MarshalJSON() ([]byte, error) { return json.Marshal(z.at) }

// inTable is the text of a cell.
func inTable(cell any) string {
	switch v := cell.(type) {
	case nil:
		return "-"
	case *time.Time:
		return inTable(zonedTime{v, time.UTC})
	case zonedTime:
		if v.at == nil {
			return "never"
		}
		return v.at.In(v.zone).Format("2006-01-02 15:04 MST")
	case []string:
		return strings.Join(v, " ")
	}
	return fmt.Sprint(cell)
}

// printWrapped prints rows as a table of the terminal's width. The last column, which holds
// sentences, is wrapped; the others are ASCII and short.
func printWrapped(w io.Writer, rows [][]string) error {
	if len(rows) == 0 {
		return nil
	}
	widths := make([]int, len(rows[0])-1)
	for _, row := range rows {
		for i := range widths {
			widths[i] = max(widths[i], len(row[i]))
		}
	}
	room := terminalWidth
	for _, width := range widths {
		room -= width + columnGap
	}
	table := tabwriter.NewWriter(w, 0, 0, columnGap, ' ', 0)
	for _, row := range rows {
		first, rest, _ := strings.Cut(text.WrapSoft(row[len(widths)], max(room, minLastWidth)), "\n")
		fmt.Fprintf(table, "%s\t%s\n", strings.Join(row[:len(widths)], "\t"), strings.TrimSpace(first))
		for line := range strings.Lines(rest) {
			fmt.Fprintf(table, "%s%s\n", strings.Repeat("\t", len(widths)), strings.TrimSpace(line))
		}
	}
	return table.Flush()
}
