package web

import (
	"bytes"
	"fmt"
	"net/http"
)

// gap is where the page of a report that takes long is cut in two.
const gap = "<!-- the answer -->"

// reportPage is the page of a report on its way to the visitor. A report that
// works in steps has its page begun before the first of them, so that there is
// something to look at: a bar that grows, without a script, because each bar
// hides the one before it.
type reportPage struct {
	reportView
	w     http.ResponseWriter
	r     *http.Request
	form  *form
	begun bool // from here on nothing but more of the page can be sent
}

func (p *reportPage) view() view {
	return view{Title: p.Title, Here: reportsPath, Form: *p.form, Page: p.reportView}
}

// step shows that so many steps of the report are done.
func (p *reportPage) step(done, of int) {
	if !p.begun {
		p.begun = true
		p.Gap = gap
		head, _ := p.halves()
		p.w.Header().Set("Content-Type", "text/html; charset=utf-8")
		p.send(head)
	}
	p.send(fmt.Appendf(nil, `<p class="waiting" role="status"><label>Reading the records <progress value="%d" max="%d"></progress></label> step %d of %d</p>`+"\n",
		done, of, done+1, of))
}

// end sends what the page still lacks: the answer, or why there is none.
func (p *reportPage) end() {
	_, tail := p.halves()
	p.send(tail)
}

// halves are what stands before the gap, and what after it.
func (p *reportPage) halves() (head, tail []byte) {
	head, tail, _ = bytes.Cut(write(p.r, "report", p.view()), []byte(gap))
	return head, tail
}

// send sends a part at once. It fails where the visitor went away; what else is
// done for them then ends with the request's context.
func (p *reportPage) send(part []byte) {
	_, _ = p.w.Write(part)
	_ = http.NewResponseController(p.w).Flush()
}
