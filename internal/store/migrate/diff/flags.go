package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"strings"

	"chairside/internal/store/migrate"
	"chairside/internal/store/migrate/plan"
)

var (
	validName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	validKey  = regexp.MustCompile(`^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)?$`)
)

// usageError is a mistake in the arguments.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

const usage = `usage: diff [flags] NAME     write the next migration, NAME of lower-case letters, digits and _
       diff [flags] -check   fail on a difference or an unsafe file
       diff -hash            update atlas.sum after editing a file by hand

`

// parse reads the arguments. Flags may follow the name.
func parse(args []string, out io.Writer) (*command, error) {
	c := &command{root: root, tables: migrate.Desired, out: out, request: &plan.Request{
		Renames: map[string]string{}, RenameTables: map[string]string{}, Drops: map[string]string{},
		Retypes: map[string]string{}, Backfills: map[string]string{}, Asserts: map[string]string{},
	}}
	var help bytes.Buffer
	flags := flag.NewFlagSet("diff", flag.ContinueOnError)
	flags.SetOutput(&help)
	flags.Usage = func() {
		help.WriteString(usage)
		flags.PrintDefaults()
	}
	flags.BoolVar(&c.check, "check", false, "write nothing, fail on a difference or an unsafe file")
	flags.BoolVar(&c.hash, "hash", false, "update atlas.sum")
	flags.StringVar(&c.postgres, "postgres", "", "`URL` of an empty database to use instead of a throw-away server; diff empties it")
	var waiting []func(reason string) // for a reason
	pair := func(to map[string]string, name, what string) {
		flags.Func(name, what, func(value string) error {
			key, value, ok := strings.Cut(value, "=")
			if !ok || value == "" || !validKey.MatchString(key) || strings.Contains(key, ".") == (name == "rename-table") {
				return errors.New("want " + strings.Split(what, "`")[1])
			}
			if name != "backfill" && !validName.MatchString(value) {
				return fmt.Errorf("%q is not a name: lower-case letters, digits and _", value)
			}
			to[key] = value
			return nil
		})
	}
	reasoned := func(to map[string]string, name, what string) {
		flags.Func(name, what, func(key string) error {
			if !validKey.MatchString(key) {
				return errors.New("want " + strings.Split(what, "`")[1])
			}
			to[key] = ""
			waiting = append(waiting, func(reason string) { to[key] = reason })
			return nil
		})
	}
	pair(c.request.Renames, "rename", "`TABLE.OLD=NEW`: the column has a new name")
	pair(c.request.RenameTables, "rename-table", "`OLD=NEW`: the table has a new name")
	reasoned(c.request.Drops, "drop", "`TABLE.COLUMN`: it goes, with its data (also TABLE, and TABLE.FOREIGN_KEY); needs -because")
	reasoned(c.request.Retypes, "retype", "`TABLE.COLUMN`: its type narrows, and every value fits; needs -because")
	pair(c.request.Backfills, "backfill", "`TABLE.COLUMN=EXPRESSION`: the value of rows that have none, in SQL")
	reasoned(c.request.Asserts, "assert", "`TABLE.NAME`: existing rows satisfy the new unique index, check or foreign key; needs -because")
	flags.Func("because", "`REASON` for the -drop, -retype and -assert before it", func(reason string) error {
		reason = strings.Join(strings.Fields(reason), " ")
		if len(strings.Fields(reason)) < 2 || strings.Contains(reason, ";") {
			return errors.New("want a reason of at least two words, without a semicolon")
		}
		if len(waiting) == 0 {
			return errors.New("want a -drop, -retype or -assert before it")
		}
		for _, set := range waiting {
			set(reason)
		}
		waiting = nil
		return nil
	})

	var names []string
	for rest := args; ; rest = flags.Args()[1:] {
		if err := flags.Parse(rest); err != nil {
			return nil, &usageError{strings.TrimSpace(help.String())}
		}
		if flags.NArg() == 0 {
			break
		}
		names = append(names, flags.Arg(0))
	}
	switch {
	case len(waiting) > 0:
		return nil, &usageError{"-drop, -retype and -assert need -because \"REASON\""}
	case c.check && c.hash, (c.check || c.hash) && len(names) > 0, !c.check && !c.hash && (len(names) != 1 || !validName.MatchString(names[0])):
		flags.Usage()
		return nil, &usageError{strings.TrimSpace(help.String())}
	case len(names) == 1:
		c.request.Name = names[0]
	}
	return c, nil
}
