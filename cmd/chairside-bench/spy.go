package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"chairside/cmd/chairside-bench/load"
	"chairside/cmd/chairside-bench/plans"
)

// spy is another Chairside on a dataset's database, whose statements are recorded.
type spy struct {
	*dataset
	entry
	proxy *plans.Proxy
}

// spy starts a Chairside behind a recording proxy.
func (d *dataset) spy(ctx context.Context) (*spy, error) {
	proxy, err := plans.Listen(d.cluster.address.Host)
	if err != nil {
		return nil, err
	}
	through, err := url.Parse(d.cluster.url(d.cluster.working(d.size)))
	if err != nil {
		return nil, errors.Join(err, proxy.Close())
	}
	through.Host = proxy.Addr()
	s, err := start(ctx, "chairside behind a proxy", []string{d.cluster.program, "serve", "--rate-limit", "0", "--drain", "0"}, "CHAIRSIDE_DATABASE_URL="+through.String())
	if err != nil {
		return nil, errors.Join(err, proxy.Close())
	}
	return &spy{d, entry{server: s, token: d.entry(chairside).token}, proxy}, nil
}

func (s *spy) close() error { return errors.Join(s.stop(), s.proxy.Close()) }

// statements sends a request and returns Chairside's reading statements and the response
// body.
func (s *spy) statements(ctx context.Context, r load.Request) (reading []plans.Statement, body []byte, err error) {
	if _, err := s.proxy.Take(); err != nil {
		return nil, nil, err
	}
	answer, err := s.send(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	if answer.status != http.StatusOK {
		return nil, nil, fmt.Errorf("status %d: %.300s", answer.status, answer.body)
	}
	all, err := s.proxy.Take()
	for _, statement := range all {
		if statement.Explains() {
			reading = append(reading, statement)
		}
	}
	return reading, answer.body, err
}

// shapes returns the plans of a request's statements. It sends the request twice, because
// the first may also look up the token.
func (s *spy) shapes(ctx context.Context, r load.Request) (shapes []string, err error) {
	var statements []plans.Statement
	for range 2 {
		if statements, _, err = s.statements(ctx, r); err != nil {
			return nil, err
		}
	}
	for _, statement := range statements {
		executed, err := plans.Explain(ctx, s.db, statement)
		if err != nil {
			return nil, err
		}
		shapes = append(shapes, executed.Later.Shape())
	}
	return shapes, nil
}
