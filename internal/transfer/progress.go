package transfer

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress shows how many rows are done, and of what. The nil progress shows
// nothing.
type progress struct{ bar *progressbar.ProgressBar }

// newProgress shows a bar on w if that is a terminal. rows is asked for only
// then; -1 is an unknown number.
func newProgress(w io.Writer, rows func() (int64, error)) (*progress, error) {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return nil, nil
	}
	total, err := rows()
	if err != nil {
		return nil, err
	}
	return &progress{progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(w),
		progressbar.OptionShowCount(),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)}, nil
}

// add counts rows. A bar that cannot be drawn stops nothing.
func (p *progress) add(rows int) {
	if p != nil {
		_ = p.bar.Add(rows)
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
