package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"chairside/cmd/chairside-bench/floor"
)

// floorCommand serves with the hand-written server. Its database address comes
// from the environment, where other users of the machine do not see it.
type floorCommand struct {
	Addr        string `default:"127.0.0.1:8081" help:"Where to listen. Default: ${default}"`
	DatabaseURL string `required:"" placeholder:"URL" help:"The PostgreSQL database, made by Chairside."`
	BaseURL     string `default:"http://127.0.0.1:8081" help:"The address in links. Default: ${default}"`
	Equal       bool   `help:"Keep Chairside's promises: an audit row for each booking, a log line and metrics for each request."`
}

// Run serves until the program is interrupted.
func (f *floorCommand) Run(c *console) error {
	server, err := floor.New(c, floor.Options{DatabaseURL: f.DatabaseURL, BaseURL: f.BaseURL, EqualPromises: f.Equal})
	if err != nil {
		return err
	}
	defer server.Close()
	listener, err := new(net.ListenConfig).Listen(c, "tcp", f.Addr)
	if err != nil {
		return err
	}
	hs := &http.Server{Handler: server.Handler(), ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(c, func() { _ = hs.Close() }) // whoever waits for an answer has gone
	defer stop()
	if err := hs.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
