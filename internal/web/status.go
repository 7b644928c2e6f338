package web

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

const statusPath = "/settings/status"

// CheckState is the outcome of a Check.
type CheckState int

// The outcomes of a check.
const (
	Passed CheckState = iota
	Failed
	NotChecked // it does not apply, or it could not be run
)

// Check is the outcome of one check of the installation. This page and "chairside doctor" show the
// same checks (server.Diagnose).
type Check struct {
	Name  string
	State CheckState
	Text  string // what was found, as a sentence without a capital letter and a full stop
	Mend  string // what to do about it, likewise; "" if Text says so
	Err   error  // why the check could not be run; nil otherwise
}

// Fact is a property of the server.
type Fact struct {
	Name, Text string
	At         time.Time // follows the text; zero for none
}

// Job is work in the background of one server process.
type Job struct {
	Name    string
	Every   time.Duration
	Off     string    // why it does not run here; "" if it does
	Last    time.Time // end of the last run; zero before the first one
	Failing time.Time // since when every run has failed; zero if the last one succeeded
	Late    bool      // the last run is too long ago
	Waiting string    // what waits for it; "" if that is not measured
	Since   time.Time // for how long; zero if nothing waits
	Unknown bool      // what waits could not be read
}

// Status is what administrators see of the server.
type Status struct {
	Facts     []Fact
	Checks    []Check
	CheckedAt time.Time
	Jobs      []Job
}

// Problems is the number of checks that failed, and of jobs that fail or are late.
func (s *Status) Problems() (n int) {
	for _, c := range s.Checks {
		if c.State == Failed || c.Err != nil {
			n++
		}
	}
	for _, j := range s.Jobs {
		if j.Late || !j.Failing.IsZero() {
			n++
		}
	}
	return n
}

// Verdict is the state of the server in words.
func (s *Status) Verdict() string {
	switch n := s.Problems(); n {
	case 0:
		return "No problems found"
	case 1:
		return "1 problem found"
	default:
		return fmt.Sprintf("%d problems found", n)
	}
}

// Ok reports whether the check passed.
func (c Check) Ok() bool { return c.State == Passed }

// Bad reports whether the check failed.
func (c Check) Bad() bool { return c.State == Failed }

// Found is the text as a sentence.
func (c Check) Found() string { return sentence(c.Text) }

// ToDo is the mend as a sentence.
func (c Check) ToDo() string { return sentence(c.Mend) }

// Waits is what waits for the job, with a capital letter.
func (j Job) Waits() string { return strings.TrimSuffix(sentence(j.Waiting), ".") }

// Pace is how often the job runs: "every second", "every 5 minutes".
func (j Job) Pace() string {
	units := []struct {
		of   time.Duration
		name string
	}{{time.Hour, "hour"}, {time.Minute, "minute"}, {time.Second, "second"}}
	i := slices.IndexFunc(units, func(u struct {
		of   time.Duration
		name string
	}) bool {
		return j.Every >= u.of && j.Every%u.of == 0
	})
	switch {
	case i < 0:
		return fmt.Sprintf("Every %d ms", j.Every.Milliseconds())
	case j.Every == units[i].of:
		return "Every " + units[i].name
	default:
		return fmt.Sprintf("Every %d %ss", j.Every/units[i].of, units[i].name)
	}
}

// sentence adds the capital letter and the full stop.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// status shows the state of the server.
func (s *Site) status(w http.ResponseWriter, r *http.Request) error {
	s.show(w, r, http.StatusOK, "status", view{Title: "Status", Here: statusPath, Page: s.Status(r.Context())})
	return nil
}
