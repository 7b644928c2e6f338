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

// maxRowBytes is the longest row that is read. A longer one has an unclosed quotation mark.
const maxRowBytes = 1 << 20

// Encodings of source files.
const (
	utf8Encoding = "utf-8"
	windows      = "windows-1252"
	latin1       = "latin-1"
	mixed        = "mixed"  // UTF-8 where a cell is valid UTF-8, else windows-1252
	utf16        = "utf-16" // recognised by its byte order mark alone
)

// sourceReader reads a CSV file of another system row by row. After a row that it cannot read, it
// continues with the next line.
type sourceReader struct {
	file      *os.File // or a temporary copy of it as UTF-8
	copyRatio float64  // of a copy: bytes of the original for each byte of the copy; else 0
	delimiter rune
	header    []string
	isUTF16   bool                      // the original is
	isUTF8    bool                      // a byte order mark says so, or this program wrote the file
	isRejects bool                      // the file is one of rejects, corrected
	selects   func(cells []string) bool // selects the rows to read; nil for all

	csv       *csv.Reader
	limit     *rowLimit
	start     int64 // offset in the file at which csv began
	startLine int   // lines before that
	lastLine  int   // line in which the last row ended, counted from there
}

// sourceRow is one row of a source file.
type sourceRow struct {
	line    int      // counted from 1; for a row of rejects, its line in the original file
	cells   []string // in the file's encoding
	message string   // why the row cannot be read, "" if it can
}

// openSource opens a file and reads its header from the given line, 0 for the first. If delimiter
// is 0, it is the most frequent of comma, semicolon, tab and bar in the header.
func openSource(path string, delimiter rune, headerLine int) (*sourceReader, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	s := &sourceReader{file: file, delimiter: delimiter}
	if err := s.begin(headerLine); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// begin finds out the encoding and the delimiter from the first lines, and reads the header.
func (s *sourceReader) begin(headerLine int) error {
	reader := bufio.NewReaderSize(io.LimitReader(s.file, maxRowBytes), maxRowBytes)
	line, err := reader.ReadBytes('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch convert, err := s.conversion(line); {
	case err != nil:
		return err
	case convert != nil:
		return s.beginCopy(convert, headerLine)
	}
	if rest, ok := bytes.CutPrefix(line, []byte("\ufeff")); ok {
		s.start, line, s.isUTF8 = 3, rest, true
	}
	switch text := strings.TrimRight(string(line), "\r\n"); {
	case strings.HasPrefix(text, strings.Join(rejectsHeader, ",")+","):
		s.delimiter, s.isRejects, s.isUTF8, headerLine = ',', true, true, 1
	case len(text) == len("sep=,") && strings.EqualFold(text[:4], "sep="): // written by Excel
		s.delimiter, headerLine = rune(text[4]), max(headerLine, 2)
	}
	for s.startLine < headerLine-1 {
		s.start, s.startLine = s.start+int64(len(line)), s.startLine+1
		if line, err = reader.ReadBytes('\n'); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
	}
	if s.delimiter == 0 {
		s.delimiter = guessDelimiter(line)
	}
	return s.readHeader()
}

// conversion returns how to convert the file to UTF-8 with line feeds, or nil if it need not be.
func (s *sourceReader) conversion(firstLine []byte) (func(io.Reader) io.Reader, error) {
	switch {
	case bytes.HasPrefix(firstLine, []byte{0xff, 0xfe}), bytes.HasPrefix(firstLine, []byte{0xfe, 0xff}):
		s.isUTF16 = true
		return decodeUTF16, nil
	case bytes.IndexByte(firstLine, 0) >= 0:
		return nil, errors.New("is UTF-16 without a byte order mark; save it as UTF-8")
	case bytes.IndexByte(firstLine, '\n') < 0 && bytes.IndexByte(firstLine, '\r') >= 0:
		return func(from io.Reader) io.Reader { return carriageReturns{from} }, nil
	}
	return nil, nil
}

// readHeader reads the header, which is at start. An empty file has none.
func (s *sourceReader) readHeader() error {
	if err := s.startCSV(); err != nil {
		return err
	}
	row, err := s.next()
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err == nil && row.message != "":
		return fmt.Errorf("the header %s", row.message)
	}
	s.header = row.cells
	return err
}

// beginCopy begins again with a converted copy of the file, which is deleted at once or by close.
func (s *sourceReader) beginCopy(convert func(io.Reader) io.Reader, headerLine int) error {
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	file, err := os.CreateTemp("", "chairside-*.csv")
	if err != nil {
		return err
	}
	_ = os.Remove(file.Name()) // fails where open files cannot be removed; close tries again
	original := *s
	defer original.close()
	s.file, s.copyRatio = file, 1
	written, err := io.Copy(file, convert(bufio.NewReader(original.file)))
	if err != nil {
		return err
	}
	if info, err := original.file.Stat(); err == nil && written > 0 {
		s.copyRatio = max(original.copyRatio, 1) * float64(info.Size()) / float64(written)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return s.begin(headerLine)
}

// decodeUTF16 converts UTF-16 to UTF-8 with a byte order mark.
func decodeUTF16(from io.Reader) io.Reader {
	return io.MultiReader(strings.NewReader("\ufeff"), unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder().Reader(from))
}

// carriageReturns converts lines that end in a carriage return alone.
type carriageReturns struct{ io.Reader }

func (r carriageReturns) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	for i := range p[:n] {
		if p[i] == '\r' {
			p[i] = '\n'
		}
	}
	return n, err
}

// quoted matches a cell in quotation marks.
var quoted = regexp.MustCompile(`"[^"]*"`)

// guessDelimiter returns the most frequent delimiter in a line, outside quotation marks.
func guessDelimiter(line []byte) rune {
	line = quoted.ReplaceAll(line, nil)
	best, most := ',', 0
	for _, r := range []rune{',', ';', '\t', '|'} {
		if n := bytes.Count(line, []byte(string(r))); n > most {
			best, most = r, n
		}
	}
	return best
}

// startCSV makes a csv reader that begins at start.
func (s *sourceReader) startCSV() error {
	if _, err := s.file.Seek(s.start, io.SeekStart); err != nil {
		return err
	}
	s.limit, s.lastLine = &rowLimit{from: s.file}, 0
	s.csv = csv.NewReader(s.limit)
	s.csv.Comma = s.delimiter
	s.csv.FieldsPerRecord = -1
	return nil
}

// rowLimit stops the csv reader in a row that is too long. The csv reader reads ahead, so a row
// may be longer by its buffer.
type rowLimit struct {
	from io.Reader
	read int64 // bytes since the csv reader began
	end  int64 // where the current row must end
}

var errRowTooLong = errors.New("row too long")

func (l *rowLimit) Read(p []byte) (int, error) {
	if l.read > l.end {
		return 0, errRowTooLong
	}
	n, err := l.from.Read(p)
	l.read += int64(n)
	return n, err
}

// next returns the next selected row that is not blank, or io.EOF after the last. A row that
// cannot be read counts as selected.
func (s *sourceReader) next() (row sourceRow, err error) {
	for {
		from := s.csv.InputOffset()
		s.limit.end = from + maxRowBytes
		cells, err := s.csv.Read()
		switch {
		case errors.Is(err, io.EOF):
			return row, io.EOF
		case err != nil:
			row, err = s.skipBadRow(from, err)
		default:
			if row = s.row(cells); blank(cells) {
				continue
			}
		}
		if err != nil || row.message != "" || s.selects == nil || s.selects(row.cells) {
			return row, err
		}
	}
}

// row returns the row that the csv reader has just read.
func (s *sourceReader) row(cells []string) sourceRow {
	first, _ := s.csv.FieldPos(0)
	last, _ := s.csv.FieldPos(len(cells) - 1)
	s.lastLine = last + strings.Count(cells[len(cells)-1], "\n")
	row := sourceRow{line: s.startLine + first, cells: cells}
	if s.isRejects && len(cells) >= len(rejectsHeader) {
		if original, err := strconv.Atoi(cells[0]); err == nil {
			row.line = original
		}
		row.cells = cells[len(rejectsHeader):]
	}
	switch width := len(s.header); {
	case s.header == nil || len(row.cells) == width:
	case len(row.cells) > width && blank(row.cells[width:]):
		row.cells = row.cells[:width] // delimiters at the end
	default:
		row.message = fmt.Sprintf("has %d columns, the header has %d", len(row.cells), width)
	}
	return row
}

// blank reports whether all cells are blank.
func blank(cells []string) bool {
	return !slices.ContainsFunc(cells, func(c string) bool { return strings.TrimSpace(c) != "" })
}

// skipBadRow handles a row that the csv reader failed in. It returns the row's first line, with a
// message, and restarts the csv reader in the line after it. A row whose only mistake is a
// quotation mark within a cell, such as 5" nail, is returned whole. from is where the csv reader
// began to read the row.
func (s *sourceReader) skipBadRow(from int64, cause error) (sourceRow, error) {
	var parse *csv.ParseError
	if !errors.As(cause, &parse) && !errors.Is(cause, errRowTooLong) {
		return sourceRow{}, cause
	}
	if _, err := s.file.Seek(s.start+from, io.SeekStart); err != nil {
		return sourceRow{}, err
	}
	reader := bufio.NewReader(s.file)
	skipped, lines := int64(0), s.lastLine
	var text []byte
	for { // blank lines may come before the row
		var n int64
		var err error
		if text, n, err = readLine(reader); err != nil {
			return sourceRow{}, err
		}
		skipped += n
		lines++
		if len(text) == 0 || len(bytes.TrimSpace(text)) > 0 {
			break
		}
	}
	row := sourceRow{
		line: s.startLine + lines, cells: []string{strings.TrimRight(string(text), "\r\n")},
		message: "has a misplaced or unclosed quotation mark",
	}
	if errors.Is(cause, csv.ErrBareQuote) {
		lazy := csv.NewReader(bytes.NewReader(text))
		lazy.Comma, lazy.LazyQuotes = s.delimiter, true
		if cells, err := lazy.Read(); err == nil && len(cells) == len(s.header) {
			row.cells, row.message = cells, ""
		}
	}
	s.start, s.startLine = s.start+from+skipped, row.line
	return row, s.startCSV()
}

// readLine reads a line of any length and returns at most maxRowBytes of it. n is its whole
// length; 0 is the end of the file.
func readLine(reader *bufio.Reader) (text []byte, n int64, err error) {
	for {
		part, err := reader.ReadSlice('\n')
		n += int64(len(part))
		text = append(text, part[:min(len(part), max(0, maxRowBytes-len(text)))]...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err == nil, errors.Is(err, io.EOF):
			return text, n, nil
		default:
			return nil, n, err
		}
	}
}

// offset returns how far the file has been read, in bytes.
func (s *sourceReader) offset() int64 {
	read := s.start + s.csv.InputOffset()
	if s.copyRatio > 0 {
		return int64(float64(read) * s.copyRatio)
	}
	return read
}

// close closes the file and deletes its copy.
func (s *sourceReader) close() {
	_ = s.file.Close() // it was only read
	if s.copyRatio > 0 {
		_ = os.Remove(s.file.Name()) // fails if beginCopy could remove it
	}
}

// undecodable returns the message for a cell that is invalid in its encoding.
func undecodable(encoding string) string {
	if encoding == utf16 {
		return "has bytes that are not utf-16"
	}
	return "has bytes that are not " + encoding + "; set encoding to latin-1, windows-1252, or mixed for both"
}

// decodeText returns the text of a cell. ok is false if it is invalid in its encoding; � then
// stands for invalid bytes.
func decodeText(cell, encoding string) (text string, ok bool) {
	switch {
	case encoding == utf16: // invalid characters are � in the UTF-8 copy
		return cell, !strings.ContainsRune(cell, utf8.RuneError)
	case encoding == mixed && !utf8.ValidString(cell) || encoding == windows || encoding == latin1:
		decoded, err := charmap.Windows1252.NewDecoder().String(cell) // a superset of Latin-1, except control characters
		return decoded, err == nil && !strings.ContainsRune(decoded, utf8.RuneError)
	}
	return strings.ToValidUTF8(cell, "\ufffd"), utf8.ValidString(cell)
}
