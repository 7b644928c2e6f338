package seed

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress shows how many patients have been written, and what comes then. The
// nil progress shows nothing.
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

// add counts patients. A bar that cannot be drawn stops nothing.
func (p *progress) add(patients int) {
	if p != nil {
		_ = p.bar.Add(patients)
	}
}

// say tells what is being done now.
func (p *progress) say(what string) {
	if p != nil {
		p.bar.Describe(what)
	}
}

func (p *progress) finish() {
	if p != nil {
		_ = p.bar.Finish()
	}
}
