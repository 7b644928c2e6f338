package server

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/go-faster/jx"

	"chairside/internal/apierror"
	"chairside/internal/audit"
	"chairside/internal/clock"
	"chairside/internal/codec"
	"chairside/internal/events/feed"
	"chairside/internal/list"
	"chairside/internal/principal"
	"chairside/internal/store"
	"chairside/ogent"
)

// The change feed and snapshots are not generated: a long poll must not hold a place at the
// database while it waits, and a snapshot is sent while it is read.
const (
	changesPath  = "/changes"
	snapshotPath = "/snapshot"

	ndjsonType = "application/x-ndjson"
)

const (
	// maxWait is the longest long poll.
	maxWait = 30 * time.Second
	// snapshotTime is the time limit of a snapshot.
	snapshotTime = 15 * time.Minute
	// maxSnapshots is the number of snapshots that are sent at once.
	maxSnapshots = 2
	// snapshotPart is the size of the parts in which a snapshot is sent, in bytes.
	snapshotPart = 64 << 10
	// maxRewait is the longest pause of a long poll that woke up for others' changes.
	maxRewait = time.Second
)

var (
	resourcesParam = codec.Param{Name: "resources", Kind: codec.Enum, Array: true, Values: slices.Sorted(maps.Keys(ogent.Resources))}
	changesParams  = []codec.Param{
		{Name: "cursor", Kind: codec.Text},
		resourcesParam,
		{Name: "limit", Kind: codec.Integer, Min: 1, Max: feed.MaxPage},
		{Name: "include", Kind: codec.Enum, Values: []string{"record"}},
		{Name: "wait", Kind: codec.Integer, Max: int64(maxWait / time.Second)},
	}
	snapshotParams = []codec.Param{resourcesParam}
)

// handwrittenPath reports whether a path is one of the API that the generated server does not have.
func handwrittenPath(path string) bool {
	return path == rateLimitPath || path == changesPath || path == snapshotPath
}

// handwritten routes a handwrittenPath.
func (s *Server) handwritten(x *requestState) {
	switch x.r.URL.Path {
	case rateLimitPath:
		x.name, x.serve = "getRateLimit", http.HandlerFunc(s.rateLimit)
	case changesPath:
		x.name, x.serve, x.operation.Params = "listChanges", http.HandlerFunc(s.changes), changesParams
	case snapshotPath:
		x.name, x.stream, x.operation.Params = "getSnapshot", s.snapshot, snapshotParams
	}
	x.pattern = x.r.URL.Path
}

// changes responds with a page of the change feed. With wait, it waits for the first change.
func (s *Server) changes(w http.ResponseWriter, r *http.Request) {
	x := stateOf(r.Context())
	sent := r.URL.Query()
	q := feed.Query{Cursor: sent.Get("cursor"), Resources: sent["resources"], Limit: feed.DefaultPage, Records: sent.Has("include")}
	if sent.Has("limit") {
		q.Limit, _ = strconv.Atoi(sent.Get("limit")) // readQuery has checked it
	}
	wait, _ := strconv.Atoi(sent.Get("wait"))
	if wait < 0 {
		x.err = apierror.InvalidParameter(apierror.Params{"wait": {"must be at least 0"}})
		return
	}
	ctx, cancel := s.longer(x, time.Duration(wait)*time.Second+s.OperationTime)
	defer cancel()
	until := clock.Deadline(time.Duration(wait) * time.Second)
	page, err := s.readChanges(ctx, q)
	for pause := time.Duration(0); err == nil && len(page.Changes) == 0 && !page.More && wait > 0 && q.Cursor != ""; pause = min(2*pause+100*time.Millisecond, maxRewait) {
		x.polls = true
		if !s.await(ctx, until, pause, page) {
			break
		}
		if ctx, err = s.authenticateAgain(x); err != nil {
			break
		}
		q.Cursor = page.Cursor
		page, err = s.readChanges(ctx, q)
	}
	if err != nil {
		x.err = err
		return
	}
	encodeChanges(&x.response.body, page, principal.Must(ctx).Zone)
	w.Header().Set("Content-Type", jsonType)
}

// authenticateAgain returns the context of a request that has run for a while, with what its token allows now.
func (s *Server) authenticateAgain(x *requestState) (context.Context, error) {
	x.r = x.r.WithContext(clock.Refresh(x.r.Context()))
	if err := s.authenticate(x); err != nil {
		return x.r.Context(), err
	}
	return x.r.Context(), nil
}

// readChanges reads a page, with a place at the database and the time of an operation.
func (s *Server) readChanges(ctx context.Context, q feed.Query) (page feed.Page, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.OperationTime)
	defer cancel()
	leave, err := s.DB.Hold(ctx)
	if err != nil {
		return page, err
	}
	defer leave()
	return s.feed.Read(ctx, s.reads, q)
}

// await waits for changes behind a page, after a pause. It reports whether there is still time
// to read them.
func (s *Server) await(ctx context.Context, until time.Time, pause time.Duration, page feed.Page) bool {
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	select {
	case <-ctx.Done():
		return false
	case <-time.After(pause):
	}
	s.feed.Wait(ctx, page)
	return ctx.Err() == nil && s.stopping.Load() < releasing
}

// longer returns the context of a request with another time limit than that of an operation. It
// still ends when the client disconnects.
func (s *Server) longer(x *requestState, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(x.r.Context()), limit)
	stop := context.AfterFunc(x.client, cancel)
	x.r = x.r.WithContext(ctx)
	if x.controller != nil {
		_ = x.controller.SetReadDeadline(time.Time{}) // the server's would end the request; fails for a test's recorder
	}
	return ctx, func() {
		stop()
		cancel()
	}
}

// encodeChanges encodes the response of changes.
func encodeChanges(e *jx.Encoder, page feed.Page, zone *time.Location) {
	e.ObjStart()
	e.FieldStart("changes")
	e.ArrStart()
	for _, c := range page.Changes {
		e.ObjStart()
		e.FieldStart("resource")
		e.Str(c.Resource)
		e.FieldStart("id")
		encodeID(e, c.ID)
		e.FieldStart("event")
		e.Str(c.Event)
		e.FieldStart("version")
		e.Int64(c.Version)
		e.FieldStart("changed_at")
		e.Str(c.At.In(zone).Format(codec.TimeLayout))
		e.FieldStart("record")
		if c.Record == nil {
			e.Null()
		} else {
			e.Raw(c.Record)
		}
		e.ObjEnd()
	}
	e.ArrEnd()
	e.FieldStart("meta")
	e.ObjStart()
	e.FieldStart("cursor")
	e.Str(page.Cursor)
	e.FieldStart("more")
	e.Bool(page.More)
	e.ObjEnd()
	e.ObjEnd()
}

// encodeID encodes an id as in the record: a number, or a uuid as a string.
func encodeID(e *jx.Encoder, id string) {
	if n, err := strconv.ParseInt(id, 10, 64); err == nil {
		e.Int64(n)
		return
	}
	e.Str(id)
}

// errBusy refuses a snapshot while others are sent.
var errBusy = errors.New("server: too many snapshots at once")

// snapshot sends all records of the asked resources, one JSON object a line. A client knows by
// the last line that nothing is missing.
func (s *Server) snapshot(w http.ResponseWriter, x *requestState) {
	ctx, cancel := s.longer(x, snapshotTime)
	defer cancel()
	names, err := feed.Allowed(ctx, x.r.URL.Query()["resources"])
	if err != nil {
		s.fail(w, x, err)
		return
	}
	if x.method == http.MethodHead {
		x.header.Set("Content-Type", ndjsonType)
		w.WriteHeader(http.StatusOK)
		return
	}
	select {
	case s.snapshots <- struct{}{}:
		defer func() { <-s.snapshots }()
	default:
		s.fail(w, x, apierror.Unavailable(errBusy))
		return
	}
	out := snapshotWriter{w: w, x: x, server: s, names: names, caller: x.caller}
	send := func(ctx context.Context) error {
		return s.feed.Snapshot(ctx, s.reads, names, feed.Stream{Start: out.start, Records: out.records})
	}
	done, err := s.DB.OnReplica(ctx, store.Reading{After: x.after(), Report: true}, send)
	if !done && !out.started {
		err = send(ctx)
		s.DB.Reached(ctx, err)
	}
	if err == nil {
		err = out.end()
	}
	switch {
	case err == nil:
	case !out.started:
		s.fail(w, x, err)
	default:
		_ = s.asAPIError(x, err) // logs it
		panic(http.ErrAbortHandler)
	}
}

// snapshotWriter writes the lines of a snapshot.
type snapshotWriter struct {
	w       http.ResponseWriter
	x       *requestState
	server  *Server
	names   []string // resources
	caller  *principal.Principal
	count   int
	started bool
}

func (o *snapshotWriter) start(cursor string) error {
	o.x.header.Set("Content-Type", ndjsonType)
	first, err := json.Marshal(struct {
		Cursor    string   `json:"cursor"`
		Resources []string `json:"resources"`
	}{cursor, o.names})
	if err != nil {
		return err
	}
	o.started = true
	return o.send(append(first, '\n'))
}

// errMoved ends a snapshot that would go on with the records of another site.
var errMoved = errors.New("server: the token was limited to another site while the snapshot was sent")

// records sends a page of records, if the token may still read them.
func (o *snapshotWriter) records(resource string, records []list.Document, read *audit.Log) error {
	ctx, err := o.server.authenticateAgain(o.x)
	if err != nil && apierror.From(err).Status < http.StatusInternalServerError {
		return err
	} // else the database does not answer, as it may for a moment while a snapshot is sent
	if _, err := feed.Allowed(ctx, o.names); err != nil {
		return err
	}
	if now := o.x.caller.SiteID; now != o.caller.SiteID && (now == nil || o.caller.SiteID == nil || *now != *o.caller.SiteID) {
		return errMoved
	}
	var lines []byte
	name, err := json.Marshal(resource)
	if err != nil {
		return err
	}
	for _, d := range records {
		lines = append(lines, `{"resource":`...)
		lines = append(lines, name...)
		lines = append(lines, `,"record":`...)
		lines = append(lines, d.JSON...)
		lines = append(lines, '}', '\n')
	}
	o.count += len(records)
	o.x.records = read // send logs it; the log of the whole snapshot would grow
	return o.send(lines)
}

func (o *snapshotWriter) end() error {
	return o.send([]byte(`{"end":true,"count":` + strconv.Itoa(o.count) + "}\n"))
}

// send sends lines to a client that keeps reading.
func (o *snapshotWriter) send(lines []byte) error {
	for len(lines) > 0 {
		_ = o.x.controller.SetWriteDeadline(clock.Deadline(stallTime)) // fails for a test's recorder
		n, err := o.w.Write(lines[:min(len(lines), snapshotPart)])
		if err != nil {
			return err
		}
		lines = lines[n:]
	}
	return nil
}
