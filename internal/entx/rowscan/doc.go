// Package rowscan reads the rows of a query without a copy of what the driver
// gives: one Row serves a whole query, every row is scanned into it at once, and
// whoever builds an answer takes the columns out by their position. The methods of
// package ent that give such rows ask for them by Whole.
//
//	err := rowscan.ForEach(rows, 3, func(r *rowscan.Scanner) {
//		all = append(all, Patient{ID: r.Int64(0), Name: r.Text(1), Born: r.Date(2)})
//	})
//
// A NULL gives the zero value; Null tells it apart. A column of another type
// than is asked for is a mistake of the program, not of a row: Each reports it
// once all rows are read, so that no column needs a check. Only Text and Bytes take
// any bytes for text, stored times, days and uuids included.
package rowscan
