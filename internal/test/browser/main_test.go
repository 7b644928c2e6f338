package browser

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"chairside/internal/test/localpg/pgtest"
)

func TestMain(m *testing.M) {
	status := pgtest.With{M: m}.Run()
	for _, undo := range leftOver {
		undo()
	}
	os.Exit(status)
}

// leftOver are the clean-up functions that TestMain runs.
var leftOver []func()

// chromium starts the browser that the tests share.
var chromium = sync.OnceValues(func() (context.Context, error) {
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.NoSandbox, // root cannot use the sandbox
		chromedp.DisableGPU,
		chromedp.Flag("disable-software-rasterizer", true),
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.WSURLReadTimeout(time.Minute),
	)
	allocator, release := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, closeBrowser := chromedp.NewContext(allocator, chromedp.WithErrorf(func(string, ...any) {}))
	leftOver = append(leftOver, release, closeBrowser)
	return ctx, chromedp.Run(ctx)
})

// require fails the test if CI=true, and skips it otherwise.
func require(t testing.TB, what string, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatal(what, err)
	}
	t.Skip(what, err)
}
