// Package guides holds the guides for integrators and operators: Markdown files, rendered to
// HTML when the program starts. Package web serves them at /docs/guides/.
//
// A guide is one file NAME.md:
//
//   - The first line is the title ("# Errors"), the first paragraph the summary on the index.
//   - Links to other guides and pages are absolute paths: /docs/guides/limits, /docs#errors.
//   - Every sh block runs in the tests, in order, in one bash with "set -euo pipefail". BASE
//     is the URL of a demo server, TOKEN a token of its administrator with all scopes; curl
//     and jq are installed. Blocks must succeed on any day of the week; "jq -e" fails for null. Blocks of other
//     languages do not run.
package guides

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

//go:embed *.md
var files embed.FS

// Guide is one guide.
type Guide struct {
	Name    string // last segment of its address
	Title   string
	Summary string
	Source  string   // the Markdown
	HTML    string   // below the title, which is not included
	Shell   []string // its sh blocks, in order
}

// All are the guides in order of their titles.
var All = load(files)

// Find returns the guide with a name.
func Find(name string) (Guide, bool) {
	i := slices.IndexFunc(All, func(g Guide) bool { return g.Name == name })
	if i < 0 {
		return Guide{}, false
	}
	return All[i], true
}

// markdown renders GitHub's tables, and gives headings ids. It escapes raw HTML.
var markdown = goldmark.New(
	goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignNone))),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()),
)

// load renders all Markdown files. It panics if one is malformed, as template.Must does.
func load(dir fs.FS) []Guide {
	names, err := fs.Glob(dir, "*.md")
	if err != nil {
		panic(err) // the pattern is well-formed
	}
	all := make([]Guide, 0, len(names))
	for _, name := range names {
		source, err := fs.ReadFile(dir, name)
		if err != nil {
			panic(err) // the file is embedded
		}
		g, err := render(strings.TrimSuffix(name, ".md"), source)
		if err != nil {
			panic(fmt.Sprintf("guides: %s: %v", name, err))
		}
		all = append(all, g)
	}
	slices.SortFunc(all, func(a, b Guide) int { return strings.Compare(a.Title, b.Title) })
	return all
}

// render renders one guide.
func render(name string, source []byte) (Guide, error) {
	g := Guide{Name: name, Source: string(source)}
	document := markdown.Parser().Parse(text.NewReader(source))
	title, ok := document.FirstChild().(*ast.Heading)
	if !ok || title.Level != 1 {
		return g, fmt.Errorf(`the first line must be a title, such as "# Errors"`)
	}
	summary, ok := title.NextSibling().(*ast.Paragraph)
	if !ok {
		return g, fmt.Errorf("the title must be followed by a paragraph")
	}
	g.Title, g.Summary = plain(title, source), plain(summary, source)
	document.RemoveChild(document, title)
	for node := document.FirstChild(); node != nil; node = node.NextSibling() {
		if block, ok := node.(*ast.FencedCodeBlock); ok && string(block.Language(source)) == "sh" {
			g.Shell = append(g.Shell, string(block.Lines().Value(source)))
		}
	}
	if err := checkLinks(document); err != nil {
		return g, err
	}
	var html bytes.Buffer
	err := markdown.Renderer().Render(&html, source, document)
	g.HTML = html.String()
	return g, err
}

// checkLinks refuses relative links, which would lead nowhere from the page or an assistant.
func checkLinks(document ast.Node) error {
	return ast.Walk(document, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		link, ok := node.(*ast.Link)
		if ok && entering {
			to := string(link.Destination)
			if !strings.HasPrefix(to, "/") && !strings.HasPrefix(to, "https://") {
				return ast.WalkStop, fmt.Errorf("the link %q must be an absolute path such as /docs/guides/limits", to)
			}
		}
		return ast.WalkContinue, nil
	})
}

// plain returns the text of a heading or paragraph, on one line.
func plain(block ast.Node, source []byte) string {
	var out strings.Builder
	_ = ast.Walk(block, func(node ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		if t, ok := node.(*ast.Text); ok && entering {
			out.Write(t.Value(source))
			if t.SoftLineBreak() {
				out.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return out.String()
}
