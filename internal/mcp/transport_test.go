package mcp_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"chairside/internal/mcp"
	"chairside/internal/server"
	"chairside/internal/test/harness"
	"chairside/ogent"
)

func TestMain(m *testing.M) { harness.Main(m) }

// accessDelay is the time within which a changed role or a revoked token takes effect.
const accessDelay = time.Second

// allowWrites is an option of a server whose assistants may write.
func allowWrites(o *server.Options) { o.MCPAllowWrites = true }

// session is an assistant's connection.
type session struct {
	*sdk.ClientSession
	t testing.TB
}

// each runs test on both databases and over both transports; connect returns an assistant with
// a token.
func each(t *testing.T, writes bool, test func(t *testing.T, e *harness.Env, connect func(token string) session)) {
	t.Parallel()
	for name, database := range map[string]func(testing.TB) string{"sqlite": harness.SQLite, "postgres": harness.Postgres} {
		for transport, connect := range map[string]func(*testing.T, *harness.Env, bool, string) sdk.Transport{"http": overHTTP, "stdio": overStreams} {
			t.Run(name+" "+transport, func(t *testing.T) {
				t.Parallel()
				options := []func(*server.Options){harness.Patient}
				if writes {
					options = append(options, allowWrites)
				}
				e := harness.Start(t, database(t), options...)
				test(t, e, func(token string) session {
					client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
					s, err := client.Connect(t.Context(), connect(t, e, writes, token), nil)
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { s.Close() })
					return session{s, t}
				})
			})
		}
	}
}

// overHTTP connects to the server's /mcp.
func overHTTP(_ *testing.T, e *harness.Env, _ bool, token string) sdk.Transport {
	return &sdk.StreamableClientTransport{Endpoint: e.URL + mcp.Path, HTTPClient: &http.Client{Transport: bearer(token)}, MaxRetries: -1}
}

// bearer adds a token to each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// overStreams serves an assistant over a pair of pipes, as "chairside mcp" does.
func overStreams(t *testing.T, e *harness.Env, writes bool, token string) sdk.Transport {
	s, err := mcp.New(mcp.Options{
		API: mcp.InProcess(e.Server.Handler()), BaseURL: e.URL, Document: ogent.Document,
		AllowWrites: writes, Logger: slog.New(slog.NewJSONHandler(e.Log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(context.WithoutCancel(t.Context()), token, fromClient, toClient) }()
	t.Cleanup(func() {
		toServer.Close()
		if err := <-ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
		toClient.Close()
	})
	return &sdk.IOTransport{Reader: fromServer, Writer: toServer}
}

// tools returns the tools that the assistant sees.
func (s session) tools() map[string]*sdk.Tool {
	s.t.Helper()
	list, err := s.ListTools(s.t.Context(), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	tools := map[string]*sdk.Tool{}
	for _, tool := range list.Tools {
		tools[tool.Name] = tool
	}
	return tools
}

// call calls a tool; its arguments are JSON text.
func (s session) call(tool, arguments string) (text string, isError bool) {
	s.t.Helper()
	r, err := s.CallTool(s.t.Context(), &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
	if err != nil {
		s.t.Fatalf("%s: %v", tool, err)
	}
	return r.Content[0].(*sdk.TextContent).Text, r.IsError
}

// refused fails the test unless a call is refused with this code of the API.
func (s session) refused(tool, arguments, code string) {
	s.t.Helper()
	if text, isError := s.call(tool, arguments); !isError || !strings.Contains(text, `"code":"`+code+`"`) {
		s.t.Errorf("%s %s: %.300s, want the error %s", tool, arguments, text, code)
	}
}

func TestAssistantReads(t *testing.T) {
	each(t, false, func(t *testing.T, e *harness.Env, connect func(string) session) {
		token := e.Token(t, "")
		s := connect(token)
		text, isError := s.call("listPatients", `{"per_page": 2, "sort_by": "last_name"}`)
		want := e.Get(t, "/v1/patients?per_page=2&sort_by=last_name", token).Raw
		if isError || text != string(want) {
			t.Errorf("%v %s\nwant %s", isError, text, want)
		}
		s.refused("getPatient", `{"id": 999999}`, "not_found")
		s.refused("listPatients", `{"per_page": "many"}`, "invalid_parameter")
		if !strings.Contains(e.Log.String(), `"msg":"patient data read"`) {
			t.Error("the access log does not have the read")
		}
	})
}

func TestAssistantSeesOnlyWhatTheTokenAllows(t *testing.T) {
	each(t, true, func(t *testing.T, e *harness.Env, connect func(string) session) {
		s := connect(e.Token(t, "patient:read user:read"))
		tools := s.tools()
		for _, name := range []string{"listPatients", "getCustomField", "getCurrentUser", "getRateLimit"} {
			if tools[name] == nil {
				t.Errorf("no %s", name)
			}
		}
		for name, tool := range tools {
			if !tool.Annotations.ReadOnlyHint || strings.Contains(name, "Invoice") || strings.Contains(name, "Appointment") {
				t.Errorf("shows %s", name)
			}
		}
		s.refused("listInvoices", `{}`, "insufficient_scope")
		s.refused("createPatient", `{"patient": {}, "confirm": true}`, "insufficient_scope")
	})
}

func TestAssistantOnlyReadsUnlessAllowed(t *testing.T) {
	each(t, false, func(t *testing.T, e *harness.Env, connect func(string) session) {
		s := connect(e.Token(t, ""))
		for name, tool := range s.tools() {
			if !tool.Annotations.ReadOnlyHint {
				t.Errorf("shows %s", name)
			}
		}
		for _, arguments := range []string{`{"id": 1, "patient": {"title": "Dr"}}`, `{"id": 1, "patient": {"title": "Dr"}, "confirm": true}`} {
			r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "updatePatient", Arguments: json.RawMessage(arguments)})
			if err == nil {
				t.Errorf("updatePatient: %+v", r)
			}
		}
		if !strings.Contains(s.InitializeResult().Instructions, "switched off") {
			t.Error("the instructions do not say that changes are off")
		}
	})
}

// TestRevokedTokenEndsAccess with a revocation in the database, by another process.
func TestRevokedTokenEndsAccess(t *testing.T) {
	each(t, false, func(t *testing.T, e *harness.Env, connect func(string) session) {
		s := connect(e.Token(t, "patient"))
		s.tools()
		if _, err := e.DB.SQL.ExecContext(t.Context(), "UPDATE access_tokens SET revoked_at = created_at"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(accessDelay)
		if r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "listPatients"}); err == nil && !r.IsError {
			t.Error("the token still reads")
		}
		if _, err := s.ListTools(t.Context(), nil); err == nil {
			t.Error("the token still lists tools")
		}
	})
}

func TestUnusedTokenEndsAccess(t *testing.T) {
	each(t, false, func(t *testing.T, e *harness.Env, connect func(string) session) {
		s := connect(e.Token(t, "patient"))
		s.tools()
		e.Clock.Advance(15 * 24 * time.Hour)
		if r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "listPatients"}); err == nil && !r.IsError {
			t.Error("the token still reads")
		}
	})
}

func TestChangeOfRoleChangesTheTools(t *testing.T) {
	each(t, true, func(t *testing.T, e *harness.Env, connect func(string) session) {
		s := connect(e.Token(t, ""))
		if s.tools()["listInvoices"] == nil {
			t.Fatal("an administrator does not see listInvoices")
		}
		if _, err := e.DB.SQL.ExecContext(t.Context(), "UPDATE users SET role = 'receptionist'"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(accessDelay)
		tools := s.tools()
		if tools["listInvoices"] != nil || tools["deletePatient"] != nil || tools["updatePatient"] == nil {
			t.Error("a receptionist sees an administrator's tools")
		}
		s.refused("listInvoices", `{}`, "insufficient_scope")
	})
}

func TestGuidesAreResources(t *testing.T) {
	each(t, false, func(t *testing.T, e *harness.Env, connect func(string) session) {
		s := connect(e.Token(t, "patient"))
		list, err := s.ListResources(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list.Resources {
			got, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: r.URI})
			if err != nil || len(got.Contents[0].Text) != int(r.Size) || r.Title == "" || r.Name == "" {
				t.Errorf("%s: %+v %v", r.URI, r, err)
			}
		}
		if len(list.Resources) < 2 {
			t.Errorf("only %d resources", len(list.Resources))
		}
		for _, uri := range []string{"chairside://guides/../../etc/passwd", "file:///etc/passwd", "chairside://guides/none", "chairside://guides/"} {
			if r, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err == nil {
				t.Errorf("%s: %+v", uri, r)
			}
		}
	})
}
