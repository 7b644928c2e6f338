package floor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"

	"chairside/internal/seal"
	"chairside/internal/write/etag"
)

// connections is the size of the pool, as in Chairside.
const connections = 20

// Server serves the benchmark's routes.
type Server struct {
	db       *pgxpool.Pool
	keys     *seal.Keys
	baseURL  string    // in links, without a trailing slash
	observer *observer // nil without EqualPromises
}

// Options configure a Server.
type Options struct {
	DatabaseURL string     // of a PostgreSQL database of Chairside
	Keys        *seal.Keys // of its sealed columns
	BaseURL     string     // used in links
	// EqualPromises also writes an audit row for each booking, and logs, counts and times
	// each request.
	EqualPromises bool
}

// New connects to Chairside's database and creates the booking function in its own schema.
func New(ctx context.Context, o Options) (*Server, error) {
	config, err := pgxpool.ParseConfig(o.DatabaseURL)
	if err != nil {
		return nil, errors.New("the database URL is invalid") // the cause could repeat it
	}
	config.MaxConns = connections
	config.ConnConfig.RuntimeParams["timezone"] = "UTC"
	config.ConnConfig.RuntimeParams["application_name"] = "chairside-bench floor"
	db, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("floor: %w", err)
	}
	if _, err := db.Exec(ctx, bookFunction); err != nil {
		db.Close()
		return nil, fmt.Errorf("floor: create the booking function: %w", err)
	}
	s := &Server{db: db, keys: o.Keys, baseURL: strings.TrimRight(o.BaseURL, "/")}
	if o.EqualPromises {
		s.observer = newObserver()
	}
	return s, nil
}

// Close closes the connections.
func (s *Server) Close() { s.db.Close() }

// Handler returns the server's handler.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	mux.HandleFunc("GET /v1/appointments", s.route("appointment:read", s.listAppointments))
	mux.HandleFunc("GET /v1/appointments/{id}", s.route("appointment:read", s.getAppointment))
	mux.HandleFunc("POST /v1/appointments", s.route("appointment:create", s.book))
	mux.HandleFunc("GET /v1/appointments/availability", s.route("appointment:read", s.availability))
	mux.HandleFunc("GET /v1/patients", s.route("patient:read", s.listPatients))
	mux.HandleFunc("GET /v1/invoices/{id}", s.route("financials:read", s.getInvoice))
	if s.observer != nil {
		return s.observer.observe(mux)
	}
	return mux
}

// handler appends a response's body to e and returns its status.
type handler func(r *http.Request, c *caller, e *encoder) (status int, err error)

var encoders = sync.Pool{New: func() any { return &encoder{} }}

// route adds the checks and the headers to a handler.
func (s *Server) route(scope string, handle handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE")
		h.Set("Access-Control-Allow-Headers", "X-Requested-With, X-Prototype-Version, Content-Type, Authorization")
		h.Set("Access-Control-Expose-Headers", "ETag, X-OAuth-Scopes")
		h.Set("Cache-Control", "private, no-cache")
		h.Set("Vary", "Authorization")

		e := encoders.Get().(*encoder)
		defer encoders.Put(e)
		e.reset(s.baseURL)
		status, err := s.checkAndHandle(h, r, scope, handle, e)
		if err != nil {
			status = fail(e, err)
		}
		tag := etag.Of(e.b)
		if status < 300 {
			h.Set("ETag", tag)
			if r.Method == http.MethodGet && etag.NoneMatch(r.Header.Get("If-None-Match"), tag) != "" {
				w.WriteHeader(http.StatusNotModified)
				return
			}
		}
		h.Set("Content-Type", "application/json; charset=utf-8")
		h.Set("Content-Length", strconv.Itoa(len(e.b)))
		w.WriteHeader(status)
		_, _ = w.Write(e.b) // fails if the client has disconnected
	}
}

// checkAndHandle checks User-Agent, token and scope, then calls the handler.
func (s *Server) checkAndHandle(h http.Header, r *http.Request, scope string, handle handler, e *encoder) (int, error) {
	if strings.TrimSpace(r.UserAgent()) == "" {
		return 0, failure{http.StatusForbidden, "invalid_request_error", "missing_user_agent"}
	}
	c, err := s.caller(r)
	if err != nil {
		return 0, err
	}
	h.Set("X-OAuth-Scopes", c.scopes)
	if !c.may(scope) {
		return 0, failure{http.StatusForbidden, "invalid_access_error", "insufficient_scope"}
	}
	e.zone = c.zone
	return handle(r, c, e)
}

// failure is an error response.
type failure struct {
	status     int
	kind, code string
}

func (f failure) Error() string { return f.code }

var (
	notFound         = failure{http.StatusNotFound, "invalid_request_error", "not_found"}
	invalidParameter = failure{http.StatusBadRequest, "invalid_request_error", "invalid_parameter"}
	validationFailed = failure{http.StatusUnprocessableEntity, "invalid_request_error", "validation_failed"}
)

// fail replaces the response with an error.
func fail(e *encoder, err error) int {
	f := failure{http.StatusInternalServerError, "api_error", "internal"}
	_ = errors.As(err, &f)
	e.b = e.b[:0]
	e.open('{').key("error").open('{').key("type").text(f.kind).key("code").text(f.code).close('}').close('}')
	return f.status
}

// page is the requested page of a list.
type page struct{ number, size int }

// readPage parses page and per_page; size is the default size, most the largest.
func readPage(query url.Values, size, most int) (page, error) {
	p := page{1, size}
	for name, to := range map[string]*int{"page": &p.number, "per_page": &p.size} {
		if !query.Has(name) {
			continue
		}
		n, err := strconv.Atoi(query.Get(name))
		if err != nil || n < 1 {
			return p, invalidParameter
		}
		*to = n
	}
	p.size = min(p.size, most)
	return p, nil
}

func (p page) offset() int { return (p.number - 1) * p.size }

// meta appends the member meta, the last one of a list.
func (p page) meta(e *encoder, total int) {
	e.key("meta").open('{').key("total").int(int64(total)).key("page").int(int64(p.number)).key("current_page").int(int64(p.number)).
		key("per_page").int(int64(p.size)).key("total_pages").int(int64((total + p.size - 1) / p.size)).close('}')
}

// pathID returns the id in the path.
func pathID(r *http.Request) (int64, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return 0, notFound
	}
	return id, nil
}
