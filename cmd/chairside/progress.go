package main

import (
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// bar shows on a terminal what is being done, and how much of it, until finish is called.
// Without a terminal show is nil.
func (c *console) bar() (show func(what string, done, of int64), finish func()) {
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
	// A bar that cannot be drawn stops nothing.
	show = func(what string, done, of int64) {
		b.Describe(what)
		if of > 0 && b.GetMax64() != of {
			b.ChangeMax64(of)
		}
		_ = b.Set64(done)
	}
	return show, func() { _ = b.Finish() }
}
