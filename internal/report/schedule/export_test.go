package schedule

import (
	"context"
	"crypto/x509"
	"time"
)

// Hurry shortens the time of a mail server.
func (r *Runner) Hurry(mailTime time.Duration) { r.mailTime = mailTime }

// Between sets what runs between a delivery and its record.
func (r *Runner) Between(work func()) { r.between = work }

// Failing is the end of a turn of Run.
func (r *Runner) Failing(ctx context.Context) error { return r.failing(ctx) }

// Trust makes the mail server's certificate valid.
func (m *Mail) Trust(roots *x509.CertPool) { m.roots = roots }

// BackOff is the first pause after a failure.
var BackOff = backOff[0]
