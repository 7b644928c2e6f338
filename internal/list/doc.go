// Package list reads the rows of a resource in their response form: one row, or a
// page of a list with its total.
//
// Generated code describes a resource as data (Form, List) and a request as a Request;
// the functions here are the same for all resources:
//
//	ogent ListX ─▶ Read ─┬─ filterFirst   find the rows by a filter, then sort them
//	                     ├─ page by day   a counter of rows per day finds a deep page
//	                     └─ readPage      walk an index that has the order
//
// Decision 8 says why a list has several ways, and what each one gains.
package list
