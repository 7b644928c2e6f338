package guides

import (
	"bytes"
	"fmt"
	"html"
	"strings"

	"github.com/yuin/goldmark/ast"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// Block is a code block of a guide.
type Block struct {
	Language string
	Use      Use
	Text     string
	Answer   string // the shown output; "" for none
	Line     int    // in the Markdown
}

// Use is what happens to a block in the tests.
type Use string

// The uses, as they follow the language of a block.
const (
	Run     Use = ""        // it runs: sh in the guide's shell, js by node, python by python3
	Serve   Use = "serve"   // it starts a server, which runs until the end of the guide
	Answer  Use = "answer"  // it is compared with the output of the block before it
	Program Use = "program" // a test of its own runs it
	NotRun  Use = "not-run" // it cannot run here, or is part of a file; a test counts these
)

// runnable are the languages of blocks that run.
var runnable = map[string]bool{"sh": true, "js": true, "python": true}

// blocks returns all code blocks, wherever they are, with their answers. A block must say what
// happens to it.
func blocks(document ast.Node, source []byte) ([]Block, error) {
	var all []Block
	err := ast.Walk(document, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		if _, ok := node.(*ast.CodeBlock); ok {
			return ast.WalkStop, fmt.Errorf("indented code: use ``` and a language")
		}
		fenced, ok := node.(*ast.FencedCodeBlock)
		if !ok {
			return ast.WalkContinue, nil
		}
		b, err := newBlock(fenced, source)
		if err != nil {
			return ast.WalkStop, err
		}
		if b.Use != Answer {
			all = append(all, b)
			fenced.SetAttributeString("id", fmt.Sprintf("sample-%d", len(all)))
			return ast.WalkContinue, nil
		}
		if len(all) == 0 || all[len(all)-1].Use == NotRun || all[len(all)-1].Answer != "" || b.Text == "" {
			return ast.WalkStop, fmt.Errorf("line %d: an answer belongs to the block before it, which runs and has no other", b.Line)
		}
		all[len(all)-1].Answer = b.Text
		return ast.WalkContinue, nil
	})
	return all, err
}

// newBlock returns a block as its language and the words after it say.
func newBlock(fenced *ast.FencedCodeBlock, source []byte) (Block, error) {
	b := Block{Text: string(fenced.Lines().Value(source))}
	if fenced.Lines().Len() > 0 {
		b.Line = 1 + bytes.Count(source[:fenced.Lines().At(0).Start], []byte("\n"))
	}
	var use string
	if fenced.Info != nil {
		b.Language, use, _ = strings.Cut(string(fenced.Info.Value(source)), " ")
	}
	b.Use = Use(use)
	switch {
	case b.Use == Run && runnable[b.Language], b.Use == Serve && b.Language == "sh":
	case (b.Use == Answer || b.Use == Program || b.Use == NotRun) && b.Language != "":
	default:
		return b, fmt.Errorf("line %d: %q is not a language and a use of a block", b.Line, b.Language+" "+use)
	}
	return b, nil
}

// blockRenderer renders code blocks, samples with a copy button and answers below a label, and the
// cells of tables.
type blockRenderer struct{}

// RegisterFuncs names the rendered kinds of node.
func (blockRenderer) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindFencedCodeBlock, renderBlock)
	r.Register(tables.KindTableCell, renderCell)
}

func renderBlock(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	code := util.EscapeHTML(node.Lines().Value(source))
	id, sample := node.AttributeString("id")
	var err error
	if sample {
		_, err = fmt.Fprintf(w, `<div class="block"><pre><code id="%s">%s</code></pre><button type="button" class="quiet" data-copy="%[1]s" hidden>Copy</button></div>`+"\n", id, code)
	} else {
		_, err = fmt.Fprintf(w, `<div class="answer"><p>Output</p><pre><code>%s</code></pre></div>`+"\n", code)
	}
	return ast.WalkSkipChildren, err
}

// renderCell renders a cell of a table. A narrow screen has no room for the header, so the cells
// that need it repeat their column's title.
func renderCell(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	start, end := "<td>", "</td>\n"
	if node.Parent().Kind() == tables.KindTableHeader {
		start, end = "<th>", "</th>\n"
	} else if label := labelOf(node, source); label != "" {
		start, end = `<td data-label="`+html.EscapeString(label)+`"><div>`, "</div></td>\n"
	}
	if !entering {
		start = end
	}
	_, err := w.WriteString(start)
	return ast.WalkContinue, err
}

// labelOf returns the title of a cell's column. It is empty for empty cells, in the first column,
// and in tables of two columns, where the second plainly describes the first.
func labelOf(cell ast.Node, source []byte) string {
	title := cell.Parent().Parent().FirstChild().FirstChild()
	if !cell.HasChildren() || cell.PreviousSibling() == nil || cell.Parent().ChildCount() < 3 {
		return ""
	}
	for c := cell.PreviousSibling(); c != nil && title != nil; c = c.PreviousSibling() {
		title = title.NextSibling()
	}
	if title == nil {
		return ""
	}
	return plain(title, source)
}
