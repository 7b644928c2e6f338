package store

import (
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"chairside/ent"
)

// rawWrite is a statement that is there n times, and why the audit log lacks nothing.
type rawWrite struct {
	n   int
	why string
}

// rawWrites are the statements of SQL that write rows past Ent, whose hook writes the audit log. A statement has
// the path of its file, its verb, its table (* for a name in a variable) and the first column that it sets.
var rawWrites = map[string]rawWrite{
	"internal/audit/chain/month.go: INSERT *":                                   {1, "moves rows of the audit log itself"},
	"internal/closure/delete.go: DELETE *":                                      {1, "the log has the beginning and the end of a practice's deletion"},
	"internal/entx/write.go: INSERT *":                                          {1, "Ent's own statement, with the entry in it"},
	"internal/events/webhook/attempt.go: UPDATE webhooks active":                {1, "the same transaction writes an entry"},
	"internal/events/webhook/attempt.go: UPDATE webhooks failed_deliveries":     {2, "a counter of use"},
	"internal/events/webhook/attempt.go: UPDATE webhooks held_until":            {1, "a pause of the delivery"},
	"internal/events/webhook/attempt.go: UPDATE webhooks successful_deliveries": {1, "a counter of use"},
	"internal/events/webhook/collect.go: UPDATE webhooks feed_cursor":           {1, "a position of the delivery"},
	"internal/events/webhook/manage.go: UPDATE webhooks held_until":             {1, "the retry that ends the pause has an entry in the same transaction"},
	"internal/events/webhook/sweep.go: DELETE *":                                {1, "deliveries and attempts have no entries"},
	"internal/events/webhook/sweep.go: UPDATE webhooks previous_secret":         {1, "the change of the secret has an entry; the previous one ends by itself"},
	"internal/importer/sealed.go: UPDATE practices search_key":                  {1, "the import writes an entry"},
	"internal/importer/write.go: DELETE *":                                      {1, "the import writes an entry for each row"},
	"internal/report/schedule/attempt.go: UPDATE report_schedules":              {1, "the state of a run; a stop has an entry in the same transaction"},
	"internal/report/schedule/run.go: UPDATE report_schedules lease":            {1, "the state of a run"},
	"internal/store/analyst/role.go: DELETE analysts":                           {1, "changeAnalyst writes an entry in the same transaction"},
	"internal/store/analyst/role.go: INSERT analysts":                           {1, "changeAnalyst writes an entry in the same transaction"},
	"internal/store/bulk/bulk.go: INSERT *":                                     {1, "an import writes an entry for each row; an export keeps its log, and the demo begins with none"},
	"internal/store/bulk/update.go: UPDATE *":                                   {1, "the import writes an entry for each row"},
	"internal/store/rowsecurity/deletion.go: DELETE *":                          {1, "as internal/closure/delete.go, which calls it"},
	"internal/store/rowsecurity/deletion.go: UPDATE *":                          {1, "as internal/closure/delete.go, which calls it"},
	"internal/store/sealing/sealing.go: UPDATE *":                               {1, "the same plain text under a new key; the rotation has an entry"},
	"internal/subject/erase.go: UPDATE *":                                       {3, "an erasure has one entry with the rows of each table"},
}

// TestRawWritesAreAudited fails for a statement of SQL that writes rows of an audited entity, or of a table whose
// name is in a variable, and is not in rawWrites. It finds verbs in capital letters, as everywhere in this program.
func TestRawWritesAreAudited(t *testing.T) {
	t.Parallel()
	audited := map[string]bool{}
	for _, table := range ent.Tables {
		audited[table.Name] = !slices.Contains(unauditedTypes, table.Type) && !slices.Contains(appendOnlyTypes, table.Type) && table.Type != ent.TypeFeedChange && table.Type != ent.TypeFeedState
	}
	statement := regexp.MustCompile("\\b(INSERT (?:OR [A-Z]+ )?INTO|REPLACE INTO|MERGE INTO|UPDATE(?: ONLY)?|DELETE FROM(?: ONLY)?|TRUNCATE(?: TABLE)?)\\s+(?:public\\.|`|\\\\?\"(?:public\"\\.\")?)?(\\w+|[%+\" `])(?:[^;\"`]*?\\bSET\\s+(\\w+))?")
	// Tables derived from rows, migrations, and programs that are not the server.
	elsewhere := regexp.MustCompile(`^(ent|internal/store/(counters|feedlog|migrate)|cmd/chairside-bench|cmd/chairside/deploy/drill)/`)
	found := map[string]int{}
	root := os.DirFS("../..")
	err := fs.WalkDir(root, ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || elsewhere.MatchString(path) {
			return err
		}
		source, err := fs.ReadFile(root, path)
		if err != nil {
			return err
		}
		for _, m := range statement.FindAllStringSubmatch(string(source), -1) {
			verb, _, _ := strings.Cut(m[1], " ")
			table, column := m[2], m[3]
			switch {
			case strings.ContainsAny(table, "%+\" `"):
				table = "*"
			case !audited[table]:
				continue
			}
			found[strings.TrimSpace(path+": "+verb+" "+table+" "+column)]++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if n := rawWrites[name].n; n != found[name] {
			t.Errorf("%q is there %d times, and in rawWrites %d times: a statement past Ent writes its own entry in the audit log, or rawWrites says why it needs none", name, found[name], n)
		}
	}
	for name := range rawWrites {
		if found[name] == 0 {
			t.Errorf("%q is gone: remove it from rawWrites", name)
		}
	}
}
