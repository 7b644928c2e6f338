package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"chairside/internal/audit"
	"chairside/internal/codec"
	"chairside/internal/principal"
	"chairside/internal/seal"
	"chairside/ogent"
)

// delivery is one event for one webhook.
type delivery struct {
	id                int64
	practice, webhook uuid.UUID
	eventID, event    string
	resource, record  string
	user              *int64
	changedAt         time.Time
	number            int       // of the attempt
	until             time.Time // end of the lease
	url               string
	secret            seal.Value
	events            []string   // of the webhook
	previous          seal.Value // the secret before a rotation; null if it no longer signs
	zoneName, country string     // of the practice
}

// wanted reports whether the webhook still has the event.
func (x delivery) wanted() bool {
	_, kind, _ := strings.Cut(x.event, ".")
	return x.event == testEvent || Wants(x.events, x.resource, kind)
}

// Payload is the body of a delivery.
type Payload struct {
	ID     string          `json:"id"`
	Event  string          `json:"event"`
	Object string          `json:"object"` // the resource
	At     string          `json:"changed_at"`
	Data   json.RawMessage `json:"data"`
	User   *payloadUser    `json:"user"`
}

type payloadUser struct {
	ID int64 `json:"id"`
}

// content is the body of a request, and the patient records in it for the access log.
type content struct {
	body, records []byte
	read          *audit.Log
}

// content returns the content of a delivery, with the record as it is now.
func (d *Deliverer) content(ctx context.Context, x delivery) (c content, err error) {
	zone, err := time.LoadLocation(x.zoneName)
	if err != nil {
		return c, fmt.Errorf("webhook: the practice's time zone: %w", err)
	}
	p := Payload{ID: x.eventID, Event: x.event, Object: x.resource, At: x.changedAt.In(zone).Format(codec.TimeLayout)}
	if x.user != nil {
		p.User = &payloadUser{*x.user}
	}
	ctx, read := audit.With(principal.With(ctx, &principal.Principal{PracticeID: x.practice, Zone: zone, Country: x.country}))
	if x.event == testEvent {
		p.Object = "webhooks"
		p.Data, err = json.Marshal(map[string]string{"id": x.webhook.String()})
	} else {
		p.Data, err = d.record(ctx, x)
	}
	if err != nil {
		return c, err
	}
	c.read = read
	if c.records, err = read.Marshal(); err != nil {
		return c, err
	}
	c.body, err = json.Marshal(p)
	return c, err
}

// record returns the document of a record, or only its id if it is gone.
func (d *Deliverer) record(ctx context.Context, x delivery) (json.RawMessage, error) {
	resource, known := ogent.Resources[x.resource]
	if known {
		found, err := resource.ByID(ctx, d.reads, []string{x.record})
		if err != nil {
			return nil, err
		}
		if len(found) > 0 {
			return json.RawMessage(found[0].JSON), nil
		}
	}
	if n, err := strconv.ParseInt(x.record, 10, 64); err == nil {
		return json.Marshal(map[string]int64{"id": n})
	}
	return json.Marshal(map[string]string{"id": x.record})
}
