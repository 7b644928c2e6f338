package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// rule limits an import, or the use of a function, to some packages. A path that ends in /...
// includes everything below it.
type rule struct {
	what   string   // import path, or pkg.Func for uses of a function
	only   []string // directories where it is allowed
	tests  bool     // also allowed in all test files
	reason string
}

var leaves = []string{
	"internal/audit", "internal/principal", "internal/civil", "internal/clock", "internal/durable", "internal/apispec", "internal/decimal",
	"internal/store/admission", "internal/write/etag", "internal/apierror", "internal/apispec/limit", "internal/signin/password", "internal/scope", "internal/codec", "internal/seal", "internal/entx/table",
}

var rules = []rule{
	{"unsafe", nil, false, "Go's guarantees hold everywhere, whatever unsafe would gain"},
	{"github.com/lib/pq", []string{"internal/store/...", "internal/test/localpg/pgtest"}, true, "one place knows the drivers and their errors"},
	{"github.com/jackc/pgx/v5/...", []string{"cmd/chairside-bench/..."}, false, "only the benchmark and the server that it compares with use another driver"},
	{"modernc.org/sqlite/...", []string{"internal/store"}, true, "one place knows the drivers and their errors"},
	{"modernc.org/libc", []string{"internal/store"}, false, "one place configures SQLite past its driver"},
	{"chairside/internal/store/dbconn", []string{"internal/store/..."}, false, "the rest of the program meets connections through package store"},
	{"ariga.io/atlas/...", []string{"internal/store/migrate/...", "ent/..."}, true, "only migrations know their engine"},
	{"db.Maintenance", []string{"internal/store/...", "internal/audit/chain", "internal/test/harness"}, true, "requests have time limits: only migrations, counters and work on the whole audit log run without them"},
	{"github.com/ogen-go/ogen/...", []string{"ogent", "internal/api", "internal/codegen/...", "internal/server"}, true, "the rest of the program does not know how the API is generated"},
	{"go.opentelemetry.io/...", []string{"internal/server"}, true, "one place decides what a span shows; package store records statements without it"},
	{"google.golang.org/protobuf/...", []string{"internal/server"}, true, "only traces are sent as protocol buffers"},
	{"github.com/prometheus/...", []string{"internal/server", "cmd/chairside-bench/..."}, true, "one place decides what a metric shows"},
	{"github.com/modelcontextprotocol/go-sdk/...", []string{"internal/mcp"}, true, "one place knows the protocol of assistants"},
	{"github.com/xuri/excelize/...", []string{"internal/report/render"}, false, "one place writes workbooks"},
	{"github.com/parquet-go/parquet-go/...", []string{"internal/events/extract"}, false, "one place writes Parquet"},
	{"github.com/wneessen/go-mail/...", []string{"internal/report/schedule"}, false, "one place sends mail"},
	{"github.com/go-webauthn/webauthn/...", []string{"internal/signin"}, false, "one place checks passkeys"},
	{"entgo.io/contrib/...", []string{"internal/codegen/..."}, true, "needed to generate, not to run"},
	{"chairside/internal/codegen/...", []string{"internal/codegen/..."}, false, "the program does not contain its generator"},
	{"chairside/internal/arch", nil, false, "nothing depends on its rules"},
	{"chairside/cmd/...", nil, false, "a command is not a library"},
	{"chairside/internal/api", []string{"internal/server"}, true, "operations are reached over HTTP"},
	{"chairside/internal/web", []string{"internal/server", "cmd/chairside"}, true, "nothing below knows the pages"},
	{"html/template", []string{"internal/web", "internal/report/render", "internal/subject"}, true, "few packages render pages"},
	{"chairside/internal/report/render", []string{"internal/web", "internal/report/schedule", "cmd/chairside"}, true, "a report computes numbers: it does not know how they are drawn"},
	{"chairside/internal/server", []string{"cmd/chairside", "internal/test/harness"}, true, "nothing below knows the server"},
	{"net/http", []string{"internal/api", "internal/server", "internal/apierror", "internal/codec", "internal/codegen/...", "internal/test/harness", "internal/oauth", "internal/signin", "internal/web", "internal/mcp", "internal/events/webhook", "ogent", "cmd/chairside", "cmd/chairside/deploy/...", "cmd/chairside-bench/..."}, true, "rules and calculations know no HTTP"},
	{"os.Getenv", []string{"internal/config", "internal/test/localpg/pgtest", "internal/test/testdb", "internal/store/migrate/diff"}, true, "settings are read in one place"},
	{"os.LookupEnv", []string{"internal/config"}, true, "settings are read in one place"},
	{"DB.SQL", []string{"internal/server", "internal/test/harness", "internal/store/...", "cmd/..."}, true, "requests reach connections through the gate of the pool"},
	{"db.SQL", []string{"internal/server", "internal/test/harness", "internal/events/...", "internal/audit/...", "internal/store/...", "internal/seed", "internal/dump", "internal/importer", "internal/subject", "internal/closure", "internal/report/schedule", "cmd/..."}, true, "requests reach connections through the gate of the pool"},
	{"time.Now", []string{"internal/clock", "internal/test/localpg/pgproxy", "internal/store/...", "cmd/chairside", "cmd/chairside/deploy/...", "cmd/chairside-bench/..."}, true, "a request reads the clock once"},
	{"principal.AsSystem", []string{"schema/ask", "internal/principal", "internal/token", "internal/signin", "internal/seed", "internal/provision", "cmd/chairside", "internal/test/harness", "internal/events/idempotency", "internal/closure"}, true, "work across practices is for administration alone"},
	{"principal.With", []string{"schema/ask", "internal/principal", "internal/events/webhook", "internal/report/schedule", "internal/api", "internal/server", "internal/signin", "internal/store", "internal/test/harness", "cmd/chairside"}, true, "a principal comes from a token, a session, a schedule or the command line"},
	{"AccessToken.Create", []string{"internal/token"}, true, "token.Create refuses scopes that the user's role may not hold"},
	{"scope.Granted", []string{"schema", "internal/token"}, true, "stored scopes are narrowed to the user's role where they are read"},
	{"password.Unchecked", []string{"internal/signin/password"}, true, "new passwords are checked: password.Choose"},
	{"store.WithoutAdministrator", []string{"internal/store", "internal/signin"}, true, "only the command line leaves a practice without an administrator"},
	{"signin.Force", []string{"internal/signin", "cmd/chairside"}, true, "only the command line leaves a practice without an administrator"},
	{"principal.AsSystemWithin", []string{"internal/principal", "internal/signin", "internal/oauth"}, true, "sign-in and applications are not confined to one practice"},
	{"principal.AsSystemFor", []string{"internal/principal", "internal/signin", "internal/oauth"}, true, "only they check codes, tokens and invitations"},
}

// closed lists packages and the only packages of ours that each may import.
var closed = map[string][]string{
	"schema":           leaves,
	"internal/diary":   {"internal/civil"},
	"internal/codegen": {"internal/apispec", "internal/apispec/limit", "internal/scope", "internal/codec", "internal/entx/table"},
}

func TestImports(t *testing.T) {
	root := os.DirFS("../..")
	for _, leaf := range leaves {
		closed[leaf] = leaves
	}
	for dir := range closed {
		if _, err := fs.Stat(root, dir); err != nil {
			t.Errorf("a rule names %s, which does not exist", dir)
		}
	}
	for _, r := range rules {
		for _, dir := range r.only {
			if _, err := fs.Stat(root, strings.TrimSuffix(dir, "/...")); err != nil {
				t.Errorf("the rule on %s names %s, which does not exist", r.what, dir)
			}
		}
	}
	err := fs.WalkDir(root, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") && path != "." || entry.Name() == "testdata") {
			return fs.SkipDir
		}
		if strings.HasSuffix(path, ".go") {
			checkFile(t, root, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// mentions reports whether the code of a file has pkg.name. Texts are not code: the API reference
// shows programs.
func mentions(t *testing.T, path string, source []byte, pkg, name string) (found bool) {
	file, err := parser.ParseFile(token.NewFileSet(), path, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == name {
			x, ok := s.X.(*ast.Ident)
			found = found || ok && x.Name == pkg
		}
		return true
	})
	return found
}

// checkFile reports the imports and uses of a file that break a rule.
func checkFile(t *testing.T, root fs.FS, path string) {
	source, err := fs.ReadFile(root, path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), path, source, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	dir, test := filepath.ToSlash(filepath.Dir(path)), strings.HasSuffix(path, "_test.go")
	var imports []string
	for _, i := range file.Imports {
		name, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		imports = append(imports, name)
	}
	for _, r := range rules {
		if test && r.tests || slices.ContainsFunc(r.only, func(place string) bool { return within(dir, place) }) {
			continue
		}
		pkg, function, isCall := strings.Cut(r.what, ".")
		if isCall && !strings.Contains(r.what, "/") && len(function) > 0 && function[0] >= 'A' && function[0] <= 'Z' {
			if generated := within(dir, "ent/...") || within(dir, "ogent"); !generated && regexp.MustCompile(`\b`+pkg+`\.`+function+`\b`).Match(source) && mentions(t, path, source, pkg, function) {
				t.Errorf("%s uses %s: %s", path, r.what, r.reason)
			}
			continue
		}
		for _, name := range imports {
			if within(name, r.what) && !within("chairside/"+dir, r.what) {
				t.Errorf("%s imports %s: %s", path, name, r.reason)
			}
		}
	}
	if allowed, ok := closed[dir]; ok && !test {
		for _, name := range imports {
			if own, ok := strings.CutPrefix(name, "chairside/"); ok && !slices.Contains(allowed, own) {
				t.Errorf("%s imports %s: of our packages, %s may import only %v", path, name, dir, allowed)
			}
		}
	}
}

// within reports whether path is place or, if place ends in /..., below it.
func within(path, place string) bool {
	base, below := strings.CutSuffix(place, "/...")
	return path == base || below && strings.HasPrefix(path, base+"/")
}
