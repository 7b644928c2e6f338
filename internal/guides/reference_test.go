package guides_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// operation is an operation of the reference: its samples by language, and the example of its
// successful response.
type operation struct {
	id, method string
	samples    map[string]string
	example    map[string]any // nil for a response without JSON
}

// sampled is a language of the samples and how they are run.
type sampled struct {
	name    string
	tool    string
	prepare func(t *testing.T, dir string, all []operation) // nil for scripts
	file    string                                          // of a script
	command []string                                        // with the file, or the operation's id
}

// TestReferenceSamples runs the samples of every operation in each language, as the reference of a
// demo of today shows them, in an order in which they find their records.
func TestReferenceSamples(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, databases kind) {
		for _, l := range []sampled{
			{name: "curl", tool: "curl", file: "sample.sh", command: []string{"sh"}},
			{name: "javascript", tool: "node", file: "sample.mjs", command: []string{"node"}},
			{name: "python", tool: "python3", file: "sample.py", command: []string{"python3"}},
			{name: "go", tool: "go", prepare: buildSamples, command: []string{"./samples"}},
		} {
			t.Run(l.name, func(t *testing.T) {
				t.Parallel()
				if _, err := exec.LookPath(l.tool); err != nil {
					if os.Getenv("CI") == "true" {
						t.Fatal(err)
					}
					t.Skip(err)
				}
				runInLanguage(t, l, demo(t, databases))
			})
		}
	})
}

// runInLanguage runs the samples of one language against a demo.
func runInLanguage(t *testing.T, l sampled, d *demoServer) {
	t.Helper()
	all, dir := referenceOperations(t, d.URL), t.TempDir()
	if l.prepare != nil {
		l.prepare(t, dir, all)
	}
	environment := append(os.Environ(), "TOKEN="+d.token)
	made := []string{} // ids of the examples that are made by the samples, and the real ones
	for _, o := range all {
		argument := o.id
		if l.prepare == nil {
			argument = filepath.Join(dir, l.file)
			if err := os.WriteFile(argument, []byte(strings.NewReplacer(made...).Replace(o.samples[l.name])), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		run := exec.CommandContext(t.Context(), l.command[0], append(l.command[1:], argument)...)
		run.Dir, run.Env = dir, environment
		var failure strings.Builder
		run.Stderr = &failure
		out, err := run.Output()
		if err != nil {
			t.Errorf("%s: %v\n%s%s\n%s", o.id, err, out, failure.String(), o.samples[l.name])
			continue
		}
		for example, real := range o.check(t, out) {
			made = append(made, example, real)
			environment = append(environment, variable(example)+"="+real)
		}
	}
}

// check checks what a sample prints: JSON with the members of the example. It returns the id of a
// record that the sample made, by that of the example, if both are UUIDs: only such records are
// in no demo.
func (o operation) check(t *testing.T, out []byte) map[string]string {
	t.Helper()
	if o.example == nil {
		return nil
	}
	var body map[string]any
	if err := json.Unmarshal(out, &body); err != nil {
		t.Errorf("%s: %v in %s", o.id, err, out)
		return nil
	}
	if want, got := slices.Sorted(maps.Keys(o.example)), slices.Sorted(maps.Keys(body)); !slices.Equal(got, want) {
		t.Errorf("%s: the members %v, want %v", o.id, got, want)
	}
	for name, v := range o.example {
		example, _ := v.(map[string]any)
		real, _ := body[name].(map[string]any)
		if from, to := fmt.Sprint(example["id"]), fmt.Sprint(real["id"]); o.method == http.MethodPost && real["id"] != nil && strings.Contains(from, "-") {
			return map[string]string{from: to}
		}
	}
	return nil
}

// referenceOperations returns the operations in the order in which their samples can run: reads
// first, then creates, reads of the created records, updates and deletes.
func referenceOperations(t *testing.T, base string) (all []operation) {
	t.Helper()
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal([]byte(page(t, base+"/openapi.json")), &document); err != nil {
		t.Fatal(err)
	}
	sample := regexp.MustCompile(`(?s)<code id="(curl|javascript|python|go)">(.*?)</code>`)
	order, made := map[string]int{}, map[string]int{}
	for path, item := range document.Paths {
		for method, raw := range item {
			var described struct {
				OperationID string
				Responses   map[string]struct {
					Content map[string]struct{ Example any }
				}
			}
			if method == "servers" || json.Unmarshal(raw, &described) != nil {
				continue
			}
			o := operation{id: described.OperationID, method: strings.ToUpper(method), samples: map[string]string{}}
			for status, response := range described.Responses {
				if status[0] == '2' {
					o.example, _ = response.Content["application/json"].Example.(map[string]any)
				}
			}
			for _, m := range sample.FindAllStringSubmatch(page(t, base+"/docs/operations/"+o.id), -1) {
				o.samples[m[1]] = html.UnescapeString(m[2])
			}
			if len(o.samples) != 4 {
				t.Errorf("%s has samples in %d languages", o.id, len(o.samples))
			}
			order[o.id] = map[string]int{"GET": 1, "POST": 2, "PUT": 4, "PATCH": 5, "DELETE": 6}[o.method]
			if o.method == http.MethodGet && (strings.HasPrefix(path, "/webhooks/") || strings.HasPrefix(path, "/appointments/holds/")) {
				made[o.id] = 2
			}
			all = append(all, o)
		}
	}
	slices.SortFunc(all, func(a, b operation) int {
		return cmp.Or(cmp.Compare(order[a.id]+made[a.id], order[b.id]+made[b.id]), strings.Compare(a.id, b.id))
	})
	if len(all) < 90 {
		t.Fatalf("found only %d operations", len(all))
	}
	return all
}

// page reads a page as a visitor.
func page(t *testing.T, address string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("User-Agent", "guide/1.0")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %v", address, response.StatusCode, err)
	}
	return string(text)
}

// buildSamples compiles the samples in Go into one program, which runs that of its argument. The
// ids of records that they make come from the environment.
func buildSamples(t *testing.T, dir string, all []operation) {
	t.Helper()
	var made []string
	for _, o := range all {
		for _, v := range o.example {
			if record, ok := v.(map[string]any); ok && o.method == http.MethodPost && strings.Contains(fmt.Sprint(record["id"]), "-") {
				id := fmt.Sprint(record["id"])
				made = append(made, id, `" + os.Getenv("`+variable(id)+`") + "`)
			}
		}
	}
	files := map[string]string{"go.mod": "module samples\n\ngo 1.26\n"}
	var names strings.Builder
	for _, o := range all {
		text := strings.Replace(o.samples["go"], "func main() {", "func "+o.id+"() {", 1)
		files["sample_of_"+o.id+".go"] = strings.NewReplacer(made...).Replace(text)
		fmt.Fprintf(&names, "\t%q: %s,\n", o.id, o.id)
	}
	files["main.go"] = "package main\n\nimport \"os\"\n\nfunc main() { map[string]func(){\n" + names.String() + "}[os.Args[1]]() }\n"
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", "samples", ".")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// variable names the variable with the real id of an example record.
func variable(id string) string { return "ID_" + strings.ReplaceAll(id, "-", "_") }
