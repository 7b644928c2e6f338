package importer

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// maxRecord is the longest row of another system's file, in bytes. A longer one is a quotation
// mark that nobody closed.
const maxRecord = 1 << 20

// Encodings of texts.
const (
	utf8Encoding = "utf-8"
	windows      = "windows-1252"
	latin1       = "latin-1"
	mixed        = "mixed"  // UTF-8 where it is, windows-1252 where it is not
	utf16        = "utf-16" // only by its mark
)

// source reads a CSV file of another system's, row by row. A row that cannot be read spoils no
// other.
type source struct {
	file      *os.File
	wide      bool    // it was UTF-16
	copied    float64 // where that is a copy: how much longer the original is, else 0
	delimiter rune
	header    []string
	rejects   bool                      // it is a file of rejects, which this program has written
	marked    bool                      // it can only be UTF-8
	wants     func(cells []string) bool // nil for every row

	csv   *csv.Reader
	limit *limited
	start int64 // where in the file the csv reader began, in bytes
	line  int   // lines before that
	last  int   // the line in which the last row ended, counted from there
}

// sourceRow is one row as it was found.
type sourceRow struct {
	line    int      // of the file, counted from 1; of a file of rejects, that in the file they come from
	cells   []string // bytes in the file's encoding
	message string   // why it cannot be read, "" where it can
}

// openSource opens a file and reads its header, which is in the line of that number, the first
// for 0. delimiter is 0 where the most frequent of , ; tab and | in the header is to be taken.
func openSource(path string, delimiter rune, header int) (*source, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	s := &source{file: file, delimiter: delimiter}
	if err := s.begin(header); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// begin skips what programs put before the header, and reads the header.
func (s *source) begin(header int) error {
	reader := bufio.NewReaderSize(io.LimitReader(s.file, maxRecord), maxRecord)
	first, err := reader.ReadBytes('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if bytes.HasPrefix(first, []byte{0xff, 0xfe}) || bytes.HasPrefix(first, []byte{0xfe, 0xff}) {
		s.wide = true
		return s.copyAs(fromUTF16, header)
	}
	if bytes.IndexByte(first, 0) >= 0 {
		return errors.New("is UTF-16 without its mark; save it as UTF-8")
	}
	if bytes.IndexByte(first, '\n') < 0 && bytes.IndexByte(first, '\r') >= 0 {
		return s.copyAs(func(from io.Reader) io.Reader { return returns{from} }, header)
	}
	if rest, ok := bytes.CutPrefix(first, []byte("\ufeff")); ok {
		s.start, first, s.marked = 3, rest, true
	}
	switch line := strings.TrimRight(string(first), "\r\n"); {
	case strings.HasPrefix(line, strings.Join(rejectsHeader, ",")+","):
		s.delimiter, s.rejects, s.marked, header = ',', true, true, 1
	case len(line) == len("sep=,") && strings.EqualFold(line[:4], "sep="): // Excel's
		s.delimiter, header = rune(line[4]), max(header, 2)
	}
	for s.line < header-1 {
		s.start, s.line = s.start+int64(len(first)), s.line+1
		if first, err = reader.ReadBytes('\n'); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
	}
	if s.delimiter == 0 {
		s.delimiter = likeliest(first)
	}
	if err := s.seek(); err != nil {
		return err
	}
	row, err := s.next()
	switch {
	case errors.Is(err, io.EOF):
		return nil // an empty file
	case err == nil && row.message != "":
		return fmt.Errorf("the header %s", row.message)
	}
	s.header = row.cells
	return err
}

// copyAs begins again with a copy of the file that is read in another way. The copy has no name, or
// loses it at the end.
func (s *source) copyAs(read func(io.Reader) io.Reader, header int) error {
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	file, err := os.CreateTemp("", "chairside-*.csv")
	if err != nil {
		return err
	}
	_ = os.Remove(file.Name()) // it is open; where that keeps it, close removes it
	original := *s
	defer original.close()
	s.file, s.copied = file, 1
	written, err := io.Copy(file, read(bufio.NewReader(original.file)))
	if err != nil {
		return err
	}
	if info, err := original.file.Stat(); err == nil && written > 0 {
		s.copied = max(original.copied, 1) * float64(info.Size()) / float64(written)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return s.begin(header)
}

// fromUTF16 reads UTF-16 as UTF-8, with its mark.
func fromUTF16(from io.Reader) io.Reader {
	return io.MultiReader(strings.NewReader("\ufeff"), unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder().Reader(from))
}

// returns is a reader of lines that end with a carriage return alone.
type returns struct{ io.Reader }

func (r returns) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	for i := range p[:n] {
		if p[i] == '\r' {
			p[i] = '\n'
		}
	}
	return n, err
}

// quoted is what stands between quotation marks.
var quoted = regexp.MustCompile(`"[^"]*"`)

// likeliest is the separator that a line has most of.
func likeliest(line []byte) rune {
	line = quoted.ReplaceAll(line, nil)
	best, most := ',', 0
	for _, r := range []rune{',', ';', '\t', '|'} {
		if n := bytes.Count(line, []byte(string(r))); n > most {
			best, most = r, n
		}
	}
	return best
}

// seek makes the csv reader begin at start.
func (s *source) seek() error {
	if _, err := s.file.Seek(s.start, io.SeekStart); err != nil {
		return err
	}
	s.limit, s.last = &limited{from: s.file}, 0
	s.csv = csv.NewReader(s.limit)
	s.csv.Comma = s.delimiter
	s.csv.FieldsPerRecord = -1
	return nil
}

// limited refuses to give more than a row may have. The csv reader reads ahead, so a little more
// than that is allowed.
type limited struct {
	from  io.Reader
	given int64 // bytes since the csv reader began
	until int64 // where the row it reads has to end
}

var errTooLong = errors.New("row too long")

func (l *limited) Read(p []byte) (int, error) {
	if l.given > l.until {
		return 0, errTooLong
	}
	n, err := l.from.Read(p)
	l.given += int64(n)
	return n, err
}

// next gives the next row that is not blank and that is wanted, io.EOF after the last. cells are
// valid until the next call.
func (s *source) next() (row sourceRow, err error) {
	for {
		from := s.csv.InputOffset()
		s.limit.until = from + maxRecord
		cells, err := s.csv.Read()
		switch {
		case errors.Is(err, io.EOF):
			return row, io.EOF
		case err != nil:
			row, err = s.recover(from, err)
		default:
			if row = s.row(cells); blank(cells) {
				continue
			}
		}
		if err != nil || row.message != "" || s.wants == nil || s.wants(row.cells) {
			return row, err
		}
	}
}

// row is the row that the csv reader has read.
func (s *source) row(cells []string) sourceRow {
	first, _ := s.csv.FieldPos(0)
	last, _ := s.csv.FieldPos(len(cells) - 1)
	s.last = last + strings.Count(cells[len(cells)-1], "\n")
	row := sourceRow{line: s.line + first, cells: cells}
	if s.rejects && len(cells) >= len(rejectsHeader) {
		if of, err := strconv.Atoi(cells[0]); err == nil {
			row.line = of
		}
		row.cells = cells[len(rejectsHeader):]
	}
	switch width := len(s.header); {
	case s.header == nil || len(row.cells) == width:
	case len(row.cells) > width && blank(row.cells[width:]):
		row.cells = row.cells[:width] // separators at the end
	default:
		row.message = fmt.Sprintf("has %d columns, the header has %d", len(row.cells), width)
	}
	return row
}

// blank reports whether nothing but spaces stands in the cells.
func blank(cells []string) bool {
	return !slices.ContainsFunc(cells, func(c string) bool { return strings.TrimSpace(c) != "" })
}

// recover goes on in the line after the one in which a row began that could not be read to its
// end.
func (s *source) recover(from int64, cause error) (sourceRow, error) {
	var parse *csv.ParseError
	if !errors.As(cause, &parse) && !errors.Is(cause, errTooLong) {
		return sourceRow{}, cause
	}
	if _, err := s.file.Seek(s.start+from, io.SeekStart); err != nil {
		return sourceRow{}, err
	}
	lines := s.last
	reader := bufio.NewReader(s.file)
	var text []byte
	skipped := int64(0)
	for { // blank lines come before the row
		text = text[:0]
		for {
			part, err := reader.ReadSlice('\n')
			skipped += int64(len(part))
			text = append(text, part[:min(len(part), max(0, maxRecord-len(text)))]...)
			if errors.Is(err, bufio.ErrBufferFull) {
				continue
			}
			if err != nil && !errors.Is(err, io.EOF) {
				return sourceRow{}, err
			}
			break
		}
		lines++
		if len(text) == 0 || len(bytes.TrimSpace(text)) > 0 {
			break
		}
	}
	row := sourceRow{
		line: s.line + lines, cells: []string{strings.TrimRight(string(text), "\r\n")},
		message: "has a quotation mark in the wrong place, or one that is not closed",
	}
	if errors.Is(cause, csv.ErrBareQuote) { // 5" nail
		lazy := csv.NewReader(bytes.NewReader(text))
		lazy.Comma, lazy.LazyQuotes = s.delimiter, true
		if cells, err := lazy.Read(); err == nil && len(cells) == len(s.header) {
			row.cells, row.message = cells, ""
		}
	}
	s.start, s.line = s.start+from+skipped, row.line
	return row, s.seek()
}

// offset is how far the file has been read, in bytes.
func (s *source) offset() int64 {
	read := s.start + s.csv.InputOffset()
	if s.copied > 0 {
		return int64(float64(read) * s.copied)
	}
	return read
}

// close ends the reading.
func (s *source) close() {
	_ = s.file.Close() // it was only read
	if s.copied > 0 {
		_ = os.Remove(s.file.Name()) // unless it was removed when it was made
	}
}

// undecodable says that a cell is not what its encoding says.
func undecodable(encoding string) string {
	if encoding == utf16 {
		return "has bytes that are not utf-16"
	}
	return "has bytes that are not " + encoding + "; set encoding to latin-1, windows-1252, or mixed for both"
}

// decodeText gives the text of a cell, and whether it is what its encoding says. What cannot be
// read is shown as �.
func decodeText(cell, encoding string) (string, bool) {
	switch {
	case encoding == utf16: // what was none is a � in the copy
		return cell, !strings.ContainsRune(cell, utf8.RuneError)
	case encoding == mixed && !utf8.ValidString(cell) || encoding == windows || encoding == latin1:
		decoded, err := charmap.Windows1252.NewDecoder().String(cell) // a superset of Latin-1 in all but control characters
		return decoded, err == nil && !strings.ContainsRune(decoded, utf8.RuneError)
	}
	return strings.ToValidUTF8(cell, "\ufffd"), utf8.ValidString(cell)
}
