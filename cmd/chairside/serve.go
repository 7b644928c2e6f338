package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	ogenerrors "github.com/go-faster/errors"

	"chairside/internal/audit/chain"
	"chairside/internal/config"
	"chairside/internal/seal"
	"chairside/internal/seed"
	"chairside/internal/server"
	"chairside/internal/store"
	"chairside/internal/store/backup"
	"chairside/internal/store/bulk"
	"chairside/internal/store/migrate"
	"chairside/internal/store/sealing"
	"chairside/internal/web"
)

type serveCommand struct{ config.ServeFlags }

// Help is the text of --help.
func (serveCommand) Help() string {
	return `The server creates and migrates an embedded database on start. Before a migration it copies a database that holds data to a file beside it (NAME.before-VERSION; the last two are kept). It refuses a PostgreSQL database with pending migrations, unless you pass --migrate.

With --demo the server is a sandbox. The first start migrates the database and fills it with a demo practice; every start prints a new token. It refuses a database that holds other practices. With --system-database-url it can do neither: run "chairside migrate up", "chairside seed" and "chairside database roles" as the tables' owner first.

With --backup-dir the server copies an embedded database at an interval, as "chairside backup" does; of several processes one makes the copy. "chairside restore" puts one back.

On SIGTERM /readyz responds 503 and the server serves on for --drain, then closes each connection with its next response and finishes what runs: put it behind a load balancer that checks /readyz, and restart one server after the other. An interrupt (Ctrl-C) does not wait.

An idle server has about 20 MB of private memory on PostgreSQL and 30 MB on SQLite, plus 55 MB of program pages that the kernel can drop. The garbage collector runs at GOGC=300; change it with Go's environment variables GOGC and GOMEMLIMIT.`
}

// Run serves until an interrupt.
func (s *serveCommand) Run(c *console) (err error) {
	flags, err := s.Read()
	if err != nil {
		return err
	}
	logger := newLogger(c, flags.JSONLog)
	tuneGarbageCollector(serverGCPercent)
	ogenerrors.DisableTrace() // ogen would capture the caller for each missing parameter

	if flags.Migrate && !flags.Database.Embedded() { // as the tables' owner, before roles are looked at
		if err := c.applyMigrations(flags.Database); err != nil {
			return err
		}
	}
	db, err := store.OpenServing(c, flags.Database.DatabaseURL, flags.SystemDatabaseURL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := db.UseReplicas(flags.ReplicaURLs, logger); err != nil {
		return err
	}
	if err := loadKeys(db, flags.Database); err != nil {
		return err
	}
	if db.Keys == nil {
		return seal.ErrNoKeys
	}
	var checkpoints *chain.Checkpoints
	if flags.AuditCheckpoints != "" {
		if checkpoints, err = chain.OpenCheckpoints(flags.AuditCheckpoints, db.AuditKey); err != nil {
			return err
		}
	}
	backups, err := openBackups(flags.Backup)
	if err != nil {
		return err
	}
	mail, err := openMail(flags.SMTP)
	if err != nil {
		return err
	}
	if db.File != "" {
		if err := backup.Sweep(db.File); err != nil {
			logger.Warn("a killed backup or restore left patients' data beside the database, which cannot be removed", "error", err)
		}
	}
	// With two logins the server owns no table: it can only say what to run.
	apply := flags.Demo && flags.SystemDatabaseURL == "" && errors.Is(migrate.Check(c, db), migrate.ErrPending)
	if err := c.prepare(db, flags.Database.Embedded() || apply); err != nil {
		return err
	}
	if err := sealing.Check(c, db); err != nil {
		return err
	}
	if db.Pooled() {
		logger.Info("a pooler is in front of PostgreSQL: connections keep no settings between transactions")
	}
	if reason := db.Unconfined(); reason != "" {
		logger.Warn(reason)
	}
	if flags.Demo {
		if err := c.fillDemo(db, flags.SystemDatabaseURL == ""); err != nil {
			return err
		}
	}

	if err := bulk.Measure(c, db); err != nil {
		logger.Warn("cannot update the database's statistics; the next start tries again", "error", err)
	}

	listener, err := listenOn(c, "--addr", flags.Addr)
	if err != nil {
		return err
	}
	baseURL := flags.BaseURL
	if baseURL == "" {
		baseURL = urlOf(listener.Addr().String(), flags.CertFile != "")
	}
	var demo *web.DemoUser
	if flags.Demo {
		demo = &web.DemoUser{Email: seed.DemoAdmin, Password: seed.Password}
	}
	interrupted, stop := signal.NotifyContext(context.WithoutCancel(c), os.Interrupt)
	defer stop()
	srv, err := server.New(server.Options{
		DB: db, BaseURL: baseURL, Demo: flags.Demo, DemoUser: demo, Logger: logger, Version: version(), SecretFiles: secretFiles(db, flags.Database, s.SMTPPasswordFile),
		RateLimit: flags.RateLimit, PracticeRateLimit: flags.PracticeRateLimit, ChangesRetention: flags.ChangesRetention,
		TrustedProxies: flags.TrustedProxies, CertFile: flags.CertFile, KeyFile: flags.KeyFile, MCPAllowWrites: flags.MCPAllowWrites,
		Checkpoints:         checkpoints,
		Backups:             backups,
		Mail:                mail,
		Drain:               flags.Drain,
		Hurry:               interrupted.Done(),
		SlowRequest:         flags.SlowRequest,
		OTLPEndpoint:        flags.OTLPEndpoint,
		OTLPHeaders:         flags.OTLPHeaders,
		TraceSampleRatio:    flags.TraceSampleRatio,
		WebhookAllowPrivate: flags.WebhookAllowPrivate,
	})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	if flags.Demo {
		if err := c.welcome(db, baseURL); err != nil {
			return errors.Join(err, listener.Close())
		}
	}
	if flags.PprofAddr != "" {
		stop, err := servePprof(c, flags.PprofAddr, logger)
		if err != nil {
			return errors.Join(err, listener.Close())
		}
		defer func() { err = errors.Join(err, stop()) }()
	}
	debug.FreeOSMemory() // returns to the system what only the start needed
	logger.Info("listening", "address", listener.Addr().String(), "base_url", baseURL)
	return srv.Run(c, listener)
}

// listenOn listens on the address of a flag.
func listenOn(ctx context.Context, flag, addr string) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	failed := new(net.OpError)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s is in use: choose another %s", addr, flag)
	case errors.As(err, &failed):
		return nil, fmt.Errorf("cannot listen on %s (%w): choose another %s", addr, failed.Err, flag)
	}
	return listener, err
}

// openBackups returns the schedule of copies, or nil without a directory.
func openBackups(flags config.ServeBackup) (*backup.Schedule, error) {
	if flags.Dir == "" {
		return nil, nil
	}
	switch info, err := os.Stat(flags.Dir); {
	case errors.Is(err, fs.ErrNotExist): // it may be a disk that is not mounted, so it is not created
		return nil, config.Mistakes{"--backup-dir: " + flags.Dir + " does not exist: create the directory, or mount its disk"}
	case err != nil:
		return nil, config.Mistakes{"--backup-dir: " + err.Error()}
	case !info.IsDir():
		return nil, config.Mistakes{"--backup-dir: " + flags.Dir + " is a file: name a directory"}
	}
	return &backup.Schedule{Folder: backup.Folder{Dir: flags.Dir, Keep: flags.Keep, Recipients: flags.Recipients}, Every: flags.Every}, nil
}

// urlOf is the URL of an address that a server listens on, for clients on this machine.
func urlOf(addr string, tls bool) string {
	scheme := "http"
	if tls {
		scheme = "https"
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return scheme + "://" + addr
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return scheme + "://" + net.JoinHostPort(host, port)
}

// newLogger logs to standard error, as JSON or as text.
func newLogger(c *console, json bool) *slog.Logger {
	if json {
		return slog.New(slog.NewJSONHandler(c.err, nil))
	}
	return slog.New(slog.NewTextHandler(c.err, nil))
}
