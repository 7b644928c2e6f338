package localpg

import (
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// process is a server process that is being waited for.
type process struct {
	command *exec.Cmd
	ended   chan struct{} // closed when the process is gone
}

// startProcess starts command. The goroutine that does so keeps its thread
// until the process has ended: the kernel ties a child to the thread that
// started it, and the Go runtime may end idle threads.
func startProcess(command *exec.Cmd) (*process, error) {
	p := &process{command: command, ended: make(chan struct{})}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := command.Start()
		started <- err
		if err == nil {
			_ = command.Wait() // how a throw-away server ended is of no interest
			close(p.ended)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// stop ends the process with a signal and waits; after the timeout it kills it.
// SIGQUIT is PostgreSQL's immediate shutdown, for where there is nothing to
// save; SIGINT its orderly one.
func (p *process) stop(first syscall.Signal, timeout time.Duration) {
	for _, signal := range []syscall.Signal{first, syscall.SIGKILL} {
		select {
		case <-p.ended:
			return
		default:
		}
		_ = p.command.Process.Signal(signal) // fails where it has ended
		select {
		case <-p.ended:
			return
		case <-time.After(timeout):
		}
	}
}
