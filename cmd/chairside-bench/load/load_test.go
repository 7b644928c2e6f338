package load_test

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"sync"
	"testing"
	"time"

	"chairside/cmd/chairside-bench/load"
)

// recorder is a server that records its requests.
type recorder struct {
	mu   sync.Mutex
	seen map[string]int
}

func (s *recorder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.seen[r.Method+" "+r.URL.String()+" "+string(body)+" "+r.Header.Get("Authorization")+" "+r.UserAgent()]++
	s.mu.Unlock()
	if r.URL.Path == "/missing" {
		w.WriteHeader(http.StatusNotFound)
	}
	io.WriteString(w, `{"ok":true}`)
}

func (s *recorder) all() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.seen)
}

var job = load.Job{
	Token: "t", Clients: 3, Duration: 200 * time.Millisecond,
	Requests: []load.Request{{Method: "GET", Path: "/a?b=%20c"}, {Method: "POST", Path: "/d", Body: `{"e": 1}`}},
}

var wanted = []string{"GET /a?b=%20c  Bearer t chairside-bench", `POST /d {"e": 1} Bearer t chairside-bench`}

func generators(t *testing.T) map[string]load.Generator {
	all := map[string]load.Generator{"go": load.Go}
	if path, err := exec.LookPath("wrk"); err == nil {
		all["wrk"] = load.Wrk(path)
	} else {
		t.Log("wrk is not installed")
	}
	return all
}

func TestGenerators(t *testing.T) {
	for name, generate := range generators(t) {
		t.Run(name, func(t *testing.T) {
			s := &recorder{seen: map[string]int{}}
			listener := httptest.NewServer(s)
			defer listener.Close()
			j := job
			j.URL = listener.URL
			r, err := generate(t.Context(), j)
			if err != nil {
				t.Fatal(err)
			}
			if r.Errors != 0 || r.Requests == 0 || r.PerSecond() <= 0 || r.P50 <= 0 || r.P99 < r.P50 {
				t.Errorf("%+v", r)
			}
			seen := s.all()
			for _, w := range wanted {
				if seen[w] == 0 {
					t.Errorf("%q was not sent, but %v", w, seen)
				}
			}
			if len(seen) != len(wanted) {
				t.Errorf("sent %v", seen)
			}

			j.Requests = append(j.Requests, load.Request{Method: "GET", Path: "/missing"})
			if r, err = generate(t.Context(), j); err != nil || r.Errors == 0 || r.Detail == "" {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}

func TestSendSendsEachOnce(t *testing.T) {
	s := &recorder{seen: map[string]int{}}
	listener := httptest.NewServer(s)
	defer listener.Close()
	j := job
	j.URL, j.Duration = listener.URL, 0
	r, err := load.Send(t.Context(), j)
	if err != nil || r.Requests != 2 || r.Errors != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	for _, w := range wanted {
		if n := s.all()[w]; n != 1 {
			t.Errorf("%q was sent %d times", w, n)
		}
	}
}

// At a rate requests are sent when they are due, however many clients wait.
func TestRate(t *testing.T) {
	s := &recorder{seen: map[string]int{}}
	listener := httptest.NewServer(s)
	defer listener.Close()
	paced := job
	paced.URL, paced.Rate = listener.URL, 50
	result, err := load.Go(t.Context(), paced)
	if err != nil || result.Requests != 10 { // 200 ms at 50 a second
		t.Errorf("%d requests, %v", result.Requests, err)
	}
}
