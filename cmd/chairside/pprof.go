package main

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/pprof"
	"time"
)

// servePprof serves Go's profiles on a separate listener until stop is called. It
// omits /debug/pprof/cmdline: the command line may hold a password.
func servePprof(c *console, addr string, logger *slog.Logger) (stop func() error, err error) {
	listener, err := listenOn(c, "--pprof-addr", addr)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", http.NotFound)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelWarn)}
	go func() {
		if err := srv.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			logger.Error("profile server stopped", "error", err)
		}
	}()
	logger.Info("serving profiles", "address", "http://"+listener.Addr().String()+"/debug/pprof/")
	return srv.Close, nil
}
