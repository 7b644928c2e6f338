package server

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"chairside/ogent"
)

func TestRunFinishesRequestsBeforeItEnds(t *testing.T) {
	t.Parallel()
	started, release := make(chan bool), make(chan bool)
	b := setup(t, func(_ *Options, s *fakeOperations) {
		s.listSites = func(context.Context) (*ogent.SiteList, error) {
			close(started)
			<-release
			return &ogent.SiteList{Sites: []ogent.Site{}}, nil
		}
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.Run(ctx, listener) }()

	responded := make(chan int, 1)
	go func() {
		r, _ := http.NewRequestWithContext(t.Context(), "GET", "http://"+listener.Addr().String()+"/sites", nil)
		r.Header.Set("Authorization", "Bearer "+b.token)
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			responded <- 0
			return
		}
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		responded <- response.StatusCode
	}()
	<-started
	stop()
	select {
	case err := <-ended:
		t.Fatalf("Run ended with a request in progress: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	close(release)
	if status := <-responded; status != 200 {
		t.Errorf("the request got %d", status)
	}
	if err := <-ended; err != nil {
		t.Errorf("Run: %v", err)
	}
	log := b.log.String()
	if strings.Count(log, `"msg":"stopping`) != 1 || strings.Count(log, `"msg":"stopped"`) != 1 {
		t.Errorf("the log does not say once that the server stops, and that it has stopped: %s", log)
	}
}

func TestRunReportsAFailedListener(t *testing.T) {
	t.Parallel()
	b := setup(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = listener.Close()
	if err := b.Run(t.Context(), listener); !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

func TestCertificateNeedsItsKey(t *testing.T) {
	t.Parallel()
	if _, err := build(Options{CertFile: "cert.pem"}, nil); err == nil {
		t.Error("no error")
	}
}
