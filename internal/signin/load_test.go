package signin_test

import (
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"testing"

	"chairside/internal/seed"
	"chairside/internal/test/harness"
)

// TestConcurrentSignInsStayBoundedInMemory: each password check takes 19 MiB, so
// sign-ins queue, and those that wait too long get 503. It is not parallel, to have
// the machine to itself.
func TestConcurrentSignInsStayBoundedInMemory(t *testing.T) {
	for _, name := range []string{"sqlite", "postgres"} {
		t.Run(name, func(t *testing.T) { floodSignIn(t, proxied(t, databases[name](t))) })
	}
}

// floodSignIn sends 200 sign-ins at once.
func floodSignIn(t *testing.T, e *harness.Env) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	codes := make([]int, 200)
	var all sync.WaitGroup
	for i := range codes {
		b := browserAt(t, e, fmt.Sprintf("10.0.%d.%d", i/100, i%100))
		all.Go(func() { codes[i] = submitSignIn(b, fmt.Sprintf("user%d@example.com", i), "wrong-password").Code })
	}
	all.Wait()
	runtime.ReadMemStats(&after)
	for i, code := range codes {
		if !slices.Contains([]int{http.StatusUnprocessableEntity, http.StatusServiceUnavailable}, code) {
			t.Errorf("sign-in %d got status %d", i, code)
		}
	}
	const hash = 19 << 20
	if limit, grown := uint64(runtime.GOMAXPROCS(0)*4+40)*hash, after.HeapSys-min(before.HeapSys, after.HeapSys); grown > limit {
		t.Errorf("memory has grown by %d MiB, more than %d", grown>>20, limit>>20)
	}
	browserAt(t, e, "10.1.1.1").SignIn(seed.DemoAdmin)
}
