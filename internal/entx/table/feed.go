package table

// FeedSource is a table whose writes are changes of a resource in the change feed.
type FeedSource struct {
	Table    string
	Resource string // patients
	Record   string // column with the record's id
	// Part tells that a row is only part of the record: each write of it updates the record.
	Part bool
	// Site is the column that names the site of a record, or a row of SiteTable that does;
	// empty for records of no site.
	Site, SiteTable string
	// Compared are the columns whose updates are changes. If there are none, every update is.
	Compared []string
	// Sealed are the sealed columns among those that clients can see. An update that seals one with
	// another key is no change.
	Sealed []string
}
