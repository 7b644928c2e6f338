package transfer

// leftBehind are the tables that an export leaves out, because their rows live
// for moments and mean nothing in another place.
var leftBehind = map[string]string{
	"sessions":            "browsers sign in again",
	"authorization_codes": "they live for ten minutes",
	"sign_in_attempts":    "they slow guessing down for a while, at one place",
	"import_runs":         "they say how far an import into this database has come",
}

// ourOwn are the tables that another system cannot have rows for.
var ourOwn = map[string]string{
	"practices":           "make the practice first: chairside practice create",
	"access_tokens":       "tokens are made with: chairside token create",
	"applications":        "applications are registered with: chairside app create",
	"changes":             "the record of changes is written by this program alone",
	"imported_records":    "it is the memory of imports",
	"sessions":            "nobody signs in by import",
	"authorization_codes": "nobody signs in by import",
	"sign_in_attempts":    "nobody signs in by import",
	"import_runs":         "it is the memory of imports",
}

// exported are the entities of an export, in the order of its files.
func exported() ([]*entity, error) {
	all, err := entities()
	if err != nil {
		return nil, err
	}
	var list []*entity
	for _, e := range all {
		if leftBehind[e.table] == "" {
			list = append(list, e)
		}
	}
	return list, nil
}
