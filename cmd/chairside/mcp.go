package main

import (
	"fmt"
	"log/slog"
	"net/http"

	"chairside/internal/config"
	"chairside/internal/mcp"
	"chairside/internal/server"
	"chairside/internal/store"
)

type mcpCommand struct{ config.MCPFlags }

// Help is the text of --help.
func (mcpCommand) Help() string {
	return `Speaks the Model Context Protocol (MCP) with one assistant. Each operation of the API that the access token allows is a tool. Standard output carries only the protocol.

The token comes from the environment variable CHAIRSIDE_TOKEN or from --token-file, never from an argument. Create one with "chairside token create", with no more scopes than the assistant needs.

The assistant can only read, unless you pass --allow-writes. Even then a tool that changes data stores nothing until the assistant confirms the change, and shows what would change first.

A running server offers the same at /mcp, for assistants that connect over HTTP.`
}

// Run serves until standard input ends.
func (m *mcpCommand) Run(c *console) error {
	flags, err := m.Read()
	if err != nil {
		return err
	}
	logger := slog.New(slog.NewJSONHandler(c.err, nil))
	options := mcp.Options{BaseURL: flags.BaseURL, AllowWrites: flags.AllowWrites, Logger: logger}
	if flags.Server != "" {
		options.BaseURL, options.API = flags.Server, mcp.HTTP()
		if options.Document, err = mcp.Fetch(c, options.API, flags.Server); err != nil {
			return fmt.Errorf("read the server's OpenAPI document: %w", err)
		}
		return m.serve(c, options, flags.Token)
	}
	return c.withDatabase(flags.Database, func(db *store.DB) error {
		srv, err := server.New(server.Options{DB: db, BaseURL: flags.BaseURL, RateLimit: flags.RateLimit, Logger: logger})
		if err != nil {
			return err
		}
		options.Document = srv.Document()
		return srv.Lend(c, func(api http.Handler) error {
			options.API = mcp.InProcess(api)
			return m.serve(c, options, flags.Token)
		})
	})
}

// serve checks the token before the assistant starts to work.
func (mcpCommand) serve(c *console, options mcp.Options, token string) error {
	s, err := mcp.New(options)
	if err != nil {
		return err
	}
	if err := s.Check(c, token); err != nil {
		return err
	}
	return s.Serve(c, token, c.in, c.out)
}
