package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestCommentsNameWhatExists checks that qualified names (cache.Cache) in comments and pages
// exist, so that a rename must update them.
func TestCommentsNameWhatExists(t *testing.T) {
	t.Parallel()
	root := os.DirFS("../..")
	known := map[string]map[string]bool{} // package → names and methods
	comments := map[string][]string{}     // file → comments
	err := fs.WalkDir(root, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") && path != "." || entry.Name() == "testdata") {
			return fs.SkipDir
		}
		switch filepath.Ext(path) {
		case ".md":
			source, err := fs.ReadFile(root, path)
			comments[path] = []string{string(source)}
			return err
		case ".go":
		default:
			return nil
		}
		source, err := fs.ReadFile(root, path)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		name := strings.TrimSuffix(file.Name.Name, "_test")
		if known[name] == nil {
			known[name] = map[string]bool{}
		}
		note(known[name], file)
		if generated := within(path, "ent/...") || within(path, "ogent/..."); !generated {
			for _, group := range file.Comments {
				comments[path] = append(comments[path], group.Text())
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for path, texts := range comments {
		for _, text := range texts {
			for _, m := range qualified.FindAllStringSubmatch(text, -1) {
				names, ours := known[m[1]]
				if found++; ours && !ambiguous[m[1]] && !names[m[2]] {
					t.Errorf("%s: %s.%s does not exist", path, m[1], m[2])
				}
			}
		}
	}
	if found < 100 {
		t.Errorf("found only %d names: does the pattern still match?", found)
	}
}

var qualified = regexp.MustCompile(`(?:^|[^\w./"*{-])([a-z][a-z0-9]+)\.([A-Z]\w+)`)

// ambiguous are packages of ours that share their name with other packages, or with variables in
// examples.
var ambiguous = map[string]bool{"main": true, "migrate": true, "schema": true, "server": true}

// note adds the names that a file declares.
func note(names map[string]bool, file *ast.File) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			names[n.Name.Name] = true
			return false
		case *ast.TypeSpec:
			names[n.Name.Name] = true
		case *ast.ValueSpec:
			for _, name := range n.Names {
				names[name.Name] = true
			}
		}
		return true
	})
}
