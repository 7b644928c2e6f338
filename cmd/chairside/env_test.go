package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"chairside/internal/config"
)

// TestOnlyWebhookCommandsReadTheAddressOfAWebhook: a variable that is set for another command must
// not change where patients' data is sent.
func TestOnlyWebhookCommandsReadTheAddressOfAWebhook(t *testing.T) {
	t.Parallel()
	parser, err := kong.New(&commands{}, kong.DefaultEnvars(config.EnvPrefix), variables())
	if err != nil {
		t.Fatal(err)
	}
	readers := 0
	err = kong.Visit(parser.Model, func(node kong.Visitable, next kong.Next) error {
		n, ok := node.(*kong.Node)
		if ok && slices.ContainsFunc(n.Flags, func(f *kong.Flag) bool { return slices.Contains(f.Envs, config.EnvPrefix+"_URL") }) {
			if readers++; !strings.HasPrefix(n.Path(), "webhook ") {
				t.Errorf("%q reads %s_URL", n.Path(), config.EnvPrefix)
			}
		}
		return next(nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	if readers == 0 {
		t.Error("no command has the address of a webhook")
	}
}
