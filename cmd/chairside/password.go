package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/term"

	"chairside/internal/signin/password"
)

// chosenPassword is a new password that was read.
type chosenPassword = password.Chosen

// readPassword reads a new password and checks it; about is what others know of
// the user. On a terminal it asks twice and shows nothing; otherwise the first
// line of standard input is the password.
func (c *console) readPassword(about ...string) (chosenPassword, error) {
	var (
		chosen string
		err    error
	)
	if term.IsTerminal(int(c.in.Fd())) {
		chosen, err = c.askPassword()
	} else {
		chosen, err = bufio.NewReader(io.LimitReader(c.in, 2*password.MaxBytes)).ReadString('\n')
		if errors.Is(err, io.EOF) {
			err = nil // a last line without its end
		}
		chosen = strings.TrimRight(chosen, "\r\n")
	}
	if err != nil {
		return chosenPassword{}, fmt.Errorf("read the password: %w", err)
	}
	if chosen == "" {
		return chosenPassword{}, errors.New("a password is needed: type it, or send it as a line on standard input")
	}
	return password.Choose(c, chosen, about...)
}

func (c *console) askPassword() (string, error) {
	ask := func(prompt string) (string, error) {
		fmt.Fprint(c.err, prompt)
		typed, err := term.ReadPassword(int(c.in.Fd()))
		fmt.Fprintln(c.err)
		return string(typed), err
	}
	first, err := ask("Password: ")
	if err != nil {
		return "", err
	}
	second, err := ask("Password again: ")
	if err != nil {
		return "", err
	}
	if first != second {
		return "", errors.New("the two are not the same")
	}
	return first, nil
}
