package guides_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/internal/events/webhook"
	"chairside/internal/principal"
	"chairside/internal/server"
	"chairside/internal/store/storetest"
)

// TestWebhookReceivers runs the receivers of the guide on webhooks: both verify the signatures
// of real deliveries, also while a secret is being replaced, and refuse forged ones.
func TestWebhookReceivers(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("webhooks.md")
	if err != nil {
		t.Fatal(err)
	}
	block := func(language string) []byte {
		found := regexp.MustCompile("(?s)```" + language + " program\n(.*?)```").FindSubmatch(guide)
		if found == nil {
			t.Fatal("the guide has no program in ", language)
		}
		return found[1]
	}
	for _, test := range []struct {
		language, file string
		prepare, start []string
	}{
		{"js", "receiver.js", []string{"npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"}, []string{"node", "receiver.js"}},
		{"go", "receiver.go", []string{"go", "build", "-o", "receiver", "receiver.go"}, []string{"./receiver"}},
	} {
		t.Run(test.language, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "webhooks"))); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, test.file), block(test.language), 0o600); err != nil {
				t.Fatal(err)
			}
			prepare := exec.CommandContext(t.Context(), test.prepare[0], test.prepare[1:]...)
			prepare.Dir = dir
			if out, err := prepare.CombinedOutput(); err != nil {
				if os.Getenv("CI") == "true" || test.language == "go" {
					t.Fatalf("%v: %v\n%s", test.prepare, err, out)
				}
				t.Skip("no Node, or no way to install its modules: ", err)
			}
			onBothDatabases(t, func(t *testing.T, databases kind) {
				checkReceiver(t, databases, dir, test.start, string(block("json")))
			})
		})
	}
}

// checkReceiver starts a receiver and sends it events, which have the shown form.
func checkReceiver(t *testing.T, databases kind, dir string, start []string, shown string) {
	t.Helper()
	port := freePort(t)
	to := "http://127.0.0.1:" + port
	d := demo(t, databases, func(o *server.Options) { o.WebhookAllowPrivate = true })
	made := d.call(t, "POST", "/v1/webhooks", `{"webhook": {"url": "`+to+`", "events": ["patients.updated"]}}`)
	event := make(chan string, 10)
	reader := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var sent, indented bytes.Buffer
		_, _ = sent.ReadFrom(r.Body)
		_ = json.Indent(&indented, sent.Bytes(), "", "  ")
		event <- indented.String()
	}))
	t.Cleanup(reader.Close)
	d.call(t, "POST", "/v1/webhooks", `{"webhook": {"url": "`+reader.URL+`", "events": ["patients.updated"]}}`)
	value := func(name string) string {
		return regexp.MustCompile(`"` + name + `":"([^"]+)"`).FindStringSubmatch(made)[1]
	}

	var printed output
	receiver := exec.CommandContext(t.Context(), start[0], start[1:]...)
	receiver.Dir, receiver.Stdout, receiver.Stderr = dir, &printed, &printed
	receiver.Env = append(os.Environ(), "SECRET="+value("secret"), "PORT="+port)
	if err := receiver.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = receiver.Process.Kill(); _ = receiver.Wait() })
	wait(t, "the receiver", func() bool {
		conn, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	forged, err := http.Post(to, "application/json", strings.NewReader(`{"id": "evt_1", "event": "patients.updated", "data": {"id": 1}}`))
	if err != nil || forged.StatusCode != http.StatusUnauthorized {
		t.Errorf("a forged event: %v %v", forged, err)
	}
	patients := regexp.MustCompile(`"id":(\d+),`).FindAllStringSubmatch(d.call(t, "GET", "/v1/patients?per_page=2&fields=id,title", ""), 2)
	for i, patient := range patients {
		d.call(t, "PATCH", "/v1/patients/"+patient[1], `{"patient": {"preferred_name": "`+strconv.Itoa(i)+`"}}`)
		want := "patients.updated " + patient[1] + "\n"
		wait(t, want, func() bool { return strings.Contains(printed.String(), want) })
		if problem := compare(shown, <-event); problem != "" {
			t.Error(problem)
		}
		ctx := principal.AsSystem(t.Context())
		row, err := d.db.Ent.Webhook.Get(ctx, uuid.MustParse(value("id")))
		if err != nil {
			t.Fatal(err)
		}
		// The receiver still has the old secret for its second event.
		if err := d.db.Tx(ctx, func(tx *ent.Client) error { _, err := webhook.Rotate(ctx, d.db.Keys, tx, row.ID); return err }); err != nil {
			t.Fatal(err)
		}
	}
}

// output collects what a program prints.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// wait waits until a condition holds.
func wait(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for until := time.Now().Add(storetest.Timeout); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("waited too long for: ", what)
		}
	}
}

// freePort returns a port that nothing listens on.
func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return fmt.Sprint(listener.Addr().(*net.TCPAddr).Port)
}
