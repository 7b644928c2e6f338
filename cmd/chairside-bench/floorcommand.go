package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"chairside/cmd/chairside-bench/floor"
	"chairside/internal/seal"
)

// floorCommand starts the hand-written server. Its database URL comes from the
// environment, where other users of the machine cannot see it.
type floorCommand struct {
	Addr        string `default:"127.0.0.1:8081" help:"Address to listen on. Default: ${default}"`
	DatabaseURL string `required:"" placeholder:"URL" help:"PostgreSQL database of Chairside."`
	KeysFile    string `required:"" placeholder:"FILE" help:"Keys of the database's sealed columns."`
	BaseURL     string `default:"http://127.0.0.1:8081" help:"URL used in links. Default: ${default}"`
	Equal       bool   `help:"Also write an audit row for each booking, and a log line and metrics for each request, like Chairside."`
}

// Run serves until an interrupt.
func (f *floorCommand) Run(c *console) error {
	keys, err := seal.File(f.KeysFile, false)
	if err != nil {
		return err
	}
	server, err := floor.New(c, floor.Options{DatabaseURL: f.DatabaseURL, Keys: keys, BaseURL: f.BaseURL, EqualPromises: f.Equal})
	if err != nil {
		return err
	}
	defer server.Close()
	listener, err := new(net.ListenConfig).Listen(c, "tcp", f.Addr)
	if err != nil {
		return err
	}
	hs := &http.Server{Handler: server.Handler(), ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(c, func() { _ = hs.Close() }) // the clients have gone
	defer stop()
	if err := hs.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
