package extract

import (
	"bufio"
	"io"
	"strconv"
)

// encoder writes the rows of one file.
type encoder interface {
	write(*row) error
	close() error // writes what is left; the file stays open
}

// bufferSize is the size of the buffer of a file, in bytes.
const bufferSize = 1 << 20

// ndjson writes each row as one line. The values are those of the documents, byte for byte.
type ndjson struct {
	to      *bufio.Writer
	run     int
	columns []column
	line    []byte
}

func newNDJSON(to io.Writer, run int, columns []column) encoder {
	return &ndjson{to: bufio.NewWriterSize(to, bufferSize), run: run, columns: columns}
}

func (e *ndjson) write(r *row) error {
	line := strconv.AppendInt(append(e.line[:0], `{"`+runColumn+`":`...), int64(e.run), 10)
	line = strconv.AppendBool(append(line, `,"`+deletedColumn+`":`...), r.deleted)
	for i, c := range e.columns {
		value := r.values[i]
		if value == nil {
			if r.deleted {
				continue
			}
			value = []byte("null")
		}
		line = append(append(line, `,"`...), c.name...) // a name of the API has no characters to escape
		line = append(append(line, `":`...), value...)
	}
	e.line = append(line, "}\n"...)
	_, err := e.to.Write(e.line)
	return err
}

func (e *ndjson) close() error { return e.to.Flush() }
