package config

import (
	"cmp"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

func (f ServeFlags) readSlowRequest(m *Mistakes) time.Duration {
	d, err := time.ParseDuration(cmp.Or(f.SlowRequest, "0"))
	if err != nil || d < 0 {
		m.add("slow-request", "must be a duration, such as 1s; 0 logs no slow requests")
	}
	return d
}

// readTraces reads where traces go, and the share of requests that are traced. Messages do not
// repeat the URL, which may hold a password.
func (f ServeFlags) readTraces(m *Mistakes) (endpoint string, ratio float64) {
	ratio, err := strconv.ParseFloat(cmp.Or(f.TraceSampleRatio, "1"), 64)
	if err != nil || !(ratio >= 0 && ratio <= 1) { // also not NaN
		m.add("trace-sample-ratio", "must be a number from 0 to 1, such as 0.1")
	}
	if f.OTLPEndpoint == "" {
		return "", ratio
	}
	u, err := url.Parse(f.OTLPEndpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		m.add("otlp-endpoint", "must be a URL such as http://127.0.0.1:4318, without a password (OTEL_EXPORTER_OTLP_HEADERS can hold one)")
		return "", ratio
	}
	return strings.TrimRight(f.OTLPEndpoint, "/"), ratio
}

// otlpHeaders is OpenTelemetry's variable for headers, such as "Authorization=Bearer%20secret".
// It has no flag, because other users can see a process's arguments.
const otlpHeaders = "OTEL_EXPORTER_OTLP_HEADERS"

func readOTLPHeaders(m *Mistakes) map[string]string {
	headers := map[string]string{}
	for pair := range strings.SplitSeq(os.Getenv(otlpHeaders), ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if name = strings.TrimSpace(name); !ok || name == "" || err != nil || strings.ContainsAny(value, "\r\n\x00") {
			m.add("otlp-endpoint", "the variable %s must be NAME=VALUE,… with values in URL encoding", otlpHeaders)
			continue
		}
		headers[name] = value
	}
	return headers
}
