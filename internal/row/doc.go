// Package row reads the rows of a query without a copy of what the driver
// gives: one Row is made for a query, every row is scanned into it, and whoever
// builds an answer takes the columns out by their position.
//
//	r := row.New(3)
//	for rows.Next() {
//		if err := r.Scan(rows); err != nil { … }
//		p := Patient{ID: r.Int64(0), Name: r.Text(1), Born: r.Date(2)}
//	}
//	if err := r.Err(); err != nil { … }
//
// A NULL gives the zero value; Null tells it apart. A column of another type
// than is asked for is a mistake of the program, not of a row: it is kept and
// reported by Err once all rows are read, so that no column needs a check.
package row
