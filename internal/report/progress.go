package report

import "context"

type progressKey struct{}

// WithProgress gives a context in which a report that works in steps calls seen
// before each of them. Reports that answer at once never call it.
func WithProgress(ctx context.Context, seen func(done, of int)) context.Context {
	return context.WithValue(ctx, progressKey{}, seen)
}

// progress tells whoever wants to see it that so many steps are done.
func progress(ctx context.Context, done, of int) {
	if seen, ok := ctx.Value(progressKey{}).(func(done, of int)); ok {
		seen(done, of)
	}
}
