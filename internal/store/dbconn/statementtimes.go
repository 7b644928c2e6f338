package dbconn

import (
	"context"
	"sync"
	"time"
)

// Names of waits in Statements.
const (
	WaitConnection = "wait for a connection"
	WaitLock       = "wait for a lock"
	WaitTurn       = "wait for a turn" // of a report
)

const (
	// maxNames is the most names that Statements tells apart; further ones share one more.
	maxNames = 32
	// maxKept is the most statements that Statements keeps one by one.
	maxKept = 256
	// shortestWait is the shortest wait that is recorded: nearly every statement waits for less.
	shortestWait = time.Millisecond
)

// Statements records what one request sends to its database, and how long it waits for it. It has
// the names of statements (Names), but neither their texts nor their values. It is safe for
// concurrent use.
type Statements struct {
	// Keep keeps statements one by one, for traces. It is set before the first one.
	Keep bool

	mu      sync.Mutex
	times   []StatementTime
	space   [8]StatementTime // the first elements of times
	each    []Statement
	dropped int
}

// StatementTime adds up the statements of one name.
type StatementTime struct {
	Name           string
	Count          int
	Total, Longest time.Duration
}

// Statement is one statement, or one wait. A query lasts until its rows are closed.
type Statement struct {
	Name     string
	Start    time.Time
	Duration time.Duration
	Failed   bool
}

// Times returns the statements and waits so far, by name, in the order of their first end.
func (s *Statements) Times() []StatementTime {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]StatementTime(nil), s.times...)
}

// Each returns the statements and waits so far one by one, and the number of those that were not
// kept. Both are empty without Keep.
func (s *Statements) Each() (kept []Statement, dropped int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Statement(nil), s.each...), s.dropped
}

func (s *Statements) add(one Statement) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.timeOf(one.Name)
	t.Count++
	t.Total += one.Duration
	t.Longest = max(t.Longest, one.Duration)
	switch {
	case !s.Keep:
	case len(s.each) == maxKept:
		s.dropped++
	default:
		s.each = append(s.each, one)
	}
}

// timeOf returns the element of a name. Names beyond maxNames share one.
func (s *Statements) timeOf(name string) *StatementTime {
	if s.times == nil {
		s.times = s.space[:0]
	}
	for i := range s.times {
		if s.times[i].Name == name {
			return &s.times[i]
		}
	}
	if len(s.times) == maxNames {
		name = otherStatement
	}
	if last := len(s.times) - 1; last == maxNames {
		return &s.times[last]
	}
	s.times = append(s.times, StatementTime{Name: name})
	return &s.times[len(s.times)-1]
}

type statementsKey struct{}

// WithStatements returns a context whose statements are recorded in s.
func WithStatements(ctx context.Context, s *Statements) context.Context {
	return context.WithValue(ctx, statementsKey{}, s)
}

// Measurement is a statement or a wait in progress. The zero value records nothing.
type Measurement struct {
	to    *Statements
	name  string
	start time.Time
}

// measure begins to measure a statement.
func measure(ctx context.Context, name string) Measurement {
	s, _ := ctx.Value(statementsKey{}).(*Statements)
	return s.measure(name)
}

func (s *Statements) measure(name string) Measurement {
	if s == nil {
		return Measurement{}
	}
	return Measurement{to: s, name: name, start: time.Now()}
}

// measureText is measure for a statement that is not prepared, so its name is not known yet.
func (c *conn) measureText(ctx context.Context, text string) Measurement {
	s, _ := ctx.Value(statementsKey{}).(*Statements)
	if s == nil {
		return Measurement{}
	}
	return s.measure(c.names.of(text))
}

// end records the statement.
func (m Measurement) end(err error) {
	if m.to != nil {
		m.to.add(Statement{Name: m.name, Start: m.start, Duration: time.Since(m.start), Failed: err != nil})
	}
}

// done returns end for the closing of rows, or nil if nothing is recorded.
func (m Measurement) done() func() error {
	if m.to == nil {
		return nil
	}
	return func() error {
		m.end(nil)
		return nil
	}
}

// MeasureWait begins to measure a wait: WaitConnection, WaitLock or WaitTurn. EndWait ends it.
func MeasureWait(ctx context.Context, name string) Measurement { return measure(ctx, name) }

// EndWait records a wait, unless it was shorter than a millisecond.
func (m Measurement) EndWait() {
	if m.to != nil && time.Since(m.start) >= shortestWait {
		m.end(nil)
	}
}
