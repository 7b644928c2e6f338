package server

import (
	"log/slog"
	"slices"
	"time"

	"chairside/internal/store"
)

// maxSlowStatements is the most names of statements in a line of the log.
const maxSlowStatements = 10

// slowStatement is the statements of one name of a slow request, for its log line.
type slowStatement struct {
	Name    string  `json:"name"`
	Count   int     `json:"count"`
	Total   float64 `json:"ms"`
	Longest float64 `json:"longest_ms"`
}

// logSlow logs a request that took longer than Options.SlowRequest, with the names and times of
// its statements. A long poll counts only the time that it used or waited for the database.
func (s *Server) logSlow(x *requestState, status int, duration time.Duration) {
	if s.SlowRequest == 0 || duration <= s.SlowRequest {
		return
	}
	var statements []slowStatement
	var inConnection, inLock, inTurn, inStatements time.Duration
	count := 0
	times := x.statements.Times()
	slices.SortStableFunc(times, func(a, b store.StatementTime) int { return int(b.Total - a.Total) })
	for _, t := range times {
		switch t.Name {
		case store.WaitConnection:
			inConnection = t.Total
			continue
		case store.WaitLock:
			inLock = t.Total
			continue
		case store.WaitTurn:
			inTurn = t.Total
			continue
		}
		count += t.Count
		inStatements += t.Total
		if len(statements) < maxSlowStatements {
			statements = append(statements, slowStatement{t.Name, t.Count, milliseconds(t.Total), milliseconds(t.Longest)})
		}
	}
	if x.polls && inConnection+inLock+inStatements <= s.SlowRequest {
		return
	}
	s.Logger.LogAttrs(x.r.Context(), slog.LevelWarn, "slow request", append([]slog.Attr{
		slog.String("request_id", x.id),
		slog.String("operation", x.name),
		slog.String("method", loggableMethod(x.method)),
		slog.String("route", x.pattern),
		slog.Int("status", status),
		slog.Float64("duration_ms", milliseconds(duration)),
		slog.Float64("connection_wait_ms", milliseconds(inConnection)),
		slog.Float64("lock_wait_ms", milliseconds(inLock)),
		slog.Float64("turn_wait_ms", milliseconds(inTurn)),
		slog.Int("statement_count", count),
		slog.Float64("statements_ms", milliseconds(inStatements)),
		slog.Any("statements", statements),
	}, x.traceAttr()...)...)
}

// traceAttr is the attribute of log lines that names the trace of a request; none without one.
func (x *requestState) traceAttr() []slog.Attr {
	if x.span == nil {
		return nil
	}
	return []slog.Attr{slog.String("trace_id", x.traceID())}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
