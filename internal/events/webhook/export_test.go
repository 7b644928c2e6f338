package webhook

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
)

// Hurry shortens the times of a Deliverer.
func (d *Deliverer) Hurry(lease, try time.Duration, backOff ...time.Duration) {
	d.lease, d.client.Timeout, d.backOff, d.hold = lease, try, backOff, time.Microsecond
}

// Collect is a step of Run.
func (d *Deliverer) Collect(ctx context.Context) error { return d.collect(ctx) }

// Claim leases due deliveries of a webhook, as a process that is then killed, and returns their
// number.
func (d *Deliverer) Claim(ctx context.Context, id uuid.UUID) (int, error) {
	claimed, err := d.claim(ctx, id, 100)
	return len(claimed), err
}

// Sweep deletes old entries of the log.
func (d *Deliverer) Sweep(ctx context.Context) { d.sweep(ctx) }

// Later leases due deliveries of a webhook, and returns what attempts them.
func (d *Deliverer) Later(ctx context.Context, id uuid.UUID) (attempt func() error, err error) {
	claimed, err := d.claim(ctx, id, 100)
	return func() error {
		var failed []error
		for _, x := range claimed {
			_, err := d.attempt(ctx, x)
			failed = append(failed, err)
		}
		return errors.Join(failed...)
	}, err
}
