package localpg

import (
	"os/exec"
	"syscall"
)

// confine runs command under account (nil for our own). The kernel stops it when this
// process ends in any way.
func confine(command *exec.Cmd, account *syscall.Credential) {
	command.SysProcAttr = &syscall.SysProcAttr{
		Credential: account,
		Setpgid:    true, // an interrupt typed at the terminal is ours to handle
		Pdeathsig:  syscall.SIGQUIT,
	}
}
