package main

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/alecthomas/kong"
)

type manCommand struct{}

// Help is the text of --help.
func (manCommand) Help() string {
	return `To read it: chairside man | man -l -

To install it: chairside man > /usr/local/share/man/man1/chairside.1`
}

// Run prints the manual page, which has all commands, from the parser's own model.
func (manCommand) Run(c *console, at *kong.Context) error {
	p := page{out: c.out}
	p.line(".TH CHAIRSIDE 1")
	p.line(".SH NAME")
	p.line(`chairside \- dental practice management server`)
	p.line(".SH SYNOPSIS")
	p.text("chairside COMMAND [FLAG ...]")
	p.line(".SH DESCRIPTION")
	p.text(at.Model.Help)
	p.line(".SH COMMANDS")
	for _, command := range at.Model.Leaves(true) {
		p.line(".SS " + escape(usageOf(command)))
		p.text(command.Help)
		p.text(command.Detail)
		for _, argument := range command.Positional {
			p.item("<"+argument.Name+">", argument.Help)
		}
		for _, flag := range command.Flags {
			p.item(flag.String(), flag.Help)
		}
	}
	p.line(".SH EXIT STATUS")
	p.item("0", "Done.")
	p.item("1", "Failed.")
	p.item("2", "Wrong usage.")
	p.line(".SH ENVIRONMENT")
	p.text("Each flag has a variable: --database-url has CHAIRSIDE_DATABASE_URL.")
	return p.err
}

// outsideASCII matches a character that is not of ASCII.
var outsideASCII = regexp.MustCompile(`[^\x00-\x7F]`)

// page writes a manual page in the man macros of roff, and keeps the first error.
type page struct {
	out io.Writer
	err error
}

func (p *page) line(text string) {
	if _, err := fmt.Fprintln(p.out, text); p.err == nil {
		p.err = err
	}
}

// text writes paragraphs. Indented lines stay as they are.
func (p *page) text(text string) {
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		if paragraph == "" {
			continue
		}
		p.line(".PP")
		if strings.HasPrefix(paragraph, " ") {
			p.line(".nf")
			p.line(escape(paragraph))
			p.line(".fi")
			continue
		}
		p.line(escape(paragraph))
	}
}

// item writes a flag or an argument and what it means.
func (p *page) item(name, help string) {
	p.line(".TP")
	p.line(".B " + escape(name))
	p.line(escape(help))
}

// escape keeps roff from reading a text as commands. It writes characters outside ASCII by their number:
// without preconv, groff reads no UTF-8.
func escape(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	text = outsideASCII.ReplaceAllStringFunc(text, func(c string) string { return fmt.Sprintf(`\[u%04X]`, []rune(c)[0]) })
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
