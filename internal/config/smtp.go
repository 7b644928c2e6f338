package config

import (
	"net"
	"strconv"

	"chairside/internal/codec"
)

// SMTPFlags are the flags of "chairside serve" for the mails of scheduled reports.
type SMTPFlags struct {
	SMTPAddr         string `name:"smtp-addr" placeholder:"HOST:PORT" help:"Mail server that scheduled reports are sent by, such as smtp.example.com:587. It must offer STARTTLS, unless it is on a loopback address. Default: no mail."`
	SMTPFrom         string `name:"smtp-from" placeholder:"ADDRESS" help:"Sender of the mails. Needed with --smtp-addr."`
	SMTPUser         string `name:"smtp-user" placeholder:"NAME" help:"User of the mail server. Needs --smtp-password-file. Default: do not sign in."`
	SMTPPasswordFile string `name:"smtp-password-file" placeholder:"FILE" help:"File with the user's password, on its first line. It is only sent over TLS."`
}

// SMTP is the parsed SMTPFlags.
type SMTP struct {
	Host         string
	Port         int
	From         string
	User         string // "" for no sign-in
	PasswordFile string // "" without a user
}

// smtpsPort is the port of SMTP without STARTTLS, where TLS comes first.
const smtpsPort = 465

// read checks the flags. It returns nil without a mail server.
func (f SMTPFlags) read(m *Mistakes) *SMTP {
	if f.SMTPAddr == "" {
		for _, x := range []struct{ flag, value string }{{"smtp-from", f.SMTPFrom}, {"smtp-user", f.SMTPUser}, {"smtp-password-file", f.SMTPPasswordFile}} {
			if x.value != "" {
				m.add(x.flag, "needs --smtp-addr")
			}
		}
		return nil
	}
	c := &SMTP{From: f.SMTPFrom, User: f.SMTPUser, PasswordFile: f.SMTPPasswordFile}
	host, port, err := net.SplitHostPort(f.SMTPAddr)
	n, wrong := strconv.ParseUint(port, 10, 16)
	switch c.Host, c.Port = host, int(n); {
	case err != nil || wrong != nil || n == 0 || host == "":
		m.add("smtp-addr", "must be HOST:PORT, such as smtp.example.com:587")
	case n == smtpsPort:
		m.add("smtp-addr", "port %d does not use STARTTLS: use the server's STARTTLS port, usually 587", smtpsPort)
	}
	if !codec.ValidEmail(f.SMTPFrom) {
		m.add("smtp-from", "must be an e-mail address, such as reports@example.com")
	}
	if (f.SMTPUser == "") != (f.SMTPPasswordFile == "") {
		m.add("smtp-user", "must be set together with --smtp-password-file")
	}
	return c
}
