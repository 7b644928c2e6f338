package access

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
)

// Log is the ids a request has read, by resource. It is safe for concurrent use.
type Log struct {
	mu  sync.Mutex
	ids map[string]map[string]bool
}

type key struct{}

// With returns a context that collects into a new, empty Log.
func With(ctx context.Context) (context.Context, *Log) {
	l := &Log{ids: map[string]map[string]bool{}}
	return context.WithValue(ctx, key{}, l), l
}

// Note adds the ids of a resource that have been read. Without a Log in the
// context, as on the command line, it does nothing.
func Note(ctx context.Context, resource string, ids ...string) {
	l, ok := ctx.Value(key{}).(*Log)
	if !ok || len(ids) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ids[resource] == nil {
		l.ids[resource] = make(map[string]bool, len(ids))
	}
	for _, id := range ids {
		l.ids[resource][id] = true
	}
}

// Empty reports whether nothing has been noted.
func (l *Log) Empty() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.ids) == 0
}

// LogValue renders the ids as one group: resource → ids, both sorted.
func (l *Log) LogValue() slog.Value {
	l.mu.Lock()
	defer l.mu.Unlock()
	var attrs []slog.Attr
	for _, resource := range slices.Sorted(maps.Keys(l.ids)) {
		attrs = append(attrs, slog.Any(resource, slices.Sorted(maps.Keys(l.ids[resource]))))
	}
	return slog.GroupValue(attrs...)
}
