package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"chairside/cmd/chairside/deploy/drill/internal/drill"
)

// maxExposure is the highest rating of the service by "systemd-analyze security", from 0 to 10, as in the package's tests.
const maxExposure = 1.5

// override starts the service at the drill's address, without its limit of requests, and with copies of its
// database, as "systemctl edit" does.
const override = `[Service]
ExecStart=
ExecStart=/usr/bin/chairside serve --rate-limit 0 --addr %s
Environment=CHAIRSIDE_BACKUP_DIR=/var/lib/chairside/copies
`

// machine is the installation, booted under systemd in a container.
type machine struct {
	host  *exec.Cmd
	ended chan struct{} // closed when host has ended; then log is complete
	log   bytes.Buffer
	init  string // process ID of its systemd
}

// errNoBoot means that containers cannot run on this machine.
var errNoBoot = errors.New("containers cannot run on this machine")

// boot boots the installation with the host's network. It fails with errNoBoot if not even a container with one
// program runs.
func (r *root) boot(ctx context.Context) (*machine, error) {
	if _, err := os.Lstat(filepath.Join(r.dir, "sbin/init")); err != nil {
		return nil, err
	}
	if output, err := drill.Execute(ctx, ".", nil, "systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--directory", r.dir, "/bin/true"); err != nil {
		return nil, fmt.Errorf("%w: %w\n%s", errNoBoot, err, output)
	}
	dir := filepath.Join(r.dir, "etc/systemd/system/chairside.service.d")
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // everyone reads the units of systemd
		return nil, err
	}
	address := strings.TrimPrefix(r.url, "http://")
	if err := os.WriteFile(filepath.Join(dir, "drill.conf"), fmt.Appendf(nil, override, address), 0o644); err != nil { //nolint:gosec // likewise
		return nil, err
	}
	m := &machine{ended: make(chan struct{})}
	m.host = exec.CommandContext(context.WithoutCancel(ctx), "systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--boot", "--console=pipe", "--directory", r.dir)
	m.host.Stdout, m.host.Stderr, m.host.WaitDelay = &m.log, &m.log, 5*time.Second
	if err := m.host.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = m.host.Wait() // halt and boot report what it wrote
		close(m.ended)
	}()
	for state := ""; state != "running"; {
		select {
		case <-m.ended:
			return nil, fmt.Errorf("the container ended in the state %q:\n%s", state, m.log.String())
		case <-ctx.Done():
			m.halt()
			return nil, fmt.Errorf("the container did not finish booting (state %q): %w\n%s", state, ctx.Err(), m.log.String())
		case <-time.After(200 * time.Millisecond):
		}
		children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", m.host.Process.Pid))
		if m.init = strings.TrimSpace(string(children)); !isInit(m.init) {
			continue
		}
		now, _ := m.run(ctx, "systemctl", "is-system-running") // an error in every other state
		if now = strings.TrimSpace(now); now != "" {
			state = now
		}
		if state == "degraded" {
			failed, _ := m.run(ctx, "systemctl", "--failed", "--no-pager")
			m.halt()
			return nil, fmt.Errorf("a unit failed:\n%s", failed)
		}
	}
	return m, nil
}

// isInit reports whether a process is the first one of a container.
func isInit(pid string) bool {
	status, _ := os.ReadFile("/proc/" + pid + "/status")
	_, ids, _ := strings.Cut(string(status), "\nNSpid:")
	ids, _, _ = strings.Cut(ids, "\n")
	fields := strings.Fields(ids)
	return len(fields) > 1 && fields[len(fields)-1] == "1"
}

// halt ends the container.
func (m *machine) halt() {
	_ = m.host.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-m.ended:
	case <-time.After(20 * time.Second):
		_ = m.host.Process.Kill()
		<-m.ended
	}
}

// run runs a program in the machine as its root.
func (m *machine) run(ctx context.Context, arguments ...string) (string, error) {
	return drill.Execute(ctx, ".", nil, "nsenter", append([]string{"--target", m.init, "--mount", "--uts", "--ipc", "--pid", "--root", "--cgroup"}, arguments...)...)
}

// property returns a property of the service.
func (m *machine) property(ctx context.Context, name string) (string, error) {
	value, err := m.run(ctx, "systemctl", "show", "--value", "--property", name, "chairside.service")
	return strings.TrimSpace(value), err
}

// confined fails unless the service runs unprivileged and owns its database.
func (m *machine) confined(ctx context.Context) error {
	process, err := m.property(ctx, "MainPID")
	if err != nil {
		return err
	}
	status, err := m.run(ctx, "cat", "/proc/"+process+"/status")
	if err != nil {
		return err
	}
	has := map[string]string{}
	for line := range strings.Lines(status) {
		name, value, _ := strings.Cut(line, ":")
		first, _, _ := strings.Cut(strings.TrimSpace(value), "\t")
		has[name] = first
	}
	for name, want := range map[string]string{"CapEff": "0000000000000000", "CapBnd": "0000000000000000", "NoNewPrivs": "1", "Seccomp": "2"} {
		if has[name] != want {
			return fmt.Errorf("the service has %s %s, want %s", name, has[name], want)
		}
	}
	owner, err := m.run(ctx, "stat", "--format", "%a %u", "/var/lib/private/chairside/chairside.db")
	if err != nil {
		return err
	}
	if want := "600 " + has["Uid"]; has["Uid"] == "0" || strings.TrimSpace(owner) != want {
		return fmt.Errorf("the database has the mode and owner %q, want %q", owner, want)
	}
	return nil
}

// exposure returns the rating of the service.
func (m *machine) exposure(ctx context.Context) (float64, error) {
	report, err := m.run(ctx, "systemd-analyze", "security", "--no-pager", "chairside.service")
	if err != nil {
		return 0, err
	}
	_, last, found := strings.Cut(report, "Overall exposure level for chairside.service: ")
	number, _, _ := strings.Cut(last, " ")
	if !found {
		return 0, fmt.Errorf("systemd-analyze gave no rating:\n%s", report)
	}
	return strconv.ParseFloat(number, 64)
}

// systemdTime bounds what happens under systemd, so that its journal can still be read.
const systemdTime = 3 * time.Minute

// underSystemd boots the installation and checks the service: it starts with the machine, without root's rights,
// makes its copies, comes back after a kill, and drains when it is stopped.
func (r *root) underSystemd(ctx context.Context, clients *clients) (err error) {
	bounded, cancel := context.WithTimeout(ctx, systemdTime)
	defer cancel()
	m, err := r.boot(bounded)
	if errors.Is(err, errNoBoot) {
		fmt.Fprintln(os.Stderr, err)
		step("booted under systemd", "not possible on this machine")
		return nil
	}
	if err != nil {
		return err
	}
	defer m.halt()
	if err := m.check(bounded, r, clients); err != nil {
		journal, _ := m.run(ctx, "journalctl", "--unit", "chairside", "--no-pager", "--lines", "20")
		return fmt.Errorf("%w\n%s", err, journal)
	}
	return nil
}

// check checks the service of the machine.
func (m *machine) check(ctx context.Context, r *root, clients *clients) error {
	if err := r.ready(ctx); err != nil {
		return err
	}
	if err := m.confined(ctx); err != nil {
		return err
	}
	exposure, err := m.exposure(ctx)
	if err != nil {
		return err
	}
	if exposure > maxExposure {
		return fmt.Errorf("systemd rates the service's exposure %.1f, want at most %.1f", exposure, maxExposure)
	}
	step("booted under systemd", fmt.Sprintf("started with the machine, confined; exposure %.1f", exposure))

	clients.start(ctx)
	defer clients.stop()
	before, err := m.property(ctx, "MainPID")
	if err != nil {
		return err
	}
	if _, err := m.run(ctx, "systemctl", "kill", "--signal", "KILL", "chairside.service"); err != nil {
		return err
	}
	if err := drill.Pause(ctx, 4*time.Second); err != nil {
		return err
	}
	after, err := m.property(ctx, "MainPID")
	if err != nil {
		return err
	}
	if after == before || after == "0" {
		return errors.New("systemd has not started the killed server again")
	}
	clients.stop()
	if err := clients.verify(ctx); err != nil {
		return err
	}
	copies, err := m.run(ctx, "find", "/var/lib/private/chairside/copies", "-type", "f")
	if err != nil || copies == "" {
		return errors.Join(errors.New("the service made no copy of its database"), err)
	}
	step("killed there, and started again", fmt.Sprintf("%d bookings, %d requests repeated", clients.booked.Load(), clients.repeated.Load()))

	began := time.Now()
	if _, err := m.run(ctx, "systemctl", "stop", "chairside.service"); err != nil {
		return err
	}
	took := time.Since(began)
	result, err := m.property(ctx, "Result")
	if err != nil {
		return err
	}
	if result != "success" || took < drainTime {
		return fmt.Errorf("the service ended after %s with the result %s, want success after %s", took, result, drainTime)
	}
	step("stopped there", fmt.Sprintf("drained, in %.0f s", took.Seconds()))
	return nil
}

// drainTime is how long a service drains by default.
const drainTime = 5 * time.Second
