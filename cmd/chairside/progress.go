package main

import (
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress shows on a terminal what is being done, and how much of it, until finish is called.
// Without a terminal show is nil.
func (c *console) progress() (show func(what string, done, of int64), finish func()) {
	file, ok := c.err.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return nil, func() {}
	}
	bar := progressbar.NewOptions64(-1,
		progressbar.OptionSetWriter(c.err),
		progressbar.OptionShowCount(),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)
	// A bar that cannot be drawn stops nothing.
	show = func(what string, done, of int64) {
		bar.Describe(what)
		if of > 0 && bar.GetMax64() != of {
			bar.ChangeMax64(of)
		}
		_ = bar.Set64(done)
	}
	return show, func() { _ = bar.Finish() }
}
