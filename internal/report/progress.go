package report

import "context"

type progressKey struct{}

// WithProgress returns a context that makes reports call callback before each step.
// Reports with a single step never call it.
func WithProgress(ctx context.Context, callback func(done, steps int)) context.Context {
	return context.WithValue(ctx, progressKey{}, callback)
}

// progress calls the context's callback, if there is one, with the number of finished
// steps.
func progress(ctx context.Context, done, steps int) {
	if callback, ok := ctx.Value(progressKey{}).(func(done, steps int)); ok {
		callback(done, steps)
	}
}
