package main

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"testing"
)

func TestPprofHidesTheCommandLine(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	stop, err := servePprof(&console{Context: t.Context()}, "127.0.0.1:0", slog.New(slog.NewJSONHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	var line struct{ Address string }
	if err := json.Unmarshal(log.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	get := func(path string) (int, []byte) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, line.Address+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, body
	}
	if status, body := get("goroutine?debug=1"); status != http.StatusOK || !bytes.Contains(body, []byte("goroutine profile")) {
		t.Errorf("goroutine: %d %.100s", status, body)
	}
	if status, body := get("cmdline"); status != http.StatusNotFound {
		t.Errorf("cmdline: %d %.100s", status, body)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	if _, err := http.Get(line.Address); err == nil {
		t.Error("the listener is still open")
	}
}
