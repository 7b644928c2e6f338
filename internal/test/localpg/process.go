package localpg

import (
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// process is a running server process.
type process struct {
	command *exec.Cmd
	ended   chan struct{} // closed when the process is gone
}

// startProcess starts command on a locked thread that lives as long as the process: the
// kernel ties a child to its parent thread, and the Go runtime may end idle threads.
func startProcess(command *exec.Cmd) (*process, error) {
	p := &process{command: command, ended: make(chan struct{})}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := command.Start()
		started <- err
		if err == nil {
			_ = command.Wait() // a temporary server's exit status does not matter
			close(p.ended)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// stop sends a signal and waits; after the timeout it kills the process. SIGQUIT is
// PostgreSQL's immediate shutdown, SIGINT its fast one, which saves the data.
func (p *process) stop(first syscall.Signal, timeout time.Duration) {
	for _, signal := range []syscall.Signal{first, syscall.SIGKILL} {
		select {
		case <-p.ended:
			return
		default:
		}
		_ = p.command.Process.Signal(signal) // fails if it has ended
		select {
		case <-p.ended:
			return
		case <-time.After(timeout):
		}
	}
}
