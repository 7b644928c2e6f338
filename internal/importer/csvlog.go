package importer

import (
	"encoding/csv"
	"errors"
	"io"
	"os"
)

// csvLog is a CSV file to which lines are appended: rejects or findings. A resumed import cuts
// off what was written after its checkpoint.
type csvLog struct {
	file *os.File
	csv  *csv.Writer
}

// openCSVLog opens a file and cuts it to size bytes. If that is 0, the header is the first line.
func openCSVLog(path string, size int64, header []string) (*csvLog, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	l := &csvLog{file: file, csv: csv.NewWriter(file)}
	if err = file.Truncate(size); err == nil {
		_, err = file.Seek(size, io.SeekStart)
	}
	if err == nil && size == 0 {
		err = l.csv.Write(header)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return l, nil
}

// write appends lines, syncs the file if there are any, and returns its size.
func (l *csvLog) write(lines ...[]string) (size int64, err error) {
	if err := l.csv.WriteAll(lines); err != nil { // flushes the header, too
		return 0, err
	}
	if len(lines) > 0 {
		if err := l.file.Sync(); err != nil {
			return 0, err
		}
	}
	return l.file.Seek(0, io.SeekCurrent)
}

func (l *csvLog) close() error {
	l.csv.Flush()
	return errors.Join(l.csv.Error(), l.file.Close())
}
