package server

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"chairside/ent/webhookdelivery"
	"chairside/internal/audit/chain"
	"chairside/internal/clock"
	"chairside/internal/report/schedule"
	"chairside/internal/store/feedlog"
	"chairside/internal/store/migrate"
	"chairside/internal/web"
)

const (
	// diagnosisLife is how long the outcomes of the checks are shown: they read all rows.
	diagnosisLife = time.Minute
	// diagnosisTime bounds each check, so that the page stays within pageTime.
	diagnosisTime = 4 * time.Second
	// waitingShown is the most waiting events that are counted.
	waitingShown = 1000
)

// diagnosis is the last outcomes of the checks.
type diagnosis struct {
	mu     sync.Mutex // held while the checks run: others wait for them
	checks []web.Check
	at     time.Time
}

// diagnose returns the outcomes of the checks, and when they were made.
func (s *Server) diagnose(ctx context.Context) ([]web.Check, time.Time) {
	d := &s.diagnosis
	d.mu.Lock()
	defer d.mu.Unlock()
	if now := clock.Now(ctx); d.checks == nil || now.Sub(d.at) >= diagnosisLife {
		in := Installation{DB: s.DB, SecretFiles: s.SecretFiles, Backups: s.Backups, Network: Network{BaseURL: s.BaseURL, CertFile: s.CertFile, KeyFile: s.KeyFile, TrustedProxies: s.TrustedProxies}}
		d.checks, d.at = in.Diagnose(context.WithoutCancel(ctx), diagnosisTime), now
		for _, c := range d.checks {
			if c.Err != nil {
				s.Logger.Warn("a check of the status page could not be run", slog.String("check", c.Name), slog.String("cause", describeError(c.Err)))
			}
		}
	}
	return d.checks, d.at
}

// status returns what administrators see of the server. Of practices' data it has only what the
// caller's practice has waiting.
func (s *Server) status(ctx context.Context) *web.Status {
	st := &web.Status{Facts: s.facts(ctx)}
	st.Checks, st.CheckedAt = s.diagnose(ctx)
	waits := s.waits()
	for _, j := range s.jobs.all {
		shown := j.shown(clock.Now(ctx))
		if wait := waits[j]; wait != nil && shown.Off == "" {
			var err error
			shown.Waiting, shown.Since, err = wait(ctx)
			if shown.Unknown = err != nil; shown.Unknown {
				s.notRead(j.name, err)
			}
		}
		st.Jobs = append(st.Jobs, shown)
	}
	return st
}

// notRead logs why a part of the status is unknown.
func (s *Server) notRead(what string, err error) {
	s.Logger.Warn("a part of the status could not be read", slog.String("part", what), slog.String("cause", describeError(err)))
}

// waits are the functions that return what waits for a job, in words, and the time of the oldest.
func (s *Server) waits() map[*job]func(context.Context) (string, time.Time, error) {
	return map[*job]func(context.Context) (string, time.Time, error){
		s.jobs.number: func(ctx context.Context) (string, time.Time, error) {
			at, err := feedlog.Unnumbered(ctx, s.DB.SQL, s.DB.Dialect)
			return some(at, "changes"), at, err
		},
		s.jobs.seal: func(ctx context.Context) (string, time.Time, error) {
			at, err := chain.Unsealed(ctx, s.DB)
			return some(at, "entries"), at, err
		},
		s.jobs.record: func(context.Context) (string, time.Time, error) {
			if n := s.trail.Waiting(); n > 0 {
				return fmt.Sprintf("entries in this process: %d", n), time.Time{}, nil
			}
			return nothing, time.Time{}, nil
		},
		s.jobs.deliver:      s.waitingDeliveries,
		s.jobs.runSchedules: s.troubledSchedules,
		s.jobs.copyDatabase: func(ctx context.Context) (string, time.Time, error) {
			at, err := s.Backups.Overdue(ctx, s.DB)
			if err != nil || at.IsZero() {
				return nothing, at, err
			}
			return "a copy", at, nil
		},
	}
}

// nothing is what waits for a job that is up to date.
const nothing = "nothing"

// some names what waits if there is an oldest one.
func some(oldest time.Time, what string) string {
	if oldest.IsZero() {
		return nothing
	}
	return "some " + what
}

// waitingDeliveries returns the events of the caller's practice that are not delivered yet.
func (s *Server) waitingDeliveries(ctx context.Context) (string, time.Time, error) {
	waiting, err := s.DB.Ent.WebhookDelivery.Query().Where(webhookdelivery.SettledAtIsNil()).
		Order(webhookdelivery.ByID()).Limit(waitingShown+1).Select(webhookdelivery.FieldID, webhookdelivery.FieldChangedAt).All(ctx)
	switch n := len(waiting); {
	case err != nil:
		return "", time.Time{}, err
	case n == 0:
		return nothing, time.Time{}, nil
	case n > waitingShown:
		return fmt.Sprintf("events of this practice: more than %d", waitingShown), waiting[0].ChangedAt, nil
	default:
		return fmt.Sprintf("events of this practice: %d", n), waiting[0].ChangedAt, nil
	}
}

// troubledSchedules returns the scheduled reports of the caller's practice that fail, are late or are stopped.
func (s *Server) troubledSchedules(ctx context.Context) (string, time.Time, error) {
	text, since, err := schedule.Troubles(ctx, s.DB)
	return cmp.Or(text, nothing), since, err
}

// unknown is the text of a fact that could not be read.
const unknown = "Unknown: it could not be read. The server’s log has the reason."

// facts returns the properties of the server. What it cannot know it says so of.
func (s *Server) facts(ctx context.Context) []web.Fact {
	environment, version := "Live", s.Version
	if s.Demo {
		environment = "Demo, with made-up data"
	}
	if version == "" {
		version = "Unknown: the program was built without it."
	}
	all := []web.Fact{
		{Name: "Version", Text: version},
		{Name: "Environment", Text: environment},
		{Name: "Public URL", Text: s.BaseURL},
		{Name: "Process started", At: s.started},
	}
	for _, f := range []struct {
		name string
		read func(context.Context) (string, time.Time, error)
	}{
		{"Database", s.databaseFact}, {"Database size", s.sizeFact}, {"Migrations", s.migrationsFact},
		{"Replicas", s.replicasFact}, {"Last backup", s.backupFact},
	} {
		text, at, err := f.read(ctx)
		if err != nil {
			text, at = unknown, time.Time{}
			s.notRead(f.name, err)
		}
		all = append(all, web.Fact{Name: f.name, Text: text, At: at})
	}
	return append(all, s.replicaFacts()...)
}

// replicaFacts returns the replicas that answer reads, each with its lag.
func (s *Server) replicaFacts() (all []web.Fact) {
	for _, r := range s.DB.ReplicaStates() {
		text := fmt.Sprintf("Answers reads, %s behind.", r.Lag.Round(time.Millisecond))
		switch {
		case r.Primary:
			text = "It is the primary now."
		case r.Reason != "":
			text = fmt.Sprintf("Left out: %s. The primary answers in its place.", r.Reason)
		}
		all = append(all, web.Fact{Name: "Replica " + r.Name, Text: text})
	}
	return all
}

func (s *Server) databaseFact(ctx context.Context) (string, time.Time, error) {
	version, err := s.DB.Version(ctx)
	return version, time.Time{}, err
}

func (s *Server) sizeFact(ctx context.Context) (string, time.Time, error) {
	bytes, err := s.DB.Size(ctx)
	return inUnits(bytes) + " for all practices together", time.Time{}, err
}

// inUnits writes a size: "12.4 MB".
func inUnits(bytes int64) string {
	const step = 1000
	size, unit := float64(bytes), 0
	units := []string{"bytes", "kB", "MB", "GB", "TB"}
	for size >= step && unit < len(units)-1 {
		size, unit = size/step, unit+1
	}
	if unit == 0 {
		return fmt.Sprintf("%d bytes", bytes)
	}
	return fmt.Sprintf("%.1f %s", size, units[unit])
}

func (s *Server) migrationsFact(ctx context.Context) (string, time.Time, error) {
	all, err := migrate.Status(ctx, s.DB)
	if len(all) == 0 { // with others, the check has the error
		return "", time.Time{}, err
	}
	applied, last := 0, migrate.Migration{}
	for _, m := range all {
		if !m.AppliedAt.IsZero() {
			applied, last = applied+1, m
		}
	}
	text := fmt.Sprintf("%d of %d applied", applied, len(all))
	if applied > 0 {
		text += fmt.Sprintf(", the last one, %s_%s, on", last.Version, last.Name)
	}
	return text, last.AppliedAt, nil
}

func (s *Server) replicasFact(ctx context.Context) (string, time.Time, error) {
	if s.DB.File != "" {
		return "None: an embedded database has no replication.", time.Time{}, nil
	}
	r, err := s.DB.Replicas(ctx)
	text := ""
	switch {
	case err != nil:
		return "", time.Time{}, err
	case r.Count == 0:
		text = "None are connected."
	case r.Hidden:
		text = fmt.Sprintf("%d connected. Their lag is hidden from this server’s role: grant it pg_monitor.", r.Count)
	default:
		text = fmt.Sprintf("%d connected, at most %s behind.", r.Count, r.Lag.Round(time.Millisecond))
	}
	if r.Standby {
		text += " This database is a standby itself."
	}
	return text, time.Time{}, nil
}

func (s *Server) backupFact(ctx context.Context) (string, time.Time, error) {
	if s.DB.File != "" {
		at, err := s.DB.LastBackup(ctx)
		if at.IsZero() {
			return "None by this program. Copies by other programs are not listed here.", at, err
		}
		return "By this program on", at, err
	}
	a, err := s.DB.Archive(ctx)
	switch {
	case err != nil:
		return "", time.Time{}, err
	case !a.On:
		return "Unknown: pg_dump and other programs leave no trace here, and the server archives no WAL.", time.Time{}, nil
	case a.Failed.After(a.Last):
		return "Base backups are not seen here. Archiving WAL has failed since", a.Failed, nil
	case a.Last.IsZero():
		return "Base backups are not seen here. No WAL has been archived yet.", time.Time{}, nil
	}
	return "Base backups are not seen here. WAL was last archived on", a.Last, nil
}
