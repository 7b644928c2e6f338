package webhook

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"
)

// Hurry shortens the times of a Deliverer.
func (d *Deliverer) Hurry(lease, try time.Duration, backOff ...time.Duration) {
	d.lease, d.client.Timeout, d.backOff, d.hold = lease, try, backOff, time.Microsecond
}

// Hold sets how long nothing is sent to a webhook after a failure.
func (d *Deliverer) Hold(hold time.Duration) { d.hold = hold }

// Collect is a step of Run.
func (d *Deliverer) Collect(ctx context.Context) error { return d.collect(ctx) }

// CollectLater reads the active webhooks, and returns what collects for them.
func (d *Deliverer) CollectLater(ctx context.Context) (collect func() error, err error) {
	followers, err := d.followers(ctx)
	return func() error {
		_, err := d.feed.Last(ctx)
		failed := []error{err}
		for _, w := range followers {
			_, err := d.collectFor(ctx, &w)
			failed = append(failed, err)
		}
		return errors.Join(failed...)
	}, err
}

// Claim leases due deliveries of a webhook, as a process that is then killed, and returns their
// number.
func (d *Deliverer) Claim(ctx context.Context, id uuid.UUID) (int, error) {
	claimed, err := d.claim(ctx, id, 100)
	return len(claimed), err
}

// Sweep deletes old entries of the log.
func (d *Deliverer) Sweep(ctx context.Context) { _ = d.sweep(ctx) }

// Later leases due deliveries of a webhook, and returns what attempts them at the same time.
func (d *Deliverer) Later(ctx context.Context, id uuid.UUID) (attempt func() error, err error) {
	claimed, err := d.claim(ctx, id, 100)
	return func() error {
		failed := make([]error, len(claimed))
		var attempts sync.WaitGroup
		for i, x := range claimed {
			attempts.Go(func() { _, failed[i] = d.attempt(ctx, x) })
		}
		attempts.Wait()
		return errors.Join(failed...)
	}, err
}
