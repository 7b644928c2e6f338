package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"chairside/internal/test/localpg/pgtest"
)

// TestKilledServersLoseNoRead kills a server several times while clients read patients. Each patient
// that a client has received, even in a part of a response, is in the log or in the audit log.
func TestKilledServersLoseNoRead(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		path := t.TempDir() + "/killed.db"
		killWhileReading(t, "sqlite:"+path, "sqlite", path)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		url := pgtest.New(t)
		killWhileReading(t, url, "postgres", url)
	})
}

// received matches a patient's record in the beginning of a response. Only that has a title after its id.
var received = regexp.MustCompile(`\{"id":(\d+),"title"`)

func killWhileReading(t *testing.T, url, driver, source string) {
	const kills, readers, stalled = 2, 4, 2
	address, _, command, _ := demoProcess(t, t.TempDir(), "--database-url", url, "--log-format=json")
	token := newToken(t, url, "patient:read")
	paths := []string{"/v1/patients?per_page=100", "/v1/patients?per_page=100&page=2", "/v1/snapshot?resources=patients", "/v1/patients/1"}
	var mu sync.Mutex
	got, responses := map[string]string{}, 0 // by patient and request
	seen := func(body []byte, request string) {
		mu.Lock()
		defer mu.Unlock()
		responses++
		for _, found := range received.FindAllSubmatch(body, -1) {
			got[request+" "+string(found[1])] = request
		}
	}
	logged := map[string]bool{}
	for kill := range kills {
		var group sync.WaitGroup
		begun, gone := make(chan struct{}, 2*stalled), make(chan struct{})
		for reader := range readers {
			group.Go(func() {
				for n := reader; ; n++ {
					body, id, err := readAll(address+paths[n%len(paths)], token)
					if seen(body, id); err != nil {
						return
					}
				}
			})
		}
		for range stalled { // these stop reading early: the server waits for them in the middle of a response
			group.Go(func() { readBeginning(t, address, paths[0], token, seen, begun, gone) })
		}
		for range stalled {
			<-begun
		}
		time.Sleep(time.Duration(kill) * 50 * time.Millisecond)
		if err := command.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = command.Wait() // it was killed
		close(gone)
		group.Wait()
		readLog(t, command, logged)
		address, _, command, _ = demoProcess(t, t.TempDir(), "--database-url", url, "--log-format=json")
	}
	readEvents(t, driver, source, logged)
	if responses < kills*(stalled+1) || len(got) < 100 {
		t.Fatalf("%d responses with %d patients", responses, len(got))
	}
	lost := map[string]int{}
	for read, request := range got {
		if !logged[read] {
			lost[request]++
		}
	}
	if len(lost) > 0 {
		t.Errorf("patients that were received and are in neither log, by request: %v", lost)
	}
}

// readAll reads a response, as far as it comes.
func readAll(address, token string) (body []byte, request string, err error) {
	r, err := http.NewRequest(http.MethodGet, address, nil) //nolint:noctx // it ends with the server
	if err != nil {
		return nil, "", err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, "", err
	}
	defer response.Body.Close()
	body, err = io.ReadAll(response.Body)
	return body, response.Header.Get("X-Request-Id"), err
}

// readBeginning reads the beginning of a response, and the rest once the server is gone.
func readBeginning(t *testing.T, address, path, token string, seen func(body []byte, request string), begun chan<- struct{}, gone <-chan struct{}) {
	defer func() { begun <- struct{}{} }()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(address, "http://"))
	if err != nil {
		t.Error(err)
		return
	}
	defer c.Close()
	if err := c.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		t.Error(err)
		return
	}
	fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: test\r\nUser-Agent: test\r\nAuthorization: Bearer %s\r\n\r\n", path, token)
	first := make([]byte, 6<<10)
	if _, err := io.ReadFull(c, first); err != nil {
		t.Error(err)
		return
	}
	_, id, _ := bytes.Cut(first, []byte("X-Request-Id: "))
	id, _, _ = bytes.Cut(id, []byte("\r\n"))
	begun <- struct{}{}
	<-gone
	rest, _ := io.ReadAll(c) // it breaks off
	seen(append(first, rest...), string(id))
}

// readLog adds the reads in the log of a process.
func readLog(t *testing.T, command *exec.Cmd, to map[string]bool) {
	t.Helper()
	text, err := os.ReadFile(command.Stderr.(*os.File).Name())
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "{") { // of a migration
			continue
		}
		var read struct {
			RequestID string `json:"request_id"`
			Records   struct{ Patients []string }
		}
		if err := json.Unmarshal([]byte(line), &read); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		for _, id := range read.Records.Patients {
			to[read.RequestID+" "+id] = true
		}
	}
}

// readEvents adds the reads in the audit log.
func readEvents(t *testing.T, driver, source string, to map[string]bool) {
	t.Helper()
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), "SELECT details FROM audit_events WHERE action = 'read'")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var details []byte
		var read struct {
			Patients []int64
			Requests []string
		}
		if err := rows.Scan(&details); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(details, &read); err != nil {
			t.Fatal(err)
		}
		for _, request := range read.Requests {
			for _, id := range read.Patients {
				to[fmt.Sprint(request, " ", id)] = true
			}
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}
