package main

import (
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// print prints the result as tables: a line per workload, size and server, then the
// targets.
func (r *result) print(out io.Writer) {
	fmt.Fprintf(out, "%s, %d processors, %d MB; PostgreSQL %s; %s; %s\n", r.Machine.Processor, r.Machine.Processors, r.Machine.MemoryBytes/1e6,
		r.Versions.PostgreSQL, r.Versions.Chairside, r.Versions.Generator)
	fmt.Fprintf(out, "medians of %d rounds of %gs, %d clients; CPU in ms per 1,000 requests; ratio to the hand-written server (minimum–maximum)\n\n",
		r.Settings.Rounds, r.Settings.Duration, r.Settings.Clients)
	w := newTable(out, 4, 5, 6, 7, 8, 9, 10)
	w.AppendHeader(table.Row{"size", "workload", "server", "req/s", "p50 ms", "p99 ms", "server CPU", "db CPU", "RSS MB", "ratio", "target"})
	for _, result := range r.Workloads {
		for _, s := range result.Servers {
			row := table.Row{"", "", s.Server, fmt.Sprintf("%.0f", s.Median.PerSecond), fmt.Sprintf("%.2f", s.Median.P50), fmt.Sprintf("%.2f", s.Median.P99),
				fmt.Sprintf("%.0f", s.Median.ServerCPU), "", fmt.Sprintf("%.0f", float64(s.Median.Resident)/1e6), "", ""}
			if s.Median.DatabaseCPU != nil {
				row[7] = fmt.Sprintf("%.0f", *s.Median.DatabaseCPU)
			}
			switch s.Server {
			case chairside:
				row[0], row[1], row[9] = result.Size, result.ID+" "+result.Title, result.Ratio.String()
				if target := byID(result.ID).Target; target > 0 {
					row[10] = fmt.Sprintf("≥%g", target)
				}
			case equalPromises:
				row[9] = result.EqualRatio.String()
				if target := byID(result.ID).EqualTarget; target > 0 {
					row[10] = fmt.Sprintf("≥%g of it", target)
				}
			case chairsideSQLite:
				row[9], row[10] = result.SQLiteRatio.String(), "≥1 to PostgreSQL"
			}
			w.AppendRow(row)
		}
		w.AppendSeparator()
	}
	w.Render()

	fmt.Fprintln(out)
	w = newTable(out, 3)
	w.AppendHeader(table.Row{"target", "required", "measured", ""})
	for _, v := range r.Verdicts {
		w.AppendRow(table.Row{v.What, v.Wanted, fmt.Sprintf("%.2f", v.Is), verdictText(v.Met)})
	}
	w.Render()
}

// newTable returns a table with these columns, counted from 1, aligned to the right.
func newTable(out io.Writer, right ...int) table.Writer {
	w := table.NewWriter()
	w.SetOutputMirror(out)
	w.SetStyle(table.StyleLight)
	w.Style().Format.Header = text.FormatDefault
	var columns []table.ColumnConfig
	for _, n := range right {
		columns = append(columns, table.ColumnConfig{Number: n, Align: text.AlignRight})
	}
	w.SetColumnConfigs(columns)
	return w
}

func (r ratio) String() string { return fmt.Sprintf("%.2f (%.2f–%.2f)", r.Median, r.Min, r.Max) }
