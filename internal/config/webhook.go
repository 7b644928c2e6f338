package config

import "chairside/schema"

// WebhookFlags are the flags of "chairside webhook create".
type WebhookFlags struct {
	Database
	User   string   `required:"" placeholder:"EMAIL" help:"Administrator who creates the webhook for the user's practice."`
	URL    string   `required:"" name:"url" placeholder:"URL" help:"Address that receives the events."`
	Events []string `name:"event" placeholder:"EVENT" help:"Event such as patients.created, patients.* or *. Repeat the flag for each event. Default: *"`
}

// WebhookNetwork says which addresses webhooks reach.
type WebhookNetwork struct {
	WebhookAllowPrivate bool `help:"Let webhooks reach loopback and private addresses."`
}

// Webhook is the parsed WebhookFlags.
type Webhook struct {
	Database  Database
	User, URL string
	Events    []string
}

// Read checks the flags. The error is Mistakes, with everything that is wrong.
func (f WebhookFlags) Read() (Webhook, error) {
	var m Mistakes
	f.Database.check(&m)
	c := Webhook{Database: f.Database, User: schema.NormalizeEmail(f.User), URL: f.URL, Events: f.Events}
	if len(c.Events) == 0 {
		c.Events = []string{"*"}
	}
	return c, m.err()
}

// Validate reports every mistake in the flags; the parser calls it.
func (f WebhookFlags) Validate() error {
	_, err := f.Read()
	return err
}
