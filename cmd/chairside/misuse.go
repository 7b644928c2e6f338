package main

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"chairside/internal/config"
)

// credentials matches the user and password of a URL, which a usage error must not
// repeat.
var credentials = regexp.MustCompile(`://[^\s/@]*@`)

// unexpected matches the parser's message about a word that is no command.
var unexpected = regexp.MustCompile(`^unexpected argument ([^\s,]+)`)

// noValue matches the parser's message about a flag at the end of the line, without its value.
var noValue = regexp.MustCompile(`: expected \S+ value but got "EOL" \(<EOL>\)$`)

// misuse explains a usage error and returns its exit status. The context is that of the command,
// as far as it was parsed.
func misuse(w io.Writer, err error, at *kong.Context) int {
	usage, lines := "chairside", []string{err.Error()}
	if at != nil {
		node := at.Model.Node
		if selected := at.Selected(); selected != nil {
			node, usage = selected, selected.FullPath()
		}
		lines = explain(err, at, node)
	}
	message := credentials.ReplaceAllString(strings.Join(lines, "\n"), "://…@")
	fmt.Fprintf(w, "chairside: %s\nRun \"%s --help\" for usage.\n", message, usage)
	return exitUsage
}

// explain returns everything that is wrong with a command line. The parser stops at the first kind
// of mistake: it checks values, then flags, then arguments.
func explain(err error, at *kong.Context, node *kong.Node) (lines []string) {
	message := strings.TrimPrefix(err.Error(), strings.TrimPrefix(node.FullPath(), "chairside ")+": ")
	if at.Error != nil { // the parser has not read the environment, so what is missing is unknown
		if len(node.Children) > 0 {
			message = unexpected.ReplaceAllString(message, `unknown command "$1"`)
		}
		return []string{noValue.ReplaceAllString(message, ": needs a value")}
	}
	if commands := commandsOf(node); len(commands) > 0 && strings.HasPrefix(message, "expected ") {
		return []string{"a command is required: " + strings.Join(commands, ", ")}
	}
	var missing []string
	for _, argument := range node.Positional {
		if argument.Required && !argument.Set {
			missing = append(missing, argument.Summary())
		}
	}
	for _, flag := range at.Flags() {
		if flag.Required && !flag.Set {
			missing = append(missing, "--"+flag.Name)
		}
	}
	for _, name := range missing {
		lines = append(lines, name+": is required")
	}
	if len(missing) > 0 && !errors.As(err, new(config.Mistakes)) {
		if strings.HasPrefix(message, "missing flags: ") || strings.HasPrefix(message, "expected ") {
			return lines
		}
		return append(lines, message)
	}
	for line := range strings.Lines(message) {
		line = strings.TrimSuffix(line, "\n")
		// A missing value is reported once, as missing, not also as invalid.
		name, _, _ := strings.Cut(line, ": ")
		if !slices.Contains(missing, name) && !slices.Contains(missing, "<"+strings.TrimPrefix(name, "--")+">") {
			lines = append(lines, line)
		}
	}
	return lines
}

// commandsOf returns the names of a command's own commands.
func commandsOf(node *kong.Node) (names []string) {
	for _, child := range node.Children {
		if !child.Hidden {
			names = append(names, child.Name)
		}
	}
	return names
}
