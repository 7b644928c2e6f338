//go:build unix && !linux

package localpg

import (
	"os/exec"
	"syscall"
)

// confine runs command under account (nil for our own). Without Linux's
// parent-death signal a killed test leaves its server running.
func confine(command *exec.Cmd, account *syscall.Credential) {
	command.SysProcAttr = &syscall.SysProcAttr{Credential: account, Setpgid: true}
}
