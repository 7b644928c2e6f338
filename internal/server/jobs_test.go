package server

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestJobsNoteTheirRuns(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 7, 1, 9, 0, 0, 0, time.UTC)
	j := &job{name: "x", every: time.Hour, clock: func() time.Time { return now }}
	if got := j.shown(now); !got.Last.IsZero() || got.Late {
		t.Errorf("before the first run: %+v", got)
	}
	start := now
	j.ran(errors.New("down"))
	now = now.Add(time.Hour)
	j.ran(errors.New("still down"))
	if got := j.shown(now); !got.Failing.Equal(start) || !got.Last.Equal(now) || got.Late {
		t.Errorf("failing: %+v", got)
	}
	j.ran(nil)
	if got := j.shown(now.Add(2 * time.Hour)); !got.Failing.IsZero() || got.Late {
		t.Errorf("after two hours: %+v", got)
	}
	if got := j.shown(now.Add(2*time.Hour + latePause + 1)); !got.Late {
		t.Errorf("after more than two hours: %+v", got)
	}
}

// TestEveryJobIsSeen: the server starts each job, and the status page and the metrics show it. Work in
// the background has a job.
func TestEveryJobIsSeen(t *testing.T) {
	t.Parallel()
	b := setup(t)
	source, err := os.ReadFile("run.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?:\.Go\(func\(\)|writing\(func\(ctx context\.Context\)) \{([^}]*)\}`).FindAllSubmatch(source, -1) {
		if work := string(m[1]); !strings.Contains(work, "s.jobs.") && !strings.Contains(work, "s.replica.") {
			t.Errorf("no job notes the runs of %s", m[1])
		}
	}
	for _, j := range b.jobs.all {
		j.off = "" // such as those of PostgreSQL
		j.ran(nil)
	}
	var shown []string
	for _, j := range b.status(b.Clock.With(t.Context())).Jobs {
		shown = append(shown, j.Name)
	}
	metrics := b.get("/metrics", "User-Agent:", "Authorization:").ok(t, http.StatusOK).body
	fields := reflect.ValueOf(*b.jobs)
	for i := range fields.NumField() {
		name := fields.Type().Field(i).Name
		if fields.Field(i).Type() != reflect.TypeFor[*job]() {
			continue
		}
		at := slices.IndexFunc(b.jobs.all, func(j *job) bool { return reflect.ValueOf(j).Pointer() == fields.Field(i).Pointer() })
		if at < 0 {
			t.Errorf("%s is not listed", name)
			continue
		}
		j := b.jobs.all[at]
		if !strings.Contains(string(source), "s.jobs."+name+".ran") {
			t.Errorf("the server does not start %s", name)
		}
		if !slices.Contains(shown, j.name) {
			t.Errorf("the status page does not show %s", name)
		}
		if !strings.Contains(metrics, `job_name="`+j.id+`"`) {
			t.Errorf("the metrics do not show %s", name)
		}
	}
}

// TestServerRunsEveryJob starts a server and waits until each job that is not off has run.
func TestServerRunsEveryJob(t *testing.T) {
	t.Parallel()
	b := setup(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.Run(ctx, listener) }()
	missing := func() (names []string) {
		for _, j := range b.jobs.all {
			if got := j.shown(b.now); got.Off == "" && got.Every < time.Minute && got.Last.IsZero() {
				names = append(names, got.Name)
			}
		}
		return names
	}
	for range 100 {
		if len(missing()) == 0 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if names := missing(); len(names) > 0 {
		t.Errorf("did not run: %v", names)
	}
	for _, j := range b.jobs.all {
		if got := j.shown(b.now); !got.Failing.IsZero() {
			t.Errorf("%s fails", got.Name)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
