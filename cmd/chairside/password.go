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

// chosenPassword is a new password that passed the checks.
type chosenPassword = password.Chosen

// readPassword reads and checks a new password; about are words that it must not
// consist of, such as the user's name. On a terminal it asks twice without echo;
// otherwise the password is the first line of standard input.
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
			err = nil // the last line may lack its newline
		}
		chosen = strings.TrimRight(chosen, "\r\n")
	}
	if err != nil {
		return chosenPassword{}, fmt.Errorf("read the password: %w", err)
	}
	if chosen == "" {
		return chosenPassword{}, errors.New("a password is required: type it, or send it as the first line of standard input")
	}
	return password.Choose(c, chosen, about...)
}

// askPassword asks for a new password twice on the terminal, without echo.
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
	second, err := ask("Confirm password: ")
	if err != nil {
		return "", err
	}
	if first != second {
		return "", errors.New("the passwords do not match")
	}
	return first, nil
}
