package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"chairside/cmd/chairside-bench/load"
	"chairside/internal/seed"
)

// background is what runs on the machine during a measurement. The zero value is nothing.
type background struct {
	users    int  // users who show a report again and again
	busyLoop bool // a process that only takes processor time
}

// String names the load in the table.
func (b background) String() string {
	switch {
	case b.users > 0:
		return fmt.Sprintf("%d users with reports", b.users)
	case b.busyLoop:
		return "a busy loop"
	default:
		return "none"
	}
}

// reporters are users that show a report again and again.
type reporters struct {
	cancel context.CancelFunc
	group  sync.WaitGroup
	shown  atomic.Int64

	mu      sync.Mutex
	failure error // the first one
}

// report lets n users of Chairside show the income of the last twelve months until stop is called.
func (e entry) report(ctx context.Context, n int) (*reporters, error) {
	browser, err := e.signIn(ctx)
	if err != nil {
		return nil, err
	}
	now := time.Now().UTC()
	address := e.url + "/reports/income?" + url.Values{"from": {now.AddDate(-1, 0, 0).Format(time.DateOnly)}, "to": {now.Format(time.DateOnly)}}.Encode()
	r := &reporters{}
	ctx, r.cancel = context.WithCancel(ctx)
	for range n {
		r.group.Go(func() {
			for ctx.Err() == nil {
				if err := show(ctx, browser, address); err == nil {
					r.shown.Add(1)
				} else if ctx.Err() == nil {
					r.fail(err)
					return
				}
			}
		})
	}
	return r, nil
}

func (r *reporters) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failure == nil {
		r.failure = err
	}
}

// stop ends the reports and returns the number of those that were shown.
func (r *reporters) stop() (shown int64, err error) {
	r.cancel()
	r.group.Wait()
	return r.shown.Load(), r.failure
}

// signIn returns a client with a session of the practice's administrator.
func (e entry) signIn(ctx context.Context) (*http.Client, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	browser := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	form := url.Values{"email": {seed.DemoAdmin}, "password": {seed.Password}}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url+"/sign-in", strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("User-Agent", load.UserAgent)
	response, err := browser.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusSeeOther {
		return nil, fmt.Errorf("sign in for reports: status %d", response.StatusCode)
	}
	return browser, nil
}

// show reads a page with a report. The page may have begun before the report fails, so its end counts.
func show(ctx context.Context, browser *http.Client, address string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return err
	}
	request.Header.Set("User-Agent", load.UserAgent)
	response, err := browser.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	page, err := io.ReadAll(response.Body)
	if err == nil && (response.StatusCode != http.StatusOK || !bytes.Contains(page, []byte("Download"))) {
		err = errors.New("the report was not shown: status " + response.Status)
	}
	return err
}

// during runs work under a load in the background, and returns how many reports were shown.
func during(ctx context.Context, e entry, b background, work func() error) (shown int64, err error) {
	switch {
	case b.users > 0:
		r, err := e.report(ctx, b.users)
		if err != nil {
			return 0, err
		}
		err = work()
		shown, failure := r.stop()
		return shown, errors.Join(err, failure)
	case b.busyLoop:
		return 0, besideBusyLoop(ctx, work)
	default:
		return 0, work()
	}
}

// besideBusyLoop runs work while another process loops; a goroutine would share the clients' processor. The process
// ends when this one does, even if this one is killed.
func besideBusyLoop(ctx context.Context, work func() error) error {
	loop := exec.CommandContext(ctx, "sh", "-c", "while kill -0 $PPID; do :; done")
	if err := loop.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		_ = loop.Wait() // it ends only when it is killed
		close(ended)
	}()
	err := work()
	select {
	case <-ended:
		err = errors.Join(err, errors.New("the busy loop ended before the measurement"))
	default:
		_ = loop.Process.Kill() // it runs
	}
	<-ended
	return err
}
