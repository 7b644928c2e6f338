package main

import (
	"bufio"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"chairside/internal/seed"
)

// apiCall runs "chairside api" and returns its exit status and output.
func apiCall(t *testing.T, address, token, input string, args ...string) (status int, out, problem string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "chairside", append([]string{"api"}, args...)...)
	command.Env = append(os.Environ(), "CHAIRSIDE_SERVER="+address, "CHAIRSIDE_TOKEN="+token)
	command.Stdin = strings.NewReader(input)
	var stdout, stderr strings.Builder
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil && command.ProcessState == nil {
		t.Fatal(err)
	}
	return command.ProcessState.ExitCode(), stdout.String(), stderr.String()
}

// TestAPICommand sends requests from the command line.
func TestAPICommand(t *testing.T) {
	t.Parallel()
	address, token, stop := demo(t, t.TempDir())
	call := func(want int, input string, args ...string) (out, problem string) {
		t.Helper()
		status, out, problem := apiCall(t, address, token, input, args...)
		if status != want || strings.Contains(problem, token) {
			t.Fatalf("%v: status %d, want %d\n%s%s", args, status, want, out, problem)
		}
		return out, problem
	}
	var list struct {
		Patients []struct{ ID int }
		Meta     struct{ Total int }
	}
	out, _ := call(0, "", "get", "/v1/patients", "-f", "per_page=2", "-f", "sort_by=last_name")
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list.Patients) != 2 {
		t.Errorf("%v: %s", err, out)
	}
	pages, _ := call(0, "", "GET", "patients", "-f", "per_page=100", "--paginate", "--server", strings.Replace(address, "127.0.0.1", "localhost", 1))
	if got, want := strings.Count(pages, `{"patients":`), (list.Meta.Total+99)/100; got != want {
		t.Errorf("%d pages, want %d", got, want)
	}
	for _, change := range [][]string{
		{"PATCH", "/v1/patients/7", "-f", "patient[preferred_name]=Jo", "-F", "patient[gender]=true"},
		{"PATCH", "/v1/patients/7", "--input", "-"},
	} {
		if out, _ := call(0, `{"patient": {"preferred_name": "Jo"}}`, change...); !strings.Contains(out, `"preferred_name":"Jo"`) {
			t.Errorf("%v: %s", change, out)
		}
	}
	out, problem := call(1, "", "POST", "/v1/patients", "-f", "patient[first_name]=A", "-H", "Prefer: dry-run")
	if !strings.Contains(out, `"validation_failed"`) || problem != "chairside: the server responded 422 Unprocessable Entity: One or more fields are invalid.\n" {
		t.Errorf("%s%s", out, problem)
	}
	_, problem = call(2, "", "FETCH", "/v1/patients", "-F", "a=b", "-f", "c", "-H", "Authorization: x", "--server", "http://example.com")
	for _, flag := range []string{"<method>: must be one of: GET, POST, PUT, PATCH, DELETE", "--typed:", "--field:", "--header:", "--server:", "chairside api --help"} {
		if !strings.Contains(problem, flag) {
			t.Errorf("%s is missing in:\n%s", flag, problem)
		}
	}
	if out, _ := call(0, "", "GET", address+"/v1/patients/7"); !strings.Contains(out, `"id":7`) {
		t.Errorf("a URL of the server: %s", out)
	}
	for _, elsewhere := range []string{"https://example.com/v1/patients/7", address + "0/v1/patients/7", "HTTP://example.com"} {
		if _, problem := call(2, "", "GET", elsewhere); !strings.HasPrefix(problem, "chairside: <path>: must be a path, such as /v1/patients, or a URL of "+address+"\n") {
			t.Errorf("%s: %s", elsewhere, problem)
		}
	}
	second := exec.CommandContext(t.Context(), "chairside", "serve", "--addr", strings.TrimPrefix(address, "http://"), "--database-url", "sqlite:"+filepath.Join(t.TempDir(), "second.db"))
	if out, err := second.CombinedOutput(); err == nil || !strings.Contains(string(out), "chairside: "+strings.TrimPrefix(address, "http://")+" is in use: choose another --addr\n") {
		t.Errorf("a second server: %v: %s", err, out)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	for _, command := range [][]string{{"api", "GET", "/v1/patients?search=smith"}, {"listen", "--forward-to", "http://localhost:3000"}} {
		nobody := exec.CommandContext(t.Context(), "chairside", command...)
		nobody.Env = append(os.Environ(), "CHAIRSIDE_SERVER="+address, "CHAIRSIDE_TOKEN="+token)
		if out, err := nobody.CombinedOutput(); err == nil || string(out) != "chairside: no server responds at "+address+": check --server\n" {
			t.Errorf("%v: %v: %s", command, err, out)
		}
	}
}

// TestListen forwards a change to a local receiver, signed as a webhook is, until it is interrupted or the token ends.
func TestListen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	address, token, stop := demo(t, dir, "--database-url=sqlite:demo.db")
	type request struct {
		header http.Header
		body   []byte
	}
	received := make(chan request, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		received <- request{r.Header, body}
		w.WriteHeader(http.StatusAccepted)
	}))
	defer receiver.Close()
	command := func() *exec.Cmd {
		listen := exec.CommandContext(t.Context(), "chairside", "listen", "--forward-to", receiver.URL, "--event", "patients.updated")
		listen.Env = append(os.Environ(), "CHAIRSIDE_SERVER="+address, "CHAIRSIDE_TOKEN="+token)
		return listen
	}
	listen := command()
	printed, err := listen.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := listen.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(printed)
	lines.Scan()
	secret := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "Signing secret"))
	lines.Scan()
	for _, name := range []string{"Jo", "Joe"} {
		if status, out, problem := apiCall(t, address, token, "", "PATCH", "/v1/patients/7", "-f", "patient[preferred_name]="+name); status != 0 {
			t.Fatalf("%s%s", out, problem)
		}
	}
	ids := map[string]bool{}
	for _, name := range []string{"Jo", "Joe"} {
		var got request
		select {
		case got = <-received:
		case <-time.After(time.Minute):
			t.Fatal("nothing is received")
		}
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write(got.body)
		if hex.EncodeToString(mac.Sum(nil)) != got.header.Get("X-Chairside-Signature") || got.header.Get("User-Agent") != "Chairside-Webhook/1" || !strings.HasPrefix(got.header.Get("webhook-signature"), "v1,") {
			t.Errorf("headers %v", got.header)
		}
		ids[got.header.Get("webhook-id")] = true
		var event struct {
			Event, Object string
			Data          struct {
				Name string `json:"preferred_name"`
			}
		}
		if err := json.Unmarshal(got.body, &event); err != nil || event.Event != "patients.updated" || event.Object != "patients" || event.Data.Name != "Joe" && event.Data.Name != name {
			t.Errorf("%v: %s", err, got.body)
		}
		lines.Scan()
		if line := lines.Text(); !strings.Contains(line, "patients.updated 7  202 Accepted in ") || strings.Contains(line, "Jo") {
			t.Errorf("line %q", line)
		}
	}
	if len(ids) != 2 {
		t.Errorf("ids %v", ids)
	}
	if err := listen.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := listen.Wait(); err != nil {
		t.Error(err)
	}

	listen = command()
	var problem strings.Builder
	listen.Stderr = &problem
	if printed, err = listen.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := listen.Start(); err != nil {
		t.Fatal(err)
	}
	bufio.NewScanner(printed).Scan() // it has begun
	revoke := exec.CommandContext(t.Context(), "chairside", "token", "revoke", "--user", seed.DemoAdmin, "--yes", "--database-url=sqlite:demo.db")
	revoke.Dir = dir
	if out, err := revoke.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := listen.Wait(); err == nil || !strings.Contains(problem.String(), "chairside: the server responded 401 ") || strings.Count(problem.String(), "\n") != 1 {
		t.Errorf("after the end of its token: %v, %s", err, problem.String())
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// TestListsAreOfferedAsJSON: every command that lists takes --format json.
func TestListsAreOfferedAsJSON(t *testing.T) {
	t.Parallel()
	parser, err := kong.New(&commands{}, variables())
	if err != nil {
		t.Fatal(err)
	}
	lists := map[string]bool{"check": true, "list": true, "deliveries": true, "status": true}
	found := 0
	err = kong.Visit(parser.Model, func(node kong.Visitable, next kong.Next) error {
		command, ok := node.(*kong.Command)
		if !ok || !lists[command.Name] {
			return next(nil)
		}
		found++
		for _, flag := range command.Flags {
			if flag.Name == "format" && strings.Contains(flag.Enum, "json") {
				return next(nil)
			}
		}
		t.Errorf("%s has no --format json", command.FullPath())
		return next(nil)
	})
	if err != nil || found < 8 {
		t.Errorf("%d lists: %v", found, err)
	}
}

// TestCompletion: the shell offers commands, flags and their values.
func TestCompletion(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"us": "user", "user re": "reset-password reset-second-factor", "user list --fo": "--format", "user list --format ''": "table json", "user list --format = j": "json", "user list --format =": "table json", "user list --format=j": "--format=json", "user list --nothing=": "", "completion ''": "bash zsh fish",
		"report inc": "income", "report income --fo": "--format", "report show inc": "income", "user create --role rec": "receptionist",
		"nothing": "",
	} {
		words := "(chairside " + typed + ")"
		command := exec.CommandContext(t.Context(), "bash", "-c", `source <(chairside completion bash); COMP_WORDS=`+words+`; COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _chairside; echo "${COMPREPLY[@]}"`)
		out, err := command.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%s: %q, want %q: %v", typed, got, want, err)
		}
	}
	for _, shell := range []string{"zsh", "fish"} {
		out, err := exec.CommandContext(t.Context(), "chairside", "completion", shell).Output()
		if err != nil || !strings.Contains(string(out), "chairside "+completeWord) {
			t.Errorf("%s: %v\n%s", shell, err, out)
		}
	}
}

// TestManual has every command, and nothing that roff reads as a macro by mistake.
func TestManual(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "chairside", "man").Output()
	if err != nil {
		t.Fatal(err)
	}
	parser, err := kong.New(&commands{}, variables())
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range parser.Model.Leaves(true) {
		title := ".SS " + escape(usageOf(command))
		if !strings.Contains(string(out), title) {
			t.Errorf("%q is missing", title)
		}
		for _, argument := range command.Positional {
			checkWords(t, argument)
		}
		for _, flags := range command.AllFlags(false) {
			for _, f := range flags {
				checkWords(t, f.Value)
			}
		}
	}
	if other := regexp.MustCompile(`[^\x00-\x7F]`).Find(out); other != nil {
		t.Errorf("%q is not ASCII", other)
	}
	for line := range strings.Lines(string(out)) {
		if macro, _, _ := strings.Cut(strings.TrimSpace(line), " "); strings.HasPrefix(line, ".") && !strings.Contains(" .TH .SH .SS .PP .TP .B .nf .fi ", " "+macro+" ") || strings.HasPrefix(line, "'") {
			t.Errorf("macro %q", line)
		}
	}
}

// checkWords checks that the tag "words" names a list of the program.
func checkWords(t *testing.T, v *kong.Value) {
	t.Helper()
	if name := v.Tag.Get("words"); name != "" && variables()[name] == "" {
		t.Errorf("%s is completed with %q, which is no list", v.Summary(), name)
	}
}

// TestUsage: the program explains itself without a command, and says its version.
func TestUsage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, x := range []struct {
		args []string
		want string
	}{
		{nil, "Usage: chairside <command>"}, {[]string{"help"}, "Usage: chairside <command>"},
		{[]string{"help", "user", "create"}, "Usage: chairside user create"}, {[]string{"--version"}, "chairside "}, {[]string{"version"}, "chairside "},
	} {
		command := exec.CommandContext(t.Context(), "chairside", x.args...)
		command.Dir = dir
		out, err := command.Output()
		if err != nil || !strings.HasPrefix(string(out), x.want) {
			t.Errorf("%v: %v\n%s", x.args, err, out)
		}
	}
	if files, _ := filepath.Glob(dir + "/*"); len(files) > 0 {
		t.Errorf("it creates %v", files)
	}
}
