package subject

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"chairside/ent"
)

// TestGuideHasTheRetentions compares the table of the guide with the program's, row by row.
func TestGuideHasTheRetentions(t *testing.T) {
	t.Parallel()
	row := func(country string, r retention) string {
		birthday := ""
		switch suffix := map[int]string{1: "st", 2: "nd", 3: "rd"}[r.childAge%10]; {
		case r.childAge == 0:
		case suffix == "" || r.childAge/10 == 1:
			birthday = fmt.Sprintf("%dth birthday ", r.childAge)
		default:
			birthday = fmt.Sprintf("%d%s birthday ", r.childAge, suffix)
		}
		return fmt.Sprintf("| %s | %d | %s| %s |", country, r.years, birthday, r.source)
	}
	var want []string
	for code, r := range retentions {
		want = append(want, row(display.English.Regions().Name(language.MustParseRegion(code)), r))
		if otherCountries.years < r.years || otherCountries.childAge < r.childAge {
			t.Errorf("%s keeps records for longer than other countries", code)
		}
	}
	slices.Sort(want)
	others := otherCountries
	others.source = "the longest of all"
	want = append(want, row("any other", others))
	guide, err := os.ReadFile("../guides/patient-data.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(guide), "|---|---|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	if table != strings.Join(want, "\n") {
		t.Errorf("the guide has\n%s\nwant\n%s", table, strings.Join(want, "\n"))
	}
}

// TestChangesOfEveryTableAreSeen: ChangedSince sees a change of each table about patients, or the reason why not is here.
func TestChangesOfEveryTableAreSeen(t *testing.T) {
	unseen := map[string]string{
		"audit_events":       "about the use of the record",
		"note_versions":      "written with a change of the note",
		"webhook_deliveries": "copies of other rows",
	}
	for _, of := range ent.Tables {
		seen := patientColumn(of) != "" && of.Column("updated_at") != nil
		if about := condition(of) != "" && patientColumn(of) != ""; about && !seen && unseen[of.Name] == "" {
			t.Errorf("ChangedSince does not see a change of %s", of.Name)
		}
		if seen && unseen[of.Name] != "" {
			t.Errorf("ChangedSince sees a change of %s", of.Name)
		}
	}
}
