package transfer

import (
	"strings"

	"chairside/schema"
)

// derive sets the columns that follow from others of the same row, with the
// functions that the schema's hooks call.
func (e *entity) derive(r *record, country string) {
	for i := range e.columns {
		c := &e.columns[i]
		if of, ok := strings.CutSuffix(c.name, "_folded"); ok && e.has(of) {
			r.given[c.name] = schema.Fold(r.text(of))
		}
		if of, ok := strings.CutSuffix(c.name, "_normalized"); ok && e.has(of) {
			r.given[c.name] = orNull(schema.NormalizePhone(r.text(of), r.text(of+"_country"), country))
		}
	}
	if e.table == "patients" {
		r.given["search_text"] = searchText(r)
	}
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func searchText(r *record) string {
	names := []string{r.text("first_name"), r.text("middle_name"), r.text("last_name"), r.text("preferred_name")}
	var phones []string
	for _, form := range []string{"", "_normalized"} {
		for _, p := range []string{"home_phone", "mobile_phone", "work_phone"} {
			phones = append(phones, r.text(p+form))
		}
	}
	return schema.SearchText(names, r.text("postcode"), r.text("email_address"), r.text("nhs_number"), r.text(legacyID), phones)
}
