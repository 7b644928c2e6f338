package seed

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress shows the number of written patients and the current step. A nil progress
// shows nothing.
type progress struct{ bar *progressbar.ProgressBar }

// newProgress shows a bar on w if that is a terminal.
func newProgress(w io.Writer, patients int) *progress {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return nil
	}
	return &progress{progressbar.NewOptions(patients,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription("patients"),
		progressbar.OptionShowCount(),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)}
}

// add counts patients. A failure to draw the bar does not stop the seed.
func (p *progress) add(patients int) {
	if p != nil {
		_ = p.bar.Add(patients)
	}
}

// describe shows the current step.
func (p *progress) describe(what string) {
	if p != nil {
		p.bar.Describe(what)
	}
}

// finish removes the bar from the terminal.
func (p *progress) finish() {
	if p != nil {
		_ = p.bar.Finish()
	}
}
