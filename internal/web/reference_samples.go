package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// sample is a request in one language.
type sample struct{ Language, ID, Text string }

// body returns the example of the request's body; "" for a request without one.
func (o *apiOperation) body() (mediaType, text string) {
	if o.RequestBody == nil || len(o.RequestBody.Content) == 0 {
		return "", ""
	}
	content := o.RequestBody.Content[0]
	return content.Name, pretty(content.Value.Example)
}

// address returns the address of the example request: the parameters that have an example.
func (o *apiOperation) address() string {
	address, query := o.server+o.Path, []string{}
	for _, p := range o.Parameters {
		for _, value := range p.values() {
			if p.In == "path" {
				address = strings.ReplaceAll(address, "{"+p.Name+"}", url.PathEscape(value))
			} else {
				query = append(query, url.QueryEscape(p.Name)+"="+url.QueryEscape(value))
			}
		}
	}
	if len(query) == 0 {
		return address
	}
	return address + "?" + strings.Join(query, "&")
}

// values returns the values of the parameter in the example request.
func (p *apiParameter) values() (all []string) {
	if p.Example == nil {
		return nil
	}
	var list []json.RawMessage
	if json.Unmarshal(p.Example, &list) != nil {
		list = []json.RawMessage{p.Example}
	}
	for _, value := range list {
		var text string
		if json.Unmarshal(value, &text) != nil {
			text = string(value) // a number or a boolean
		}
		all = append(all, text)
	}
	return all
}

// Samples returns the example request in four languages: complete programs that need only the
// language's standard library, read the token from the environment, print the response and fail
// if the request does.
func (o *apiOperation) Samples() []sample {
	mediaType, body := o.body()
	return []sample{
		{"curl", "curl", o.curl(mediaType, body)},
		{"JavaScript", "javascript", o.javaScript(mediaType, body)},
		{"Python", "python", o.python(mediaType, body)},
		{"Go", "go", o.golang(mediaType, body)},
	}
}

// Conflict is the reason why a sample that is sent a second time gets 409: the first one that the operation
// documents. It is "" for an operation whose only 409 is about the header Idempotency-Key, which no sample
// has, and for one that creates nothing.
func (o *apiOperation) Conflict() string {
	if o.Method != http.MethodPost {
		return ""
	}
	for _, r := range o.Responses {
		if r.Name != strconv.Itoa(http.StatusConflict) {
			continue
		}
		first, _, _ := strings.Cut(strings.TrimSuffix(r.Value.Description, "."), ", or ")
		if strings.Contains(first, "Idempotency-Key") || first == "" {
			return ""
		}
		return strings.ToLower(first[:1]) + first[1:]
	}
	return ""
}

func (o *apiOperation) curl(mediaType, body string) string {
	text := fmt.Sprintf("curl --fail-with-body -X %s '%s' \\\n  -H \"Authorization: Bearer $TOKEN\" \\\n  -H 'User-Agent: YourApp/1.0'", o.Method, o.address())
	if body != "" {
		text += fmt.Sprintf(" \\\n  -H 'Content-Type: %s' \\\n  -d '%s'", mediaType, strings.ReplaceAll(body, "'", `'\''`))
	}
	return text
}

func (o *apiOperation) javaScript(mediaType, body string) string {
	text := fmt.Sprintf("const response = await fetch(%q, {\n  method: %q,\n  headers: {\n    \"Authorization\": `Bearer ${process.env.TOKEN}`,\n    \"User-Agent\": \"YourApp/1.0\",\n", o.address(), o.Method)
	if body != "" {
		text += fmt.Sprintf("    \"Content-Type\": %q,\n  },\n  body: JSON.stringify(%s),\n", mediaType, strings.ReplaceAll(body, "\n", "\n  "))
	} else {
		text += "  },\n"
	}
	return text + "});\nif (!response.ok) throw new Error(await response.text());\nconsole.log(await response.text());"
}

func (o *apiOperation) python(mediaType, body string) string {
	text := fmt.Sprintf("import os\nimport urllib.error\nimport urllib.request\n\nrequest = urllib.request.Request(\n    %q,\n    method=%q,\n    headers={\n        \"Authorization\": \"Bearer \" + os.environ[\"TOKEN\"],\n        \"User-Agent\": \"YourApp/1.0\",\n", o.address(), o.Method)
	if body != "" {
		text += fmt.Sprintf("        \"Content-Type\": %q,\n    },\n    data=r\"\"\"%s\"\"\".encode(),\n", mediaType, body)
	} else {
		text += "    },\n"
	}
	return text + ")\ntry:\n    with urllib.request.urlopen(request) as response:\n        print(response.read().decode())\nexcept urllib.error.HTTPError as error:\n    raise SystemExit(error.read().decode())"
}

func (o *apiOperation) golang(mediaType, body string) string {
	packages, reader, header := []string{"fmt", "io", "log", "net/http", "os"}, "nil", ""
	if body != "" {
		literal := "`" + body + "`"
		if strings.Contains(body, "`") {
			literal = strconv.Quote(body)
		}
		packages, reader = append(packages, "strings"), "strings.NewReader("+literal+")"
		header = fmt.Sprintf("\trequest.Header.Set(\"Content-Type\", %q)\n", mediaType)
	}
	return fmt.Sprintf(`package main

import (
	"%s"
)

func main() {
	request, err := http.NewRequest(%q, %q, %s)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("TOKEN"))
	request.Header.Set("User-Agent", "YourApp/1.0")
%s	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		log.Fatal(err)
	}
	if response.StatusCode >= 300 {
		log.Fatal(response.Status, " ", string(body))
	}
	fmt.Println(string(body))
}`, strings.Join(packages, "\"\n\t\""), o.Method, o.address(), reader, header)
}
