package web

import (
	"bytes"
	"fmt"
	"net/http"
)

// gap marks where a streamed report page is split.
const gap = "<!-- report -->"

// reportPage streams the page of a report that runs in steps. The visitor sees a
// progress bar from the first step on; it needs no script, because each bar hides the
// one before it.
type reportPage struct {
	reportView
	site  *Site
	w     http.ResponseWriter
	r     *http.Request
	form  *form
	begun bool // the status and the first part are sent

	notices notices // read before the report, which then has the connection
}

func (p *reportPage) view() view {
	return view{Title: p.Title, Here: reportsPath, Form: *p.form, Page: p.reportView, notices: p.notices}
}

// step sends a progress bar: done of the steps are finished.
func (p *reportPage) step(done, steps int) {
	if !p.begun {
		p.begun = true
		p.Gap = gap
		head, _ := p.halves()
		p.w.Header().Set("Content-Type", "text/html; charset=utf-8")
		p.send(head)
	}
	p.send(fmt.Appendf(nil, `<p class="waiting" role="status"><label>Reading the records <progress value="%d" max="%d"></progress></label> step %d of %d</p>`+"\n",
		done, steps, done+1, steps))
}

// end sends the rest of the page: the report or the error.
func (p *reportPage) end() {
	_, tail := p.halves()
	p.send(tail)
}

// halves returns the page before and after the gap.
func (p *reportPage) halves() (head, tail []byte) {
	head, tail, _ = bytes.Cut(p.site.write(p.r, "report", p.view()), []byte(gap))
	return head, tail
}

// send sends a part at once. If the visitor has left it fails, and the request's
// context ends the report.
func (p *reportPage) send(part []byte) {
	_, _ = p.w.Write(part)
	_ = http.NewResponseController(p.w).Flush()
}
