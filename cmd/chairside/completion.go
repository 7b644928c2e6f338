package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// completionCommand prints a script that asks the program itself (completeWord), so completion knows
// what the parser knows. The libraries that do this for kong have not been released for years.
type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"Shell: bash, zsh or fish."`
}

// completeWord is the first argument of the scripts' calls: the words typed so far follow.
const completeWord = "__complete"

// Help is the text of --help.
func (completionCommand) Help() string {
	return `Load the script in each new shell:

  bash: echo 'source <(chairside completion bash)' >> ~/.bashrc
  zsh: chairside completion zsh > "${fpath[1]}/_chairside"
  fish: chairside completion fish > ~/.config/fish/completions/chairside.fish`
}

// completions are the scripts by shell. That of zsh is loaded from a file of fpath, and then runs as the
// first call of the function that it defines, or by source.
var completions = map[string]string{
	"bash": `_chairside() {
  local IFS=$'\n'
  COMPREPLY=($(chairside ` + completeWord + ` "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _chairside chairside
`,
	"zsh": `#compdef chairside
_chairside() {
  local -a found
  found=("${(@f)$(chairside ` + completeWord + ` "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "${found[1]}" ]]; then compadd -a found; else _files; fi
}
if [[ "${funcstack[1]}" == _chairside ]]; then _chairside "$@"; else compdef _chairside chairside; fi
`,
	"fish": `function __chairside
  set -l found (chairside ` + completeWord + ` (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)
  if set -q found[1]
    printf '%s\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c chairside -f -a '(__chairside)'
`,
}

// Run prints the script.
func (x *completionCommand) Run(c *console) error {
	_, err := io.WriteString(c.out, completions[x.Shell])
	return err
}

// complete prints the words that can follow, one per line. The last of words is the one that is being
// typed, which may be empty.
func complete(out io.Writer, model *kong.Application, words []string) {
	if len(words) == 0 {
		words = []string{""}
	}
	typed, before := words[len(words)-1], slices.DeleteFunc(slices.Clone(words[:len(words)-1]), isEquals)
	if isEquals(typed) {
		typed = ""
	}
	begin := "" // prefix of each candidate when the word is --flag=value
	flag, value, joined := strings.Cut(typed, "=")
	if joined = joined && strings.HasPrefix(flag, "--"); joined {
		begin, typed = flag+"=", value
	}
	node := model.Node
	for _, word := range before {
		at := slices.IndexFunc(node.Children, func(child *kong.Node) bool { return child.Name == word })
		switch {
		case at >= 0:
			node = node.Children[at]
		case node.DefaultCmd != nil && !strings.HasPrefix(word, "-"):
			node = node.DefaultCmd // word is its argument
		}
	}
	all := valuesOfFlag(node, flag)
	if !joined {
		all = candidates(node, before, typed)
	}
	for _, word := range all {
		if strings.HasPrefix(word, typed) {
			fmt.Fprintln(out, begin+word)
		}
	}
}

// isEquals reports whether a word is the sign between a flag and its value, which bash makes a word of its own.
func isEquals(word string) bool { return word == "=" }

// candidates returns the words that can stand where typed is: the values of a flag, flags, or commands
// and the values of an argument.
func candidates(node *kong.Node, before []string, typed string) (all []string) {
	if len(before) > 0 {
		if f := findFlag(node, before[len(before)-1]); f != nil && !f.IsBool() {
			return valuesOf(f.Value)
		}
	}
	if strings.HasPrefix(typed, "-") {
		for _, group := range node.AllFlags(true) {
			for _, f := range group {
				all = append(all, "--"+f.Name)
			}
		}
		return all
	}
	for _, child := range node.Children {
		if !child.Hidden {
			all = append(all, child.Name)
		}
	}
	arguments := node.Positional
	if node.DefaultCmd != nil {
		arguments = node.DefaultCmd.Positional
	}
	for _, argument := range arguments {
		all = append(all, valuesOf(argument)...)
	}
	return slices.DeleteFunc(all, func(word string) bool { return word == "" })
}

// findFlag returns the flag of a command for a word such as --format, or nil.
func findFlag(node *kong.Node, word string) *kong.Flag {
	for _, group := range node.AllFlags(true) {
		for _, f := range group {
			if "--"+f.Name == word {
				return f
			}
		}
	}
	return nil
}

// valuesOfFlag returns the values that may follow --flag=.
func valuesOfFlag(node *kong.Node, word string) []string {
	if f := findFlag(node, word); f != nil && !f.IsBool() {
		return valuesOf(f.Value)
	}
	return nil
}

// valuesOf returns the values that the parser or the program allows for a flag or an argument. The tag
// "words" names those of the program in variables.
func valuesOf(v *kong.Value) []string {
	if name := v.Tag.Get("words"); name != "" {
		return strings.Split(variables()[name], ", ")
	}
	return v.EnumSlice()
}
