package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/term"

	"chairside/ent"
	"chairside/internal/signin"
)

var (
	// errDeclined means that the answer to confirm was not yes.
	errDeclined    = errors.New("nothing was changed")
	errUnconfirmed = errors.New("nothing was changed: without a terminal, confirm with --yes")
)

// confirmation is the flag of commands that revoke access or delete data.
type confirmation struct {
	Yes bool `help:"Do not ask for confirmation."`
}

// confirmDeletion asks whether to delete data for good. Scripts must have given --yes.
func (f confirmation) confirmDeletion(c *console, consequence string) error {
	if !f.Yes && !term.IsTerminal(int(c.in.Fd())) {
		return errUnconfirmed
	}
	return f.confirm(c, consequence)
}

// confirm asks on a terminal whether to continue, and fails with errDeclined. It does
// not ask scripts, whose standard input is not a terminal.
func (f confirmation) confirm(c *console, consequence string) error {
	if f.Yes || !term.IsTerminal(int(c.in.Fd())) {
		return nil
	}
	fmt.Fprintf(c.err, "%s\nContinue? [y/N] ", consequence)
	typed, err := c.readLine()
	if err != nil {
		return err
	}
	switch strings.ToLower(strings.TrimSpace(typed)) {
	case "y", "yes":
		return nil
	}
	return errDeclined
}

// readLine reads one line from the terminal, and nothing beyond it: the rest may
// answer the next question. An interrupt ends it.
func (c *console) readLine() (string, error) {
	type result struct {
		line string
		err  error
	}
	read := make(chan result, 1)
	go func() {
		var line []byte
		for next := make([]byte, 1); ; {
			n, err := c.in.Read(next)
			switch {
			case errors.Is(err, io.EOF):
				read <- result{string(line), nil}
				return
			case err != nil:
				read <- result{"", fmt.Errorf("read the answer: %w", err)}
				return
			case n > 0 && next[0] == '\n':
				read <- result{string(line), nil}
				return
			}
			line = append(line, next[:n]...)
		}
	}()
	select {
	case r := <-read:
		return r.line, r.err
	case <-c.Done():
		return "", context.Cause(c)
	}
}

// describeUser describes a user: "Rose Ray <rose@bright.test>, receptionist at
// Bright".
func describeUser(c *console, u *ent.User) (string, error) {
	practice, err := practiceOf(c, u)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s %s <%s>, %s at %s", u.FirstName, u.LastName, u.Email, u.Role, practice.Name), nil
}

// describeAccess counts a user's access in words: "2 sessions, 3 tokens and 1
// authorised application".
func describeAccess(a signin.Access) string {
	var parts []string
	for _, part := range []struct {
		n    int
		what string
	}{{a.Sessions, "session"}, {a.Tokens, "token"}, {a.Applications, "authorised application"}, {a.Passkeys, "passkey"}} {
		switch {
		case part.n == 1:
			parts = append(parts, "1 "+part.what)
		case part.n > 1:
			parts = append(parts, fmt.Sprintf("%d %ss", part.n, part.what))
		}
	}
	switch n := len(parts); n {
	case 0:
		return "no sessions or tokens"
	case 1:
		return parts[0]
	default:
		return strings.Join(parts[:n-1], ", ") + " and " + parts[n-1]
	}
}
