package lint

import (
	"strings"
	"testing"

	engine "ariga.io/atlas/sql/migrate"
	atlas "ariga.io/atlas/sql/schema"

	"chairside/internal/store"
	"chairside/internal/store/migrate"
	"chairside/internal/test/localpg/pgtest"
)

// TestMain finds a PostgreSQL server.
func TestMain(m *testing.M) { pgtest.Main(m) }

const baseline = `CREATE TABLE t (id bigint PRIMARY KEY, a varchar, b bigint, c varchar(20));
CREATE TABLE other (id bigint PRIMARY KEY, t_id bigint REFERENCES t (id));
CREATE INDEX t_a ON t (a);
`

const none = migrate.NotInTransaction + "\n\n"

func check(t *testing.T, url string, files ...string) ([]Finding, error) {
	t.Helper()
	db, err := store.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	list := []engine.File{engine.NewLocalFile("1_baseline.sql", []byte(baseline))}
	for i, text := range files {
		list = append(list, engine.NewLocalFile(string(rune('2'+i))+"_next.sql", []byte(text)))
	}
	return Check(t.Context(), db, list)
}

// Each statement that keeps clients waiting is found, and what to write instead is not.
func TestBlockingStatements(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		file string
		want string // part of a finding of "blocking", "" for no finding of it
	}{
		"create index":               {`CREATE INDEX t_b ON t (b);`, "CREATE INDEX CONCURRENTLY"},
		"create index concurrently":  {none + `CREATE INDEX CONCURRENTLY t_b ON t (b);`, ""},
		"index of a new table":       {"CREATE TABLE n (id bigint);\nCREATE INDEX n_id ON n (id);", ""},
		"drop index":                 {`DROP INDEX t_a;`, "DROP INDEX CONCURRENTLY IF EXISTS"},
		"drop index concurrently":    {none + `DROP INDEX CONCURRENTLY IF EXISTS t_a;`, ""},
		"drop, not repeatable":       {none + `DROP INDEX CONCURRENTLY t_a;`, "repeated after a break"},
		"reindex":                    {`REINDEX TABLE t;`, "CONCURRENTLY"},
		"foreign key":                {`ALTER TABLE t ADD CONSTRAINT k FOREIGN KEY (b) REFERENCES t (id);`, "NOT VALID"},
		"foreign key not valid":      {`ALTER TABLE t ADD CONSTRAINT k FOREIGN KEY (b) REFERENCES t (id) NOT VALID;`, ""},
		"check":                      {`ALTER TABLE t ADD CONSTRAINT k CHECK (b > 0);`, "NOT VALID"},
		"check not valid":            {`ALTER TABLE t ADD CONSTRAINT k CHECK (b > 0) NOT VALID;`, ""},
		"validate with it":           {"ALTER TABLE t ADD CONSTRAINT k CHECK (b > 0) NOT VALID;\nALTER TABLE t VALIDATE CONSTRAINT k;", "VALIDATE CONSTRAINT in a file of its own"},
		"unique":                     {`ALTER TABLE t ADD CONSTRAINT k UNIQUE (b);`, "USING INDEX"},
		"primary key":                {"ALTER TABLE other DROP CONSTRAINT other_pkey;\nALTER TABLE other ADD PRIMARY KEY (t_id);", "USING INDEX"},
		"not null":                   {`ALTER TABLE t ALTER COLUMN b SET NOT NULL;`, "CHECK (column IS NOT NULL) NOT VALID"},
		"not null, check not valid":  {"ALTER TABLE t ADD CONSTRAINT k CHECK (b IS NOT NULL) NOT VALID;\nALTER TABLE t ALTER COLUMN b SET NOT NULL;", "VALIDATE it"},
		"type":                       {`ALTER TABLE t ALTER COLUMN b TYPE numeric;`, "a column of the new type"},
		"wider type":                 {`ALTER TABLE t ALTER COLUMN c TYPE varchar(40);`, ""},
		"volatile default":           {`ALTER TABLE t ADD COLUMN d uuid DEFAULT gen_random_uuid();`, "without a default"},
		"constant default":           {`ALTER TABLE t ADD COLUMN d bigint NOT NULL DEFAULT 0;`, ""},
		"update":                     {`UPDATE t SET b = 1;`, "DO block"},
		"update outside":             {none + `UPDATE t SET b = 1;`, "repeated after a break"},
		"delete":                     {`DELETE FROM t WHERE b = 1;`, "DO block"},
		"update in a block":          {none + "DO $$ BEGIN UPDATE t SET b = 1; END $$;", "COMMIT after each batch"},
		"update in batches":          {none + "DO $$ BEGIN UPDATE t SET b = 1; COMMIT; END $$;", ""},
		"lock":                       {`LOCK TABLE t IN SHARE MODE;`, "leave it out"},
		"cluster":                    {`CLUSTER t USING t_pkey;`, "pg_repack"},
		"vacuum full":                {none + `VACUUM FULL t;`, "autovacuum"},
		"trigger with other work":    {"CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;\nCREATE TRIGGER g AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION f();\nCREATE TABLE n AS SELECT * FROM other;", "a file of its own"},
		"trigger":                    {"CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;\nCREATE TRIGGER g AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION f();", ""},
		"allowed, with a reason":     {"-- atlas:nolint blocking\n-- Because: the table has ten rows\nUPDATE t SET b = 1;", ""},
		"allowed, without a reason":  {"-- atlas:nolint blocking\nUPDATE t SET b = 1;", "DO block"},
		"allowed for something else": {"-- atlas:nolint destructive\n-- Because: the table has ten rows\nUPDATE t SET b = 1;", "DO block"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			findings, err := check(t, pgtest.New(t), test.file)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range findings {
				if f.Analyzer == Blocking {
					got = append(got, f.String())
				}
			}
			if test.want == "" && len(got) > 0 || test.want != "" && !strings.Contains(strings.Join(got, "\n"), test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// SET NOT NULL after a check that has been validated in a file before.
func TestNotNullAfterValidatedCheck(t *testing.T) {
	t.Parallel()
	findings, err := check(t, pgtest.New(t),
		"-- atlas:nolint data_depend\n-- Because: filled before this\nALTER TABLE t ADD CONSTRAINT k CHECK (b IS NOT NULL) NOT VALID;",
		none+"ALTER TABLE t VALIDATE CONSTRAINT k;",
		"ALTER TABLE t ALTER COLUMN b SET NOT NULL;\nALTER TABLE t DROP CONSTRAINT k;")
	if err != nil || len(findings) > 0 {
		t.Errorf("%v %v", findings, err)
	}
}

func TestAnalyzers(t *testing.T) {
	t.Parallel()
	const reason = "-- atlas:nolint destructive incompatible data_depend condrop narrowed blocking\n-- Because: it is only a test\n"
	for name, test := range map[string]struct{ file, analyzer, only string }{
		"dropped column":       {`ALTER TABLE t DROP COLUMN b;`, Destructive, ""},
		"dropped table":        {`DROP TABLE other;`, Destructive, ""},
		"truncated table":      {`TRUNCATE other;`, Destructive, "postgres"},
		"renamed column":       {`ALTER TABLE t RENAME COLUMN b TO d;`, Incompatible, ""},
		"renamed table":        {`ALTER TABLE t RENAME TO s;`, Incompatible, ""},
		"required column":      {`ALTER TABLE t ADD COLUMN d bigint NOT NULL;`, DataDepend, "postgres"},
		"unique index":         {`CREATE UNIQUE INDEX t_b ON t (b);`, DataDepend, ""},
		"column made required": {`ALTER TABLE t ALTER COLUMN b SET NOT NULL;`, DataDepend, "postgres"},
		"new check":            {`ALTER TABLE t ADD CONSTRAINT k CHECK (b > 0) NOT VALID;`, DataDepend, "postgres"},
		"dropped foreign key":  {`ALTER TABLE other DROP CONSTRAINT other_t_id_fkey;`, Dropped, "postgres"},
		"narrowed type":        {`ALTER TABLE t ALTER COLUMN c TYPE varchar(10);`, Narrowed, "postgres"},
	} {
		for _, kind := range []string{"postgres", "sqlite"} {
			if test.only != "" && test.only != kind {
				continue
			}
			t.Run(name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				url := func() string {
					if kind == "sqlite" {
						return "sqlite:" + t.TempDir() + "/test.db"
					}
					return pgtest.New(t)
				}
				findings, err := check(t, url(), test.file)
				if err != nil {
					t.Fatal(err)
				}
				found := false
				for _, f := range findings {
					found = found || f.Analyzer == test.analyzer && f.File == "2_next.sql" && f.Line == 1
				}
				if !found {
					t.Errorf("got %v, want a finding of %s", findings, test.analyzer)
				}
				if findings, err := check(t, url(), reason+test.file); err != nil || len(findings) > 0 {
					t.Errorf("with a reason: %v %v", findings, err)
				}
			})
		}
	}
}

func TestSQLiteRebuildThatLosesAColumn(t *testing.T) {
	t.Parallel()
	const rebuild = "CREATE TABLE `new_t` (id bigint PRIMARY KEY, a varchar, c varchar(20));\nINSERT INTO `new_t` (id, a, c) SELECT id, a, c FROM t;\nDROP TABLE `t`;\nALTER TABLE `new_t` RENAME TO `t`;\n"
	findings, err := check(t, "sqlite:"+t.TempDir()+"/test.db", rebuild)
	if err != nil || len(findings) != 1 || findings[0].Analyzer != Destructive {
		t.Errorf("%v %v", findings, err)
	}
}

func TestLoosens(t *testing.T) {
	for _, test := range []struct {
		from, to string
		want     bool
	}{
		{`state IN ('a', 'b')`, `state IN ('a', 'b', 'c')`, true},
		{`state IN ('a', 'b', 'c')`, `state IN ('a', 'b')`, false},
		{`((state)::text = ANY (ARRAY['a'::text, 'b'::text]))`, `((state)::text = ANY (ARRAY['a'::text, 'b'::text, 'c'::text]))`, true},
		{`state NOT IN ('a')`, `state NOT IN ('a', 'b')`, false},
		{`state IN ('a') AND b > 0`, `state IN ('a', 'b') AND b > 1`, false},
		{`b > 0`, `b > 1`, false},
	} {
		if got := Loosens(checkOf(test.from), checkOf(test.to)); got != test.want {
			t.Errorf("%s → %s: %t", test.from, test.to, got)
		}
	}
}

func checkOf(expression string) *atlas.Check { return &atlas.Check{Expr: expression} }
