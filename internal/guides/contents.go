package guides

// Part is a group of guides.
type Part struct {
	Title  string
	Guides []Guide
}

// order is the order in which newcomers read the guides.
var order = []struct {
	title string
	names []string
}{
	{"Start", []string{"first-request", "sandbox", "authorise-users", "clients", "moving"}},
	{"Read", []string{"lists", "time-zones", "etags"}},
	{"Write", []string{"booking", "retries", "errors", "limits", "batch", "developer-pages"}},
	{"Stay in sync", []string{"changes", "webhooks", "versions", "changelog"}},
	{"Further tasks", []string{"waiting-lists", "recalls", "assistants"}},
	{"For practices and operators", []string{"sign-in", "reports", "sql", "go", "extract", "patient-data", "audit", "keys", "row-level-security", "install", "backups", "availability", "monitoring", "capacity", "leaving"}},
}
