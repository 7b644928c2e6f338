// Package rowscan scans the rows of a query into responses without copying what the
// driver returns. One Scanner serves the whole query; callers take columns by position.
// The Rows methods of package ent return rows for it (RawRows).
//
//	err := rowscan.ForEach(rows, 3, func(r *rowscan.Scanner) {
//		all = append(all, Patient{ID: r.Int64(0), Name: r.Text(1), Born: r.Date(2)})
//	})
//
// NULL reads as the zero value; Null distinguishes the two. Reading a column as the wrong type
// is a bug in the program, so ForEach returns the error after the last row and reading a
// column returns none. Only Text accepts any bytes, including binary times, days and UUIDs.
package rowscan
