package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestTypeScriptClientStartsTheCommand runs the client of internal/mcp, on the protocol's
// TypeScript SDK, with a command that uses a running server.
func TestTypeScriptClientStartsTheCommand(t *testing.T) {
	t.Parallel()
	client, dir := filepath.Join("..", "..", "internal", "mcp", "testdata", "client"), t.TempDir()
	for _, name := range []string{"package.json", "package-lock.json", "client.mjs"} {
		source, err := os.ReadFile(filepath.Join(client, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), source, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	npm := exec.CommandContext(t.Context(), "npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")
	npm.Dir = dir
	if output, err := npm.CombinedOutput(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%v\n%s", err, output)
		}
		t.Skip("no Node, or no way to install its modules: ", err)
	}
	address, token, stop := demo(t, t.TempDir())
	program, err := exec.LookPath("chairside")
	if err != nil {
		t.Fatal(err)
	}
	command, err := json.Marshal([]string{program, "mcp", "--server", address})
	if err != nil {
		t.Fatal(err)
	}
	node := exec.CommandContext(t.Context(), "node", "client.mjs")
	node.Dir = dir
	node.Env = append(os.Environ(), "COMMAND="+string(command), "CHAIRSIDE_TOKEN="+token)
	var complaints strings.Builder
	node.Stderr = &complaints
	output, err := node.Output()
	var found struct {
		Server, Missing string
		Tools           []string
	}
	if err != nil || json.Unmarshal(output, &found) != nil || found.Server != "chairside" || found.Missing != "not_found" ||
		!slices.Contains(found.Tools, "listPatients") || slices.Contains(found.Tools, "createPatient") {
		t.Errorf("%v %s\n%s", err, output, complaints.String())
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// TestAssistantOnADatabaseIsAudited: without a running server, the command itself writes the audit log.
func TestAssistantOnADatabaseIsAudited(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, token, stop := demo(t, dir)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(t.Context(), "chairside", "mcp")
	run.Dir, run.Env = dir, append(os.Environ(), "CHAIRSIDE_TOKEN="+token)
	in, err := run.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := run.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	answers := bufio.NewReader(out)
	for _, message := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"listPatients","arguments":{"per_page":2}}}`,
	} {
		if _, err := in.Write([]byte(message + "\n")); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(message, `"id"`) {
			if answer, err := answers.ReadString('\n'); err != nil || strings.Contains(answer, `"error"`) {
				t.Fatal(answer, err)
			}
		}
	}
	if err := errors.Join(in.Close(), run.Wait()); err != nil {
		t.Fatal(err)
	}
	list := exec.CommandContext(t.Context(), "chairside", "audit", "list", "--practice=demo", "--action=read", "--format=json")
	list.Dir = dir
	if seen, err := list.CombinedOutput(); err != nil || !strings.Contains(string(seen), "listPatients") {
		t.Errorf("%v %s", err, seen)
	}
}
