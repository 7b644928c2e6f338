package schedule

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/textproto"
	"strconv"
	"strings"
	"time"

	"github.com/wneessen/go-mail"

	"chairside/internal/report/render"
)

// Mail is the server that mails are handed to, by SMTP. Without a user, and on a loopback address, the connection may be
// plain; otherwise the server must offer STARTTLS and have a valid certificate. Passwords are only sent over TLS.
type Mail struct {
	Host           string
	Port           int
	User, Password string // "" for no sign-in
	From           string // address of the sender

	roots *x509.CertPool // that the certificate is checked with; nil for those of the machine
}

// message is a mail with one file.
type message struct {
	to, subject, text string
	name              string
	format            render.Format
	content           []byte
	id                string // left part of the Message-ID
	at                time.Time
}

// fileTypes are the media types of the files.
var fileTypes = map[render.Format]mail.ContentType{
	render.CSV:  "text/csv; charset=utf-8; header=present",
	render.XLSX: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	render.HTML: "text/html; charset=utf-8",
}

// send hands a mail to the server. It ends when ctx does, whatever the server does.
func (m *Mail) send(ctx context.Context, x *message) error {
	msg, err := m.compose(x)
	if err != nil {
		return &failure{"the mail cannot be composed", nil}
	}
	client, err := mail.NewClient(m.Host, m.options(ctx)...)
	if err != nil {
		return &failure{"the mail server’s address cannot be used", nil}
	}
	err = client.DialAndSendWithContext(ctx, msg)
	if err == nil || msg.IsDelivered() { // the server has it, whatever it says then
		return nil
	}
	f := &failure{reason(ctx, err), nil}
	if refusedForGood(err) {
		return refusal{f}
	}
	return f
}

// refusal is a failure that another attempt hardly mends: the mail server refuses the mailbox or the mail for good.
type refusal struct{ *failure }

// refusedForGood reports whether the server has refused the recipient or the mail with a permanent reply (RFC 5321,
// section 4.2.1). A sender or a sign-in that it refuses is the operator's to correct, and concerns all schedules.
func refusedForGood(err error) bool {
	const permanent, above = 500, 600
	refused := new(mail.SendError)
	if !errors.As(err, &refused) || refused.ErrorCode() < permanent || refused.ErrorCode() >= above {
		return false
	}
	return refused.Reason == mail.ErrSMTPRcptTo || refused.Reason == mail.ErrSMTPData || refused.Reason == mail.ErrSMTPDataClose
}

// options configure the client of one conversation.
func (m *Mail) options(ctx context.Context) []mail.Option {
	all := []mail.Option{
		mail.WithPort(m.Port),
		mail.WithTimeout(mailTime),
		mail.WithTLSPolicy(mail.TLSMandatory),
		mail.WithTLSConfig(&tls.Config{ServerName: m.Host, MinVersion: tls.VersionTLS12, RootCAs: m.roots}),
		// The client looks at no context once it is connected.
		mail.WithDialContextFunc(func(dialing context.Context, network, _ string) (net.Conn, error) { // its address lacks the brackets of IPv6
			conn, err := new(net.Dialer).DialContext(dialing, network, net.JoinHostPort(m.Host, strconv.Itoa(m.Port)))
			if err == nil {
				context.AfterFunc(ctx, func() { _ = conn.Close() })
			}
			return conn, err
		}),
	}
	switch {
	case m.User != "":
		// Over TLS it prefers mechanisms that do not send the password.
		all = append(all, mail.WithSMTPAuth(mail.SMTPAuthAutoDiscover), mail.WithUsername(m.User), mail.WithPassword(m.Password))
	case isLoopback(m.Host):
		all = append(all, mail.WithTLSPolicy(mail.NoTLS))
	}
	return all
}

// isLoopback reports whether a connection to the host stays on this machine.
func isLoopback(host string) bool { return host == "localhost" || net.ParseIP(host).IsLoopback() }

// compose returns the mail.
func (m *Mail) compose(x *message) (*mail.Msg, error) {
	msg := mail.NewMsg(mail.WithNoDefaultUserAgent())
	if err := errors.Join(msg.From(m.From), msg.To(x.to)); err != nil {
		return nil, err
	}
	_, domain, _ := strings.Cut(m.From, "@")
	msg.SetMessageIDWithValue(x.id + "@" + domain)
	msg.SetDateWithValue(x.at)
	msg.Subject(x.subject)
	msg.SetBodyString(mail.TypeTextPlain, x.text)
	return msg, msg.AttachReader(x.name, bytes.NewReader(x.content), mail.WithFileContentType(fileTypes[x.format]))
}

// reason is why a mail could not be sent, without what the server said, which may hold addresses.
func reason(ctx context.Context, err error) string {
	refused, reply := new(mail.SendError), new(textproto.Error)
	unverified, unreachable := new(tls.CertificateVerificationError), new(net.OpError)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "the mail server did not respond in time"
	case errors.As(err, &refused) && refused.ErrorCode() != 0:
		return fmt.Sprintf("the mail server refused the mail (reply %d)", refused.ErrorCode())
	case errors.As(err, &refused):
		return "the connection to the mail server broke"
	case errors.As(err, &reply):
		return fmt.Sprintf("the mail server refused the sign-in (reply %d)", reply.Code)
	case errors.As(err, &unverified):
		return "the mail server’s certificate is not valid"
	case errors.As(err, &unreachable), errors.As(err, new(*net.DNSError)):
		return "the mail server cannot be reached"
	}
	return "the mail server offers no STARTTLS, or no sign-in that is safe"
}
