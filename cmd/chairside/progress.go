package main

import (
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progressBar draws a progress bar on a terminal until finish is called. show sets its
// description, the finished units and their total, or 0 if the total is unknown. Without
// a terminal show is nil.
func (c *console) progressBar() (show func(what string, done, total int64), finish func()) {
	file, ok := c.err.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return nil, func() {}
	}
	b := progressbar.NewOptions64(-1,
		progressbar.OptionSetWriter(c.err),
		progressbar.OptionShowCount(),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)
	// A failure to draw the bar does not stop the command.
	show = func(what string, done, total int64) {
		b.Describe(what)
		if total > 0 && b.GetMax64() != total {
			b.ChangeMax64(total)
		}
		_ = b.Set64(done)
	}
	return show, func() { _ = b.Finish() }
}
