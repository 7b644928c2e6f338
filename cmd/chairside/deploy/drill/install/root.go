package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"chairside/cmd/chairside/deploy/drill/internal/drill"
)

// unprivileged is the user and group ID that the service runs as: nobody and nogroup.
const unprivileged = 65534

// root is a system in a directory, with the program installed: a Debian, or the root of the image.
type root struct {
	dir, url     string
	environment  []string
	binary, home string // paths in it: of the program, and of the directory that it runs in
	user         uint32 // and group, that the program runs as
	server       *exec.Cmd
	log          bytes.Buffer
}

// createRoot creates a Debian of the release of this machine that has systemd and what every Debian has.
// Until it is booted, systemctl enables and disables services, and ignores what needs a systemd that runs.
func createRoot(ctx context.Context, dir string) (*root, error) {
	release, err := os.ReadFile("/etc/os-release")
	if err != nil {
		return nil, err
	}
	_, rest, found := strings.Cut(string(release), "\nVERSION_CODENAME=")
	if !found {
		return nil, errors.New("/etc/os-release names no Debian release")
	}
	codename, _, _ := strings.Cut(rest, "\n")
	if _, err := drill.Execute(ctx, ".", nil, "mmdebstrap", "--quiet", "--variant=essential", "--include=systemd,systemd-sysv,dbus", codename, dir); err != nil {
		return nil, err
	}
	// The scripts of the package do nothing on a machine that was started without systemd.
	if err := os.MkdirAll(filepath.Join(dir, "run/systemd/system"), 0o700); err != nil {
		return nil, err
	}
	address, err := drill.FreeAddress(ctx)
	return &root{
		dir: dir, url: "http://" + address, environment: []string{"CHAIRSIDE_ADDR=" + address},
		binary: "/usr/bin/chairside", home: "/var/lib/chairside", user: unprivileged,
	}, err
}

// install installs a package, or upgrades to it, and reads its settings.
func (r *root) install(ctx context.Context, deb string) error {
	content, err := os.ReadFile(deb)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.dir, "chairside.deb"), content, 0o600); err != nil {
		return err
	}
	if _, err := r.chroot(ctx, "dpkg", "--install", "/chairside.deb"); err != nil {
		return err
	}
	state := filepath.Join(r.dir, "var/lib/chairside") // systemd's StateDirectory
	if err := errors.Join(os.MkdirAll(state, 0o700), os.Chown(state, unprivileged, unprivileged)); err != nil {
		return err
	}
	settings, err := os.Open(filepath.Join(r.dir, "etc/chairside/chairside.env"))
	if err != nil {
		return err
	}
	defer settings.Close()
	r.environment = r.environment[:1]
	for lines := bufio.NewScanner(settings); lines.Scan(); {
		if line := lines.Text(); line != "" && line[0] != '#' && !strings.HasPrefix(line, "CHAIRSIDE_ADDR=") {
			r.environment = append(r.environment, line)
		}
	}
	return nil
}

// chroot runs a program of the installation as root.
func (r *root) chroot(ctx context.Context, arguments ...string) (string, error) {
	return drill.Execute(ctx, ".", nil, "chroot", append([]string{r.dir, "env", "SYSTEMD_OFFLINE=1"}, arguments...)...)
}

// program prepares the installed program as the service's user.
func (r *root) program(ctx context.Context, arguments ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, r.binary, arguments...) //nolint:gosec // the program that was just installed
	command.Err = nil                                           // the program is in the directory, not on this machine
	command.Dir = r.home
	command.Env = r.environment
	command.SysProcAttr = &syscall.SysProcAttr{Chroot: r.dir, Credential: &syscall.Credential{Uid: r.user, Gid: r.user}}
	return command
}

// command runs a command of the installed program.
func (r *root) command(ctx context.Context, input string, arguments ...string) (string, error) {
	command := r.program(ctx, arguments...)
	command.Stdin = strings.NewReader(input)
	var complaints bytes.Buffer
	command.Stderr = &complaints
	output, err := command.Output()
	if err != nil {
		err = fmt.Errorf("chairside %s: %w\n%s", strings.Join(arguments, " "), err, complaints.String())
	}
	return strings.TrimSpace(string(output)), err
}

// provision creates a practice, and a token for its first user.
func (r *root) provision(ctx context.Context) (token string, err error) {
	const user = "owner@highstreet.example"
	if _, err := r.command(ctx, "a long password\n", "practice", "create", "--name", "High Street Dental", "--time-zone", "Europe/London", "--country", "GB", "--email", user); err != nil {
		return "", err
	}
	return r.command(ctx, "", "token", "create", "--user", user, "--name", "drill", "--scopes", "appointment practice:read")
}

// start starts the service and waits until it is ready.
func (r *root) start(ctx context.Context) error {
	r.server = r.program(context.WithoutCancel(ctx), "serve", "--drain", "0", "--rate-limit", "0")
	r.server.Stderr = &r.log
	if err := r.server.Start(); err != nil {
		return err
	}
	if err := r.ready(ctx); err != nil {
		return fmt.Errorf("%w\n%s", err, r.log.String())
	}
	return nil
}

// ready waits until the service is ready, for a minute at most.
func (r *root) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for ctx.Err() == nil {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url+"/readyz", http.NoBody)
		if err != nil {
			return err
		}
		if response, err := http.DefaultClient.Do(request); err == nil {
			_, _ = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	return fmt.Errorf("the server does not become ready: %w", ctx.Err())
}

// stop stops the service as systemd does.
func (r *root) stop() error {
	if r.server == nil {
		return nil
	}
	server := r.server
	r.server = nil
	if err := server.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	if err := server.Wait(); err != nil {
		return fmt.Errorf("the server failed: %w\n%s", err, r.log.String())
	}
	return nil
}
