package load

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

//go:embed wrk.lua
var script []byte

// patience is how long wrk waits for a response.
const patience = "60s"

// Wrk returns a generator that runs the program wrk at path, with one thread, because it
// shares the machine with the server.
func Wrk(path string) Generator {
	return func(ctx context.Context, job Job) (Result, error) {
		dir, err := os.MkdirTemp("", "chairside-bench-*")
		if err != nil {
			return Result{}, err
		}
		defer os.RemoveAll(dir)
		var requests bytes.Buffer
		for _, r := range job.Requests {
			fmt.Fprintf(&requests, "%s\t%s\t%s\n", r.Method, r.Path, r.Body)
		}
		files := map[string][]byte{"wrk.lua": script, "requests": requests.Bytes(), "token": []byte(job.Token)}
		for name, content := range files {
			if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
				return Result{}, err
			}
		}
		seconds := int((job.Duration + time.Second - 1) / time.Second)
		command := exec.CommandContext(ctx, path, "--threads", "1", "--connections", strconv.Itoa(job.Clients), "--duration", strconv.Itoa(seconds)+"s",
			"--timeout", patience, "--script", filepath.Join(dir, "wrk.lua"), job.URL, "--", dir, UserAgent)
		var out, problems bytes.Buffer
		command.Stdout, command.Stderr = &out, &problems
		if err := command.Run(); err != nil {
			if ctx.Err() != nil {
				return Result{}, ctx.Err()
			}
			return Result{}, fmt.Errorf("load: wrk: %w %s", err, problems.String())
		}
		return readSummary(out.String())
	}
}

// mark begins the line that wrk.lua prints.
const mark = "SUMMARY "

// readSummary finds wrk.lua's line in wrk's output.
func readSummary(out string) (Result, error) {
	_, line, ok := strings.Cut(out, mark)
	if !ok {
		return Result{}, fmt.Errorf("load: wrk printed no summary:\n%s", out)
	}
	line, _, _ = strings.Cut(line, "\n")
	var s struct {
		Requests, Errors   int
		Detail             string
		Duration, P50, P99 int64 // microseconds
	}
	if err := json.Unmarshal([]byte(line), &s); err != nil {
		return Result{}, fmt.Errorf("load: wrk's summary: %w", err)
	}
	return Result{
		Requests: s.Requests, Errors: s.Errors, Detail: s.Detail, Duration: time.Duration(s.Duration) * time.Microsecond,
		P50: time.Duration(s.P50) * time.Microsecond, P99: time.Duration(s.P99) * time.Microsecond,
	}, nil
}
