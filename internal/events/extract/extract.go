package extract

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"os"
	"slices"

	"chairside/internal/apierror"
	"chairside/internal/audit"
	"chairside/internal/events/feed"
	"chairside/internal/list"
	"chairside/ogent"
)

// Format is the encoding of the files.
type Format string

// The formats. Parquet is the default.
const (
	Parquet Format = "parquet"
	NDJSON  Format = "ndjson"
)

// ErrExpired means that the feed cannot go on from a cursor.
var ErrExpired = errors.New("the changes since then are no longer kept, or the database was restored or moved: extract everything again, into an empty folder")

// ErrCursor means that a text is not a cursor.
var ErrCursor = errors.New("must be the cursor of a manifest, of /v1/changes or of /v1/snapshot")

// Options are the options of a run. Those that are empty are as in the folder's last run.
type Options struct {
	Practice  Practice
	Format    Format   // Parquet in a new folder
	Resources []string // all in a new folder
	Since     string   // of the first run: the cursor to begin at; "" for all records
	Unsealed  bool     // write sealed columns, in plain text
	Progress  func(resource string, rows int64)
}

// Run writes all records of the caller's practice to a new folder. After that, it writes those that have
// changed since the last run, and which were deleted. It fails with ErrOther, ErrExpired and ErrCursor,
// and then leaves the folder as it was.
func Run(ctx context.Context, folder *Folder, f *feed.Feed, reads ogent.Reads, o Options) (*Manifest, error) {
	m, err := folder.next(o)
	if err != nil {
		return nil, err
	}
	if err := folder.clean(m.Run); err != nil {
		return nil, err
	}
	r := run{Manifest: m, folder: folder, progress: o.Progress}
	to := feed.Stream{Start: r.start, Records: r.records, Deleted: r.deletions}
	if m.Since == "" {
		err = f.Snapshot(ctx, reads, m.Resources, to)
	} else {
		err = f.Increment(ctx, reads, m.Resources, m.Since, to)
	}
	if err = errors.Join(err, r.finishFile()); err == nil {
		err = r.finish()
	}
	if err != nil {
		return nil, errors.Join(inWords(err), folder.clean(m.Run))
	}
	folder.last = m
	return m, nil
}

// inWords returns the error of a cursor in words for an operator.
func inWords(err error) error {
	var refused *apierror.Error
	if !errors.As(err, &refused) {
		return err
	}
	switch refused.Code {
	case apierror.CursorExpired().Code:
		return ErrExpired
	case apierror.InvalidParameter(nil).Code:
		return ErrCursor
	}
	return err
}

// next returns the manifest of the next run, without its files.
func (f *Folder) next(o Options) (*Manifest, error) {
	last := f.last
	if last == nil {
		m := &Manifest{Layout: layout, Run: 1, Practice: o.Practice, Format: o.Format, Unsealed: o.Unsealed, Resources: slices.Compact(slices.Sorted(slices.Values(o.Resources))), Since: o.Since, Files: []File{}}
		if m.Format == "" {
			m.Format = Parquet
		}
		if len(m.Resources) == 0 {
			m.Resources = slices.Sorted(maps.Keys(ogent.Resources))
		}
		m.Columns = fingerprint(m.Resources, m.Unsealed)
		return m, nil
	}
	other := func(what string, has any) (*Manifest, error) {
		return nil, fmt.Errorf("%w: %s %v. Choose another folder", ErrOther, what, has)
	}
	m := *last
	m.Run, m.Practice, m.Since, m.Files = last.Run+1, o.Practice, last.Cursor, []File{}
	switch asked := slices.Sorted(slices.Values(o.Resources)); {
	case o.Practice.ID != last.Practice.ID:
		return other("it is of the practice", last.Practice.Slug)
	case o.Format != "" && o.Format != last.Format:
		return other("its format is", last.Format)
	case len(asked) > 0 && !slices.Equal(slices.Compact(asked), last.Resources):
		return other("its resources are", last.Resources)
	case o.Unsealed && !last.Unsealed:
		return other("it has", "no sealed columns")
	case o.Since != "":
		return other("it goes on from", "the cursor of its last run, without --since")
	}
	if slices.ContainsFunc(m.Resources, func(name string) bool { return ogent.Resources[name].Name == "" }) || fingerprint(m.Resources, m.Unsealed) != m.Columns {
		return other("it has", "the columns of another version of Chairside")
	}
	return &m, nil
}

// run is a run in progress.
type run struct {
	*Manifest
	folder   *Folder
	progress func(resource string, rows int64)
	open     *output // of the resource that is being written; nil for none
}

// output is a file in progress.
type output struct {
	File
	file    *os.File
	sum     hash.Hash
	encoder encoder
	reader  *reader
}

func (r *run) start(cursor string) error {
	r.Cursor = cursor
	return nil
}

// to returns the file of a resource. Resources come one after the other.
func (r *run) to(resource string) (*output, error) {
	if r.open != nil && r.open.Resource == resource {
		return r.open, nil
	}
	if err := r.finishFile(); err != nil {
		return nil, err
	}
	o := &output{File: File{Resource: resource, File: fmt.Sprintf("%s/%06d.%s", resource, r.Run, r.Format)}, sum: sha256.New()}
	var err error
	if o.file, err = r.folder.create(o.File.File); err != nil {
		return nil, err
	}
	columns, out := columnsOf(ogent.Resources[resource], r.Unsealed), io.MultiWriter(o.file, o.sum)
	o.reader = newReader(columns)
	if r.Format == NDJSON {
		o.encoder = newNDJSON(out, r.Run, columns)
	} else {
		o.encoder = newParquet(out, resource, r.Run, columns)
	}
	r.open = o
	return o, nil
}

// records writes records of a resource. One entry of the audit log has the whole run, in place of the
// log of reading them.
func (r *run) records(resource string, records []list.Document, _ *audit.Log) error {
	o, err := r.to(resource)
	if err != nil {
		return err
	}
	for _, d := range records {
		row, err := o.reader.record(d)
		if err == nil {
			err = o.encoder.write(row)
		}
		if err != nil {
			return fmt.Errorf("%s %s: %w", resource, d.ID, err)
		}
	}
	o.Records += int64(len(records))
	r.report(o)
	return nil
}

// deletions writes that records of a resource were deleted.
func (r *run) deletions(resource string, ids []string) error {
	o, err := r.to(resource)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := o.encoder.write(o.reader.deletion(id)); err != nil {
			return fmt.Errorf("%s %s: %w", resource, id, err)
		}
	}
	o.Deleted += int64(len(ids))
	r.report(o)
	return nil
}

func (r *run) report(o *output) {
	if r.progress != nil {
		r.progress(o.Resource, o.Records+o.Deleted)
	}
}

// finishFile completes the open file, which keeps its other name.
func (r *run) finishFile() error {
	o := r.open
	if o == nil {
		return nil
	}
	r.open = nil
	err := o.encoder.close()
	if err == nil {
		err = o.file.Sync()
	}
	o.SHA256 = hex.EncodeToString(o.sum.Sum(nil))
	r.Files = append(r.Files, o.File)
	return errors.Join(err, o.file.Close())
}

// finish writes the schemas, gives the files their names, and writes the manifest.
func (r *run) finish() error {
	described, err := parseDocument()
	if err != nil {
		return err
	}
	for _, name := range r.Resources {
		resource := ogent.Resources[name]
		content, err := described.schema(resource, columnsOf(resource, r.Unsealed))
		if err != nil {
			return err
		}
		if err := r.folder.write(schemaDir+"/"+name+".json", content); err != nil {
			return err
		}
	}
	for _, file := range r.Files {
		if err := r.folder.rename(file.File); err != nil {
			return err
		}
	}
	content, err := json.MarshalIndent(r.Manifest, "", "  ")
	if err != nil {
		return err
	}
	return r.folder.write(fmt.Sprintf("%s/%06d.json", manifestsDir, r.Run), append(content, '\n'))
}
