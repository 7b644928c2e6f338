package main

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"chairside/internal/codec"
	"chairside/internal/config"
	"chairside/internal/importer"
	"chairside/internal/scope"
	"chairside/ogent"
)

// download reads the lists of a server with our API into the CSV files of a directory, which the
// ready mapping chairside imports. Lists are read after those that refer to their records: whatever
// is created meanwhile then refers to records that are read later. After each page it stores how far
// it has come, so that an interrupted download continues there.
type download struct {
	*console
	server   *client
	dir      string
	files    map[string]*listFile // by name, without .csv
	lists    []string             // in the order of the download
	show     func(what string, done, total int64)
	progress downloadProgress
}

// downloadProgress is how far a download has come. downloadFile stores it.
type downloadProgress struct {
	Server string                   `json:"server"`
	Lists  map[string]*listProgress `json:"lists"` // by address, as in fees?payment_plan_id=1
	Sizes  map[string]int64         `json:"sizes"` // of the files, up to the last page
	Done   bool                     `json:"done"`
}

type listProgress struct {
	Cursor string `json:"cursor,omitempty"` // of the next page
	Page   int    `json:"page,omitempty"`   // the next page of a list without cursors
	Rows   int64  `json:"rows"`
	Done   bool   `json:"done"`
	Absent bool   `json:"absent,omitempty"` // the server has no such list
	Total  int64  `json:"total,omitempty"`  // what the server said last; 0 if it does not
}

// listFile is one CSV file.
type listFile struct {
	columns []string // id first
	file    *os.File
	csv     *csv.Writer
}

const (
	downloadFile = "download.json"
	downloadPage = 100 // records of a page, the most that the API gives
)

// parts are the files of records within records, such as the explanations of payments. The list and
// the member are in the name of the file. Each function returns a part as a record of its own, nil
// for none.
var parts = map[string]func(owner, part apiRecord) apiRecord{
	"payments.explanations": func(payment, x apiRecord) apiRecord {
		return apiRecord{"payment_id": payment["id"], "invoice_id": x["invoice_id"], "amount": x["amount"]}
	},
	"patients.custom_fields": func(patient, x apiRecord) apiRecord {
		return fieldAnswer(apiRecord{"patient_id": patient["id"]}, x)
	},
	"treatment_plan_items.custom_fields": func(item, x apiRecord) apiRecord {
		return fieldAnswer(apiRecord{"patient_id": item["patient_id"], "treatment_plan_item_id": item["id"]}, x)
	},
}

// fieldAnswer returns the answer to a custom field about an owner, nil if it is not answered.
func fieldAnswer(owner, x apiRecord) apiRecord {
	if x.text("value") == "" {
		return nil
	}
	owner["custom_field_id"], owner["value"] = x["field_id"], x["value"]
	return owner
}

// filters are the parameters without which a list leaves records out.
var filters = map[string]string{"appointments": "cancelled=true"}

// download downloads the lists of the server into a directory, with a mapping.
func (c *console) download(from config.Client, dir string) error {
	show, finish := c.progressBar()
	defer finish()
	d := &download{console: c, server: newClient(from), dir: dir, show: show}
	if err := d.plan(); err != nil {
		return err
	}
	if err := d.begin(from.Server); err != nil || d.progress.Done {
		return err
	}
	if err := d.openFiles(); err != nil {
		return err
	}
	err := d.readLists()
	for _, f := range d.files {
		err = errors.Join(err, f.file.Close())
	}
	if err == nil {
		d.progress.Done = true
		err = d.save()
	}
	if err != nil {
		return err
	}
	finish()
	rows, absent := int64(0), []string{}
	for name, l := range d.progress.Lists {
		if rows += l.Rows; l.Absent {
			absent = append(absent, name)
		}
	}
	fmt.Fprintf(c.err, "downloaded %s to %s\n", count(rows, "record"), dir)
	if slices.Sort(absent); len(absent) > 0 {
		fmt.Fprintf(c.err, "the server has no %s\n", strings.Join(absent, ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(d.progress.Lists)) {
		if l := d.progress.Lists[name]; l.Total > l.Rows {
			fmt.Fprintf(c.err, "%s: the server says that it has %d records, but gave %d\n", name, l.Total, l.Rows)
		}
	}
	return nil
}

// listOperation returns the operation of our API that lists records.
func listOperation(list string) (op codec.Operation, ok bool) {
	for _, op := range ogent.Operations {
		if op.Key == list && strings.HasPrefix(op.ID, "list") {
			return op, true
		}
	}
	return op, false
}

// plan lists the files. A file has the columns that the import can use and the API shows. The API may
// show a record in the place of its id.
func (d *download) plan() error {
	files, err := importer.ListFiles()
	if err != nil {
		return err
	}
	d.files = map[string]*listFile{}
	for _, f := range files {
		name := strings.TrimSuffix(f.Name, ".csv")
		if parts[name] != nil {
			d.files[name] = &listFile{columns: append([]string{"id"}, f.Columns...)}
			continue
		}
		op, ok := listOperation(name)
		if !ok {
			return fmt.Errorf("the API has no list of %s", name)
		}
		var members []string
		for _, p := range op.Params {
			if p.Name == "fields" {
				members = p.Values
			}
		}
		f.Columns = slices.DeleteFunc(f.Columns, func(column string) bool {
			return !slices.Contains(members, column) && !slices.Contains(members, strings.TrimSuffix(column, "_id"))
		})
		d.files[name] = &listFile{columns: append([]string{"id"}, f.Columns...)}
		d.lists = append([]string{name}, d.lists...)
	}
	return nil
}

// begin reads how far an earlier download into the directory came, and writes the mapping.
func (d *download) begin(server string) error {
	if err := os.MkdirAll(d.dir, 0o700); err != nil {
		return err
	}
	content, err := os.ReadFile(filepath.Join(d.dir, downloadFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		entries, err := os.ReadDir(d.dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), ".csv") {
				return fmt.Errorf("%s has files that are not of a download: name a new directory", d.dir)
			}
		}
		d.progress = downloadProgress{Server: server, Lists: map[string]*listProgress{}, Sizes: map[string]int64{}}
		if err := d.store(); err != nil { // before the first file: a run that fails from here on can be continued
			return err
		}
	case err != nil:
		return err
	default:
		if err := json.Unmarshal(content, &d.progress); err != nil {
			return fmt.Errorf("%s is damaged: name a new directory", filepath.Join(d.dir, downloadFile))
		}
		switch {
		case d.progress.Server != server:
			return fmt.Errorf("%s has a download from %s: name a new directory", d.dir, d.progress.Server)
		case d.progress.Done:
			fmt.Fprintf(d.err, "%s has a complete download: to download again, name a new directory\n", d.dir)
		default:
			fmt.Fprintln(d.err, "continuing an interrupted download")
		}
	}
	return d.writeMapping(server)
}

// writeMapping writes the mapping of the files, unless there is one, which may have been changed. Its
// source is the host: ids of another server are of other records.
func (d *download) writeMapping(server string) error {
	if _, err := importer.FindMapping(d.dir); !errors.Is(err, importer.ErrNoMapping) {
		return err
	}
	u, err := url.Parse(server)
	if err != nil {
		return err
	}
	ready, _ := importer.FindReady(importer.ListMapping)
	content := strings.Replace(ready.Content, "\nsource: "+ready.Name+"\n", "\nsource: "+strconv.Quote(u.Host+u.Path)+"\n", 1)
	return os.WriteFile(filepath.Join(d.dir, "mapping.yaml"), []byte(content), 0o600)
}

// openFiles opens the files, cuts what came after the last stored page, and writes the headers of new
// ones.
func (d *download) openFiles() error {
	for name, f := range d.files {
		file, err := os.OpenFile(filepath.Join(d.dir, name+".csv"), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return err
		}
		f.file, f.csv = file, csv.NewWriter(file)
		size := d.progress.Sizes[name]
		if info, err := file.Stat(); err != nil || info.Size() < size {
			return errors.Join(err, fmt.Errorf("%s is shorter than it was: name a new directory", file.Name()))
		}
		if err := file.Truncate(size); err != nil {
			return err
		}
		if _, err := file.Seek(size, io.SeekStart); err != nil {
			return err
		}
		if size == 0 {
			if err := f.csv.Write(f.columns); err != nil {
				return err
			}
		}
	}
	return nil
}

// save stores how far the download has come, with all that was written to the files.
func (d *download) save() error {
	if !d.progress.Done { // the files are closed
		for name, f := range d.files {
			f.csv.Flush()
			size, err := f.file.Seek(0, io.SeekCurrent)
			if err := errors.Join(f.csv.Error(), err); err != nil {
				return err
			}
			d.progress.Sizes[name] = size
		}
	}
	return d.store()
}

// store replaces the file of the progress.
func (d *download) store() error {
	content, err := json.Marshal(d.progress)
	if err != nil {
		return err
	}
	path := filepath.Join(d.dir, downloadFile)
	if err := os.WriteFile(path+".new", content, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// readLists reads all lists. That of fees needs a payment plan and is read for each, after the plans.
func (d *download) readLists() error {
	for _, list := range d.lists {
		if list == "fees" {
			continue
		}
		if err := d.readList(list, list, filters[list]); err != nil {
			return err
		}
	}
	plans, err := d.ids("payment_plans")
	if err != nil {
		return err
	}
	for _, id := range plans {
		filter := url.Values{"payment_plan_id": {id}}.Encode()
		if err := d.readList("fees?"+filter, "fees", filter); err != nil {
			return err
		}
	}
	return nil
}

// ids returns the ids in a file that was read.
func (d *download) ids(name string) (ids []string, err error) {
	file, err := os.Open(filepath.Join(d.dir, name+".csv"))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	for _, row := range rows {
		ids = append(ids, row[0])
	}
	return ids[min(1, len(ids)):], err // without the header
}

// readList reads the pages of a list that were not read before.
func (d *download) readList(name, list, filter string) error {
	at := d.progress.Lists[name]
	if at == nil {
		at = &listProgress{}
		d.progress.Lists[name] = at
	}
	for !at.Done {
		page, err := d.page(list, filter, *at)
		if err != nil {
			return fmt.Errorf("%s: %w", list, err)
		}
		for _, r := range page.records {
			if err := d.write(list, r); err != nil {
				return err
			}
		}
		at.Rows += int64(len(page.records))
		at.Absent, at.Total = page.absent, page.meta.Total
		at.Cursor, at.Page = page.next(*at)
		at.Done = at.Cursor == "" && at.Page == 0
		if err := d.save(); err != nil {
			return err
		}
		if d.show != nil {
			d.show(name, at.Rows, page.meta.Total)
		}
	}
	return nil
}

// write writes a record and its parts to their files.
func (d *download) write(list string, r apiRecord) error {
	f := d.files[list]
	if err := f.csv.Write(r.cells(f.columns)); err != nil {
		return err
	}
	for name, part := range parts {
		member, ok := strings.CutPrefix(name, list+".")
		if !ok {
			continue
		}
		var inner []apiRecord
		if len(r[member]) > 0 {
			if err := json.Unmarshal(r[member], &inner); err != nil {
				return fmt.Errorf("%s: %s: %w", list, member, err)
			}
		}
		for i, x := range inner {
			row := part(r, x)
			if row == nil {
				continue
			}
			row["id"] = json.RawMessage(strconv.Quote(fmt.Sprintf("%s.%s.%d", list, r.text("id"), i+1)))
			if err := d.files[name].csv.Write(row.cells(d.files[name].columns)); err != nil {
				return err
			}
		}
	}
	return nil
}

// missingScopes returns the scopes that the download needs and a token does not have.
func (d *download) missingScopes(has scope.Set) (missing []string) {
	for _, list := range d.lists {
		op, _ := listOperation(list)
		if !has.Allows(op.Scope) && !slices.Contains(missing, op.Scope) {
			missing = append(missing, op.Scope)
		}
	}
	slices.Sort(missing)
	return missing
}
