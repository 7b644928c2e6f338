// Package guides holds the guides for integrators and operators: Markdown files, rendered to
// HTML when the first is needed. Package web serves them at /docs/guides/.
//
// A guide is one file NAME.md, listed in contents.go:
//
//   - The first line is the title ("# Errors"), the first paragraph the summary on the index.
//   - Links to other guides and pages are absolute paths: /docs/guides/limits, /docs#errors.
//   - Every code block runs in the tests, or says why not. The words after its language say
//     which (Use): "sh" runs, "json answer" is the output of the block before it.
//   - Blocks run in order, in one bash with "set -euo pipefail". BASE is the URL of a demo
//     server, TOKEN a token of its administrator with all scopes, chairside the program; curl,
//     jq, node and python3 are installed. Blocks must succeed on any day of the week;
//     "jq -e" fails for null.
//   - Address is the server that shows the guide: readers see its public URL there (Guide.At). A guide that starts a server
//     keeps it, because that is the address of the new one. Other hosts are listed in a test.
//   - In an answer "…" stands for any text within a line, or, alone on a line, for any lines.
package guides

import (
	"bytes"
	"embed"
	"fmt"
	"html"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

//go:embed *.md
var files embed.FS

// Guide is one guide.
type Guide struct {
	Name     string // last segment of its address
	Title    string
	Summary  string
	Source   string // the Markdown
	Intro    string // the first paragraph, as HTML
	HTML     string // below the first paragraph
	Sections []Section
	Blocks   []Block
}

// Section is the part of a guide below a heading.
type Section struct {
	ID, Title string
	Level     int
	Lead      string // its beginning
	Text      string // all of it, for searches
}

// The guides in the order of reading, rendered when first needed: most commands need none.
var (
	Contents = sync.OnceValue(func() []Part { return load(files) })
	All      = sync.OnceValue(func() []Guide { return flatten(Contents()) })
)

// NeedsToken reports whether the samples use a server and a token that another guide sets.
func (g Guide) NeedsToken() bool {
	uses := false
	for _, b := range g.Blocks {
		if strings.Contains(b.Text, "BASE=http") {
			return false
		}
		uses = uses || b.Use == Run && strings.Contains(b.Text, "BASE")
	}
	return uses
}

// Address is the address of the server in the guides: that of one without --addr and --base-url.
const Address = "http://127.0.0.1:8080"

// StartsServer reports whether the samples start a server of their own.
func (g Guide) StartsServer() bool {
	return slices.ContainsFunc(g.Blocks, func(b Block) bool { return b.Use == Serve })
}

// At returns the guide as the server with a public URL shows it.
func (g Guide) At(base string) Guide {
	if g.StartsServer() || base == "" {
		return g
	}
	g.Source, g.HTML = strings.ReplaceAll(g.Source, Address, base), strings.ReplaceAll(g.HTML, Address, html.EscapeString(base))
	return g
}

// Chapters are the sections of the second level.
func (g Guide) Chapters() []Section {
	return slices.DeleteFunc(slices.Clone(g.Sections), func(s Section) bool { return s.Level != 2 })
}

// markdown renders GitHub's tables, and gives headings ids. It escapes raw HTML.
var markdown = goldmark.New(
	goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignNone))),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()),
	goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(blockRenderer{}, 100))),
)

// load renders all Markdown files. It panics if one is malformed or not listed, as
// template.Must does.
func load(dir fs.FS) []Part {
	names, err := fs.Glob(dir, "*.md")
	if err != nil {
		panic(err) // the pattern is well-formed
	}
	var parts []Part
	for _, o := range order {
		part := Part{Title: o.title}
		for _, name := range o.names {
			source, err := fs.ReadFile(dir, name+".md")
			if err != nil {
				panic(fmt.Sprintf("guides: contents.go lists %s: %v", name, err))
			}
			g, err := render(name, source)
			if err != nil {
				panic(fmt.Sprintf("guides: %s.md: %v", name, err))
			}
			names = slices.DeleteFunc(names, func(file string) bool { return file == name+".md" })
			part.Guides = append(part.Guides, g)
		}
		parts = append(parts, part)
	}
	if len(names) > 0 {
		panic(fmt.Sprintf("guides: contents.go does not list %v", names))
	}
	return parts
}

// flatten returns the guides of all parts.
func flatten(parts []Part) []Guide {
	var all []Guide
	for _, p := range parts {
		all = append(all, p.Guides...)
	}
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
	if err := checkLinks(document); err != nil {
		return g, err
	}
	var err error
	if g.Blocks, err = blocks(document, source); err != nil {
		return g, err
	}
	g.Sections = sections(document, source)
	linkHeadings(document)
	var intro, below bytes.Buffer
	err = markdown.Renderer().Render(&intro, source, summary)
	document.RemoveChild(document, summary)
	g.Intro = intro.String()
	if err != nil {
		return g, err
	}
	err = markdown.Renderer().Render(&below, source, document)
	g.HTML = below.String()
	return g, err
}

// sections returns the sections of a guide.
func sections(document ast.Node, source []byte) []Section {
	var all []Section
	for node := document.FirstChild(); node != nil; node = node.NextSibling() {
		if h, ok := node.(*ast.Heading); ok {
			all = append(all, Section{ID: idOf(h), Title: plain(h, source), Level: h.Level})
			continue
		}
		if len(all) == 0 {
			continue // the summary, which searches have anyway
		}
		s, content := &all[len(all)-1], plain(node, source)
		if s.Lead == "" {
			s.Lead = beginning(content)
		}
		s.Text += content + "\n"
	}
	return all
}

// maxLead is the length of a beginning, in bytes.
const maxLead = 240

// beginning returns the first words of a text.
func beginning(content string) string {
	content = strings.TrimSpace(content)
	if len(content) <= maxLead {
		return content
	}
	return content[:max(strings.LastIndexByte(content[:maxLead], ' '), 0)] + " …"
}

// idOf returns the id that the parser has given a heading.
func idOf(h *ast.Heading) string {
	id, _ := h.AttributeString("id")
	value, _ := id.([]byte)
	return string(value)
}

// linkHeadings makes each heading a link to itself, so that readers can copy its address.
func linkHeadings(document ast.Node) {
	for node := document.FirstChild(); node != nil; node = node.NextSibling() {
		h, ok := node.(*ast.Heading)
		if !ok {
			continue
		}
		link := ast.NewLink()
		link.Destination = []byte("#" + idOf(h))
		for h.FirstChild() != nil {
			link.AppendChild(link, h.FirstChild()) // which removes it from the heading
		}
		h.AppendChild(h, link)
	}
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

// plain returns the text of a node, on one line.
func plain(node ast.Node, source []byte) string {
	var out strings.Builder
	_ = ast.Walk(node, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		if t, ok := n.(*ast.Text); ok && entering {
			out.Write(t.Value(source))
			if t.SoftLineBreak() {
				out.WriteByte(' ')
			}
		} else if n.Type() == ast.TypeBlock && !entering && n != node {
			out.WriteByte(' ')
		}
		return ast.WalkContinue, nil
	})
	return out.String()
}
