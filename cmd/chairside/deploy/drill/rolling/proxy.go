package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"text/template"
	"time"

	"chairside/cmd/chairside/deploy/drill/internal/drill"
)

// configuration never tries a request twice, so that a lost one is seen.
var configuration = template.Must(template.New("").Parse(`global
    maxconn 4096
    log stdout format raw local0 notice
defaults
    mode http
    log global
    retries 0
    timeout connect 2s
    timeout client 30s
    timeout server 30s
    timeout check 2s
frontend api
    bind {{.API}}
    default_backend servers
backend servers
    balance roundrobin
    option httpchk GET /readyz
    http-check expect status 200
    default-server check inter 500ms fall 2 rise 1
{{- range .Servers}}
    server {{.Name}} {{.Address}}
{{- end}}
frontend statistics
    bind {{.Statistics}}
    stats enable
    stats uri /
`))

// proxy is an HAProxy.
type proxy struct {
	url, statistics string
	config          string
	process         *exec.Cmd
}

type backend struct{ Name, Address string }

// newProxy writes the configuration.
func newProxy(ctx context.Context, dir string, servers []*server) (*proxy, error) {
	api, err := drill.FreeAddress(ctx)
	if err != nil {
		return nil, err
	}
	statistics, err := drill.FreeAddress(ctx)
	if err != nil {
		return nil, err
	}
	var backends []backend
	for _, s := range servers {
		backends = append(backends, backend{s.name, s.address})
	}
	var text strings.Builder
	if err := configuration.Execute(&text, map[string]any{"API": api, "Statistics": statistics, "Servers": backends}); err != nil {
		return nil, err
	}
	p := &proxy{url: "http://" + api, statistics: "http://" + statistics + "/;csv", config: filepath.Join(dir, "haproxy.cfg")}
	return p, write(p.config, []byte(text.String()))
}

func (p *proxy) start() error {
	log, err := os.OpenFile(p.config+".log", os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	p.process = exec.Command(drill.Program("haproxy"), "-db", "-f", p.config) //nolint:noctx // it is stopped by a signal
	p.process.Stdout, p.process.Stderr = log, log
	return p.process.Start()
}

func (p *proxy) stop() error {
	if p == nil || p.process == nil || p.process.Process == nil {
		return nil
	}
	err := p.process.Process.Signal(syscall.SIGTERM)
	_ = p.process.Wait() // it ends with an error, because of the signal
	return err
}

// waitUp waits until a check of the load balancer has found a server ready. Before its first check
// HAProxy calls every server UP.
func (p *proxy) waitUp(ctx context.Context, s *server) error {
	for {
		if state, check, err := p.state(ctx, s.name); err == nil && strings.HasPrefix(state, "UP") && strings.HasSuffix(check, "L7OK") {
			return nil
		}
		select {
		case err := <-s.ended:
			return fmt.Errorf("%s ended: %w", s.name, err)
		default:
		}
		if err := drill.Pause(ctx, 50*time.Millisecond); err != nil {
			return fmt.Errorf("%s is not UP: %w", s.name, err)
		}
	}
}

// state returns what the load balancer says about a server, such as "UP" or "DOWN 1/2", and about
// its last check, such as "L7OK", with "* " before it while another check runs.
func (p *proxy) state(ctx context.Context, name string) (state, check string, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.statistics, nil)
	if err != nil {
		return "", "", err
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", "", err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	lines, err := csv.NewReader(response.Body).ReadAll()
	if err != nil {
		return "", "", err
	}
	const serverName, status, lastCheck = 1, 17, 36 // columns of HAProxy's statistics
	for _, line := range lines {
		if len(line) > lastCheck && line[serverName] == name {
			return line[status], line[lastCheck], nil
		}
	}
	return "", "", fmt.Errorf("HAProxy knows no server %s", name)
}
