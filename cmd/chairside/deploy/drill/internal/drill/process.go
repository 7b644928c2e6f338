package drill

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// Process is a program that runs beside the drill.
type Process struct {
	ended   chan struct{} // closed when it has ended
	command *exec.Cmd
	log     string
}

// Start starts a program whose output goes to a file, at its end.
func Start(command *exec.Cmd, log string) (*Process, error) {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	command.Stdout, command.Stderr = file, file
	p := &Process{ended: make(chan struct{}), command: command, log: log}
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // the kernel may tie the process to the thread that starts it (localpg.RunAs)
		defer runtime.UnlockOSThread()
		err := command.Start()
		started <- err
		if err == nil {
			_ = command.Wait() // Err reports it
			close(p.ended)
		}
	}()
	return p, <-started
}

// Err returns nil while the process runs, and then an error with the end of its log.
func (p *Process) Err() error {
	select {
	case <-p.ended:
	default:
		return nil
	}
	const most = 4000
	text, err := os.ReadFile(p.log)
	return errors.Join(fmt.Errorf("%s ended: %s\n%s", p.command.Args[0], p.command.ProcessState, text[max(0, len(text)-most):]), err)
}

// Pid returns the id of the process.
func (p *Process) Pid() int { return p.command.Process.Pid }

// stopTime is how long a process may take to stop.
const stopTime = 30 * time.Second

// Stop ends the process with a signal, and kills it if it does not end. It does nothing if p is nil or
// has ended.
func (p *Process) Stop(first syscall.Signal) {
	if p == nil {
		return
	}
	for _, signal := range []syscall.Signal{first, syscall.SIGKILL} {
		_ = p.command.Process.Signal(signal) // fails if it has ended
		select {
		case <-p.ended:
			return
		case <-time.After(stopTime):
		}
	}
}
