package schedule_test

import (
	"encoding/base64"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"slices"
	"strings"
	"testing"
	"time"

	"chairside/ent"
	"chairside/internal/seed"
	"chairside/internal/store/storetest"
	"chairside/internal/test/harness"
)

// receiver is the address that mails go to.
const receiver = "manager@practice.test"

// part is a part of a mail.
type part struct{ kind, name, content string }

// open returns the header and the parts of a mail.
func open(t testing.TB, text string) (header mail.Header, subject string, parts []part) {
	t.Helper()
	m, err := mail.ReadMessage(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if subject, err = new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject")); err != nil {
		t.Fatal(err)
	}
	_, parameters, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	for all := multipart.NewReader(m.Body, parameters["boundary"]); ; {
		p, err := all.NextRawPart()
		if err == io.EOF {
			return m.Header, subject, parts
		}
		if err != nil {
			t.Fatal(err)
		}
		content := io.Reader(p)
		switch strings.ToLower(p.Header.Get("Content-Transfer-Encoding")) {
		case "base64":
			content = base64.NewDecoder(base64.StdEncoding, p)
		case "quoted-printable":
			content = quotedprintable.NewReader(p)
		}
		bytes, err := io.ReadAll(content)
		if err != nil {
			t.Fatal(err)
		}
		kind, _, err := mime.ParseMediaType(p.Header.Get("Content-Type"))
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, part{kind, p.FileName(), string(bytes)})
	}
}

// TestReportsAreMailed: a mail has the file, and names no patient elsewhere.
func TestReportsAreMailed(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		s := smtp(t, func(*smtpServer) {})
		add(t, e, "", receiver, "xlsx")
		without := runner(e, e.DB, nil)
		run(t, e, without, due) // another process can
		if got := state(t, e, "lease"); got != "0" {
			t.Errorf("a process without a mail server took lease %s", got)
		}
		r := runner(e, e.DB, s.mail())
		for range 2 {
			run(t, e, r, due)
		}
		mails := s.received()
		if len(mails) != 1 || !strings.Contains(s.to[0], receiver) {
			t.Fatalf("%d mails, to %v", len(mails), s.to)
		}
		header, subject, parts := open(t, mails[0])
		if subject != "Income: 22 Jun 2026 to 28 Jun 2026" || header.Get("From") != "<reports@practice.test>" || header.Get("Cc")+header.Get("Bcc") != "" {
			t.Errorf("subject %q, header %v", subject, header)
		}
		if !strings.HasSuffix(header.Get("Message-Id"), "@practice.test>") {
			t.Errorf("the Message-ID is %s", header.Get("Message-Id"))
		}
		if len(parts) != 2 || parts[0].kind != "text/plain" || parts[0].name != "" || parts[1].name != "demo-income-2026-06-22-to-2026-06-28.xlsx" || !strings.HasPrefix(parts[1].content, "PK") {
			t.Fatalf("the parts are %+.200v", parts)
		}
		if n := noted(t, e); n != 1 {
			t.Errorf("the audit log has %d runs", n)
		}
		ctx := e.As(t, "demo")
		patients, err := e.DB.Ent.Patient.Query().All(ctx)
		if err != nil || len(patients) == 0 {
			t.Fatalf("%d patients, %v", len(patients), err)
		}
		outside := subject + parts[0].content
		for name, values := range header {
			outside += name + strings.Join(values, " ")
		}
		if slices.ContainsFunc(patients, func(p *ent.Patient) bool { return strings.Contains(outside, p.FirstName+" "+p.LastName) }) {
			t.Error("the mail names a patient")
		}
		if log := e.Log.String(); strings.Contains(log, receiver) || strings.Contains(log, "reports@practice.test") {
			t.Errorf("the log has addresses: %s", log)
		}
	})
}

// TestRepeatedMailsHaveOneID: a mail that the server has accepted without saying so is sent again under the same
// Message-ID.
func TestRepeatedMailsHaveOneID(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		s := smtp(t, func(s *smtpServer) { s.drops = true })
		add(t, e, "", receiver, "csv")
		r := runner(e, e.DB, s.mail())
		run(t, e, r, due)
		if got := state(t, e, "failure"); got != "the connection to the mail server broke" {
			t.Error(got)
		}
		run(t, e, r, due.Add(time.Hour))
		run(t, e, r, due.Add(week))
		mails := s.received()
		if len(mails) != 3 {
			t.Fatalf("%d mails", len(mails))
		}
		var ids []string
		for _, m := range mails {
			header, _, _ := open(t, m)
			ids = append(ids, header.Get("Message-Id"))
		}
		if ids[0] != ids[1] || ids[1] == ids[2] {
			t.Errorf("the ids are %v", ids)
		}
	})
}

// TestMailServersFail in each way, which the schedule says without addresses.
func TestMailServersFail(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		add(t, e, "", receiver, "csv")
		at := due
		fails := func(reason string, change func(s *smtpServer)) *smtpServer {
			t.Helper()
			s := smtp(t, change)
			r := runner(e, e.DB, s.mail())
			if s.silent != "" {
				r.Hurry(time.Second)
			}
			run(t, e, r, at)
			if at = at.Add(25 * time.Hour); state(t, e, "failure") != reason { // also longer than the pause after a refusal
				t.Errorf("%q, want %q", state(t, e, "failure"), reason)
			}
			return s
		}
		const late = "the mail server did not respond in time"
		for _, command := range []string{"CONNECT", "EHLO", "MAIL", "DATA"} {
			fails(late, func(s *smtpServer) { s.silent = command })
		}
		refusal := "550 5.1.1 <" + receiver + ">: no such user"
		s := fails("the mail server refused the mail (reply 550)", func(s *smtpServer) { s.replies["RCPT"] = refusal })
		if len(s.received()) > 0 {
			t.Error("a mail was sent all the same")
		}
		gone, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		gone.Close()
		fails("the mail server cannot be reached", func(s *smtpServer) { s.port = gone.Addr().(*net.TCPAddr).Port })
		if log := e.Log.String(); strings.Contains(log, receiver) {
			t.Errorf("the log has the address: %s", log)
		}
		if n := storetest.Int(t, e.DB, "SELECT failures FROM report_schedules"); n != 6 {
			t.Errorf("%d failures in a row", n)
		}
		s = smtp(t, func(*smtpServer) {})
		run(t, e, runner(e, e.DB, s.mail()), at)
		if len(s.received()) != 1 || state(t, e, "failure") != "" {
			t.Errorf("%d mails; %s", len(s.received()), state(t, e, "failure"))
		}
	})
}

// TestRefusedMailsStopTheSchedule at the third due time; until then they are tried again once a day.
func TestRefusedMailsStopTheSchedule(t *testing.T) {
	for command, reply := range map[string]string{"RCPT": "550 5.1.1 <" + receiver + ">: no such user", "DATA": "554 5.7.1 no mails with files"} {
		t.Run(command, func(t *testing.T) {
			harness.Each(t, func(t *testing.T, e *harness.Env) {
				s := smtp(t, func(s *smtpServer) { s.replies[command] = reply })
				add(t, e, "", receiver, "csv")
				r := runner(e, e.DB, s.mail())
				reason := "the mail server refused the mail (reply " + reply[:3] + ")"
				attempts := 0
				for at := due.Add(-time.Hour); at.Before(due.Add(5 * week)); at = at.Add(time.Hour) {
					before := s.count(command)
					run(t, e, r, at)
					if s.count(command) == before {
						continue
					}
					attempts++
					if stopped := state(t, e, "stopped_at") != ""; stopped != !at.Before(due.Add(2*week)) {
						t.Fatalf("stopped at %s: %t", at, stopped)
					}
					if got := state(t, e, "failure"); got != reason && at.Before(due.Add(2*week)) {
						t.Errorf("at %s: %q", at, got)
					}
				}
				if attempts != 15 { // seven for each of two due times, and one for the third
					t.Errorf("%d attempts", attempts)
				}
				reason += " at 3 due times"
				if got := state(t, e, "stopped_reason"); got != reason {
					t.Errorf("stopped because %q", got)
				}
				e.Browser(t).SignIn(seed.DemoAdmin).Get("/settings/status").Has(t, "(income) is stopped: "+reason)
				if err := r.Failing(reading(t, e)); err != nil {
					t.Error(err)
				}
				if strings.Contains(e.Log.String(), receiver) {
					t.Errorf("the log has the address: %s", e.Log)
				}
			})
		})
	}
}

// TestOtherFailuresStopNothing: neither replies that are temporary or about the sender, nor refusals before a success.
func TestOtherFailuresStopNothing(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		add(t, e, "", receiver, "csv")
		at := due
		turn := func(command, reply string) {
			t.Helper()
			s := smtp(t, func(s *smtpServer) {
				if reply != "" {
					s.replies[command] = reply
				}
			})
			run(t, e, runner(e, e.DB, s.mail()), at)
			if s.count("MAIL") != 1 {
				t.Errorf("%d attempts at %s", s.count("MAIL"), at)
			}
			if at = at.Add(week); state(t, e, "stopped_reason") != "" {
				t.Fatalf("%s: stopped because %q", reply, state(t, e, "stopped_reason"))
			}
		}
		for range 4 {
			turn("RCPT", "450 4.2.1 later")
			turn("MAIL", "553 5.1.8 unknown sender")
		}
		for range 3 {
			turn("RCPT", "550 5.1.1 no such user")
			turn("RCPT", "450 4.2.1 later")
			turn("RCPT", "550 5.1.1 no such user")
			if got := state(t, e, "refusals"); got != "2" {
				t.Errorf("%s due times", got)
			}
			turn("", "")
		}
		if state(t, e, "refusals") != "0" || state(t, e, "failures") != "0" {
			t.Errorf("after a success: %s due times, %s failures", state(t, e, "refusals"), state(t, e, "failures"))
		}
	})
}

// TestPasswordsNeedTLS: also on a loopback address, and with a valid certificate.
func TestPasswordsNeedTLS(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		const password = "a password of the mail server"
		add(t, e, "", receiver, "csv")
		server, roots := certificate(t)
		at := due
		for _, c := range []struct {
			change  func(s *smtpServer)
			trusted bool
			reason  string
		}{
			{func(s *smtpServer) { s.auth = "PLAIN LOGIN" }, true, "the mail server offers no STARTTLS, or no sign-in that is safe"},
			{func(s *smtpServer) { s.auth, s.startTLS = "PLAIN LOGIN", server }, false, "the mail server’s certificate is not valid"},
			{func(s *smtpServer) { s.auth, s.startTLS, s.replies["AUTH"] = "PLAIN", server, "535 no" }, true, "the mail server refused the sign-in (reply 535)"},
			{func(s *smtpServer) { s.auth, s.startTLS = "PLAIN", server }, true, ""},
		} {
			s := smtp(t, c.change)
			m := s.mail()
			m.User, m.Password = "reports", password
			if c.trusted {
				m.Trust(roots)
			}
			run(t, e, runner(e, e.DB, m), at)
			at = at.Add(5 * time.Hour)
			if got := state(t, e, "failure"); got != c.reason {
				t.Errorf("%q, want %q", got, c.reason)
			}
			if sent := s.saw("\x00reports\x00" + password); sent != (s.startTLS != nil && c.trusted) {
				t.Errorf("%q: the password was sent: %t", c.reason, sent)
			}
		}
		if strings.Contains(e.Log.String(), password) {
			t.Error("the log has the password")
		}
	})
}
