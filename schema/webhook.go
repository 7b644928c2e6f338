package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"

	"chairside/internal/apispec"
	"chairside/internal/codec"
	"chairside/internal/seal"
)

// Webhook is an address that receives the changes of records.
type Webhook struct{ ent.Schema }

// Mixin of Webhook.
func (Webhook) Mixin() []ent.Mixin { return []ent.Mixin{tenant{}, timestamps{}} }

// Fields of Webhook.
func (Webhook) Fields() []ent.Field {
	return []ent.Field{
		uuidID(),
		text("url", "Address that receives the events: https, or http to loopback and private addresses.", required(apispec.Field{Write: true, MaxRunes: 2000, Example: "https://example.com/hooks"})),
		boolTrue("active", "Whether events are delivered; cleared after 50 failures in a row.", createDefault(written())),
		field.JSON("events", []string{}).Comment("The events: RESOURCE.created, RESOURCE.updated, RESOURCE.deleted, RESOURCE.* or *.").Annotations(required(apispec.Field{Write: true, Kind: codec.Strings, Example: `["patients.created", "appointments.*"]`})),
		field.Int("failed_deliveries").Default(0).Comment("Attempts that failed.").Annotations(apispec.Field{Derived: true}),
		field.Int("successful_deliveries").Default(0).Comment("Attempts that succeeded.").Annotations(apispec.Field{Derived: true}),
		optionalTimestamp("last_delivered_at", "When an event was last delivered.", apispec.Field{Derived: true}),
		optionalTimestamp("disabled_at", "When failures switched the webhook off; null otherwise.", apispec.Field{Derived: true}),
		optionalText("disabled_reason", "Why Chairside switched the webhook off; null if it did not.", apispec.Field{Derived: true, Example: "50 attempts in a row failed"}),
		sealed("secret", "Signing secret: whsec_ and base64."),
		optionalSealed("previous_secret", "The secret before the last rotation, which also signs for a day."),
		optionalTimestamp("previous_until", "Until when the previous secret signs.", apispec.Hidden()),
		field.Int("failures_in_row").Default(0).Comment("Attempts that failed since the last success.").Annotations(apispec.Field{Hidden: true, Derived: true}),
		optionalTimestamp("held_until", "Until when nothing is sent after a failure; null otherwise.", apispec.Field{Hidden: true, Derived: true}),
		field.String("feed_cursor").Default("").Comment("Position in the change feed.").Annotations(apispec.Field{Hidden: true, Derived: true}),
	}
}

// Annotations of Webhook.
func (Webhook) Annotations() []schema.Annotation {
	return []schema.Annotation{apispec.Resource{
		Key: "webhook", Plural: "webhooks", Scope: "webhook", Doc: "Addresses that receive the changes of records.",
		Verbs:         []apispec.Verb{apispec.Get, apispec.List, apispec.Create, apispec.Update, apispec.Delete},
		ExampleUpdate: []string{"active", "events"},
		Descriptions: map[apispec.Verb]string{
			apispec.Create: "The response has the signing secret, which is not shown again. The token must be able to read every resource of the events.",
			apispec.Update: "Changes only the fields sent. With active true, a webhook that was switched off continues where it stopped.",
		},
		Computed: []apispec.Computed{
			{Name: "secret", Kind: codec.Text, Nullable: true, Handwritten: true, CreateOnly: true, Doc: "Signing secret. Only the response that creates the webhook has it; null otherwise."},
		},
		NotInFeed: "each delivery changes it",
	}}
}

// WebhookDelivery is one event for one webhook: it waits until it is delivered or given up, and
// is then a line of the log. It holds no data of the record; each attempt reads that again.
type WebhookDelivery struct{ ent.Schema }

// Mixin of WebhookDelivery.
func (WebhookDelivery) Mixin() []ent.Mixin { return []ent.Mixin{tenant{site: bookkeeping}} }

// Fields of WebhookDelivery.
func (WebhookDelivery) Fields() []ent.Field {
	return []ent.Field{
		intID(),
		field.UUID("webhook_id", uuid.UUID{}).Immutable().Comment("The webhook."),
		field.String("event_id").Immutable().Comment("Id of the event, the same in every attempt."),
		field.String("event").Immutable().Comment("patients.updated, or webhook.test."),
		field.String("resource").Immutable().Comment("The resource; empty for a test."),
		field.String("record_id").Immutable().Comment("Id of the record; for a test, that of the event, because tests do not wait for each other."),
		field.Int64("user_id").Optional().Nillable().Immutable().Comment("The user who made the change, if Chairside knows."),
		field.Time("changed_at").Immutable().Comment("When the record changed."),
		field.Time("due_at").Comment("Time of the next attempt."),
		field.Time("leased_until").Comment("Until when a server process holds it."),
		field.Int("attempt").Default(0).Comment("Number of attempts."),
		optionalTimestamp("settled_at", "When it was delivered or given up; null until then."),
		boolFalse("succeeded", "Whether it was delivered."),
	}
}

// Indexes of WebhookDelivery.
func (WebhookDelivery) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("webhook_id", "id"), // the log of a webhook
		// Due deliveries, and earlier ones of the same record.
		index.Fields("webhook_id", "due_at", "id").Annotations(entsql.IndexWhere("settled_at IS NULL")),
		index.Fields("webhook_id", "resource", "record_id", "id").Annotations(entsql.IndexWhere("settled_at IS NULL")),
		index.Fields("settled_at"), // old ones
	}
}

// WebhookAttempt is one request of a delivery and its response.
type WebhookAttempt struct{ ent.Schema }

// Mixin of WebhookAttempt.
func (WebhookAttempt) Mixin() []ent.Mixin { return []ent.Mixin{tenant{site: bookkeeping}} }

// Fields of WebhookAttempt.
func (WebhookAttempt) Fields() []ent.Field {
	return []ent.Field{
		intID(),
		field.Int64("delivery_id").Immutable().Comment("The delivery."),
		field.Time("at").Immutable().Comment("Time of the request."),
		field.JSON("headers", map[string]string{}).Immutable().Comment("Headers of the request."),
		field.String("body").GoType(seal.Value{}).Immutable().Sensitive().Comment("Body of the request."),
		field.Bytes("records").Immutable().Sensitive().Comment("Patient records in the body, for the access log."),
		field.Int("status").Immutable().Comment("Status of the response; 0 without one."),
		field.String("error").Immutable().Default("").Comment("Why there is no response."),
		field.String("response").GoType(seal.Value{}).Optional().Immutable().Sensitive().Comment("Start of the response's body, which may repeat the request."),
		field.Int("duration_ms").Immutable().Comment("Milliseconds until the response."),
	}
}

// Indexes of WebhookAttempt.
func (WebhookAttempt) Indexes() []ent.Index { return []ent.Index{index.Fields("delivery_id", "id")} }
