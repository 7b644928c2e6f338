package server

import (
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"chairside/internal/apierror"
	"chairside/internal/store/admission"
	"chairside/ogent"
)

// userAgent refuses requests that do not name their application (spec.md, Errors).
func userAgent(x *requestState) error {
	if strings.TrimSpace(x.r.UserAgent()) == "" {
		return apierror.MissingUserAgent()
	}
	return nil
}

// rateLimitPath is the address of the caller's rate limit; it has no version.
const rateLimitPath = "/rate_limit"

// route finds the operation. The version prefix is optional, PUT is handled as PATCH, and
// HEAD as GET.
func (s *Server) route(x *requestState) error {
	r := x.r
	r.URL = unversioned(r.URL)
	if handwrittenPath(r.URL.Path) {
		s.handwritten(x)
		x.records.Operation = x.name
		x.r = r.WithContext(admission.With(r.Context(), kindOf(x.pattern), x.name))
		return readOnly(x)
	}
	route, err := s.lookUp(r)
	if err != nil {
		return err
	}
	x.serve = s.routes
	x.named(route.OperationID(), route.PathPattern())
	x.operation = ogent.Operations[x.name]
	x.r = r.WithContext(admission.With(r.Context(), kindOf(x.pattern), x.name))
	return nil
}

// lookUp finds the generated operation of a request, and sets the method that it has there.
func (s *Server) lookUp(r *http.Request) (route ogent.Route, err error) {
	switch r.Method {
	case http.MethodHead:
		r.Method = http.MethodGet
	case http.MethodPut:
		r.Method = http.MethodPatch
	}
	route, ok := s.find(r.Method, r.URL)
	if ok {
		return route, nil
	}
	if allowed := s.allowed(r.URL); len(allowed) > 0 {
		return route, apierror.MethodNotAllowed(allowed)
	}
	return route, apierror.NotFound()
}

// unversioned returns a copy of a URL without the prefix /v1.
func unversioned(sent *url.URL) *url.URL {
	address := *sent
	if rest, ok := strings.CutPrefix(address.Path, "/v1/"); ok {
		address.Path = "/" + rest
		if raw, ok := strings.CutPrefix(address.RawPath, "/v1/"); ok {
			address.RawPath = "/" + raw
		} else {
			address.RawPath = ""
		}
	}
	return &address
}

// identifier matches the ids of paths: at most 19 digits, or a UUID. The generated decoder
// would also accept "+5" and a UUID without hyphens.
var identifier = regexp.MustCompile(`^([0-9]{1,19}|[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})$`)

func (s *Server) find(method string, address *url.URL) (route ogent.Route, ok bool) {
	route, ok = s.routes.FindPath(method, address)
	for _, id := range route.Args() {
		ok = ok && identifier.MatchString(id)
	}
	return route, ok
}

// allowed returns the methods that a path has; none if the path is unknown.
func (s *Server) allowed(address *url.URL) (methods []string) {
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete} {
		if _, ok := s.find(method, address); !ok {
			continue
		}
		switch method {
		case http.MethodGet:
			methods = append(methods, http.MethodGet, http.MethodHead)
		case http.MethodPatch:
			methods = append(methods, http.MethodPut, http.MethodPatch)
		default:
			methods = append(methods, method)
		}
	}
	if len(methods) > 0 {
		methods = append(methods, http.MethodOptions)
	}
	return methods
}

// readOnly refuses all methods but GET and HEAD.
func readOnly(x *requestState) error {
	if x.method != http.MethodGet && x.method != http.MethodHead {
		return apierror.MethodNotAllowed([]string{http.MethodGet, http.MethodHead, http.MethodOptions})
	}
	return nil
}

// accept refuses clients that do not accept JSON (RFC 9110, section 12.5.1). It ignores
// malformed media ranges.
func accept(x *requestState) error {
	header := strings.Join(x.r.Header.Values("Accept"), ",")
	if strings.TrimSpace(header) == "" {
		return nil
	}
	ranges := []string{"*/*", "application/*", "application/json"} // from general to specific
	if x.stream != nil {
		ranges = append(ranges, ndjsonType)
	}
	best, acceptable := -1, true
	for member := range strings.SplitSeq(header, ",") {
		mediaRange, params, err := mime.ParseMediaType(member)
		if err != nil {
			continue
		}
		i := slices.Index(ranges, mediaRange)
		switch weight, err := strconv.ParseFloat(params["q"], 64); {
		case i > best:
			best, acceptable = i, err != nil || weight > 0
		case best < 0:
			acceptable = false // another type than JSON
		}
	}
	if !acceptable {
		return apierror.NotAcceptable()
	}
	return nil
}
