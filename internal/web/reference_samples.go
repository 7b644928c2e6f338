package web

import (
	"encoding/json"
	"fmt"
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

// address returns the address of the sample, with an example of each required parameter.
func (o *apiOperation) address() string {
	address, query := o.server+o.Path, []string{}
	for _, p := range o.Parameters {
		switch value := url.QueryEscape(p.example()); {
		case p.In == "path":
			address = strings.ReplaceAll(address, "{"+p.Name+"}", value)
		case p.In == "query" && p.Required:
			query = append(query, url.QueryEscape(p.Name)+"="+value)
		}
	}
	if len(query) == 0 {
		return address
	}
	return address + "?" + strings.Join(query, "&")
}

// example returns a value of the parameter: its own example, or one of its type.
func (p *apiParameter) example() string {
	s, value := p.Schema, p.Example
	if s.Type == "array" {
		s = s.Items
	}
	if value == nil {
		value = s.Example
	}
	var text string
	switch {
	case value != nil && json.Unmarshal(value, &text) == nil:
		return text
	case value != nil:
		return string(value)
	case s.Format == "date-time":
		return "2026-07-01T09:30:00+01:00"
	case s.Format == "date":
		return "2026-07-01"
	case s.Format == "uuid":
		return "0198f2a4-c1d0-7b3e-9a51-3f6f0c9d2e10"
	}
	return "42"
}

// Samples returns the request in four languages.
func (o *apiOperation) Samples() []sample {
	address, method := o.address(), o.Method
	mediaType, body := o.body()

	curl := fmt.Sprintf("curl -X %s '%s' \\\n  -H \"Authorization: Bearer $TOKEN\" \\\n  -H 'User-Agent: YourApp/1.0'", method, address)
	script := fmt.Sprintf("const response = await fetch(%q, {\n  method: %q,\n  headers: {\n    \"Authorization\": `Bearer ${process.env.TOKEN}`,\n    \"User-Agent\": \"YourApp/1.0\",\n", address, method)
	python := fmt.Sprintf("import os\nimport requests\n\nresponse = requests.request(\n    %q,\n    %q,\n    headers={\n        \"Authorization\": \"Bearer \" + os.environ[\"TOKEN\"],\n        \"User-Agent\": \"YourApp/1.0\",\n", method, address)
	reader, header := "nil", ""
	if body != "" {
		curl += fmt.Sprintf(" \\\n  -H 'Content-Type: %s' \\\n  -d '%s'", mediaType, strings.ReplaceAll(body, "'", `'\''`))
		script += fmt.Sprintf("    \"Content-Type\": %q,\n  },\n  body: JSON.stringify(%s),\n", mediaType, strings.ReplaceAll(body, "\n", "\n  "))
		python += fmt.Sprintf("        \"Content-Type\": %q,\n    },\n    data=r'''%s'''.encode(),\n", mediaType, body)
		literal := "`" + body + "`"
		if strings.Contains(body, "`") {
			literal = strconv.Quote(body)
		}
		reader = "strings.NewReader(" + literal + ")"
		header = fmt.Sprintf("request.Header.Set(\"Content-Type\", %q)\n", mediaType)
	} else {
		script += "  },\n"
		python += "    },\n"
	}
	script += "});\nif (!response.ok) throw new Error(await response.text());\nconsole.log(await response.text());"
	python += ")\nresponse.raise_for_status()\nprint(response.text)"
	golang := fmt.Sprintf("request, err := http.NewRequest(%q, %q, %s)\nif err != nil {\n\tlog.Fatal(err)\n}\nrequest.Header.Set(\"Authorization\", \"Bearer \"+token)\nrequest.Header.Set(\"User-Agent\", \"YourApp/1.0\")\n%sresponse, err := http.DefaultClient.Do(request)\nif err != nil {\n\tlog.Fatal(err)\n}\ndefer response.Body.Close()\nio.Copy(os.Stdout, response.Body)", method, address, reader, header)
	return []sample{{"curl", "curl", curl}, {"JavaScript", "javascript", script}, {"Python", "python", python}, {"Go", "go", golang}}
}
