package browser

import (
	"context"
	"fmt"
	"strings"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"chairside/internal/scope"
)

// node is an element as a screen reader announces it.
type node struct {
	Ignored bool              `json:"ignored"`
	Role    axValue           `json:"role"`
	Name    axValue           `json:"name"`
	ID      cdp.BackendNodeID `json:"backendDOMNodeId"`
}

type axValue struct {
	Value string `json:"value"`
}

type nodes struct {
	Nodes []node `json:"nodes"`
}

// query returns the elements with a role and a name, anywhere or within another element.
// Without a name it returns all of the role.
func (p *tab) query(within *node, role, name string) []node {
	p.t.Helper()
	given := map[string]any{"role": role}
	if name != "" {
		given["accessibleName"] = name
	}
	if within != nil {
		given["backendNodeId"] = within.ID
	} else {
		var root *runtime.RemoteObject
		p.run(chromedp.Evaluate("document", &root))
		given["objectId"] = root.ObjectID
	}
	var found nodes
	p.call("Accessibility.queryAXTree", given, &found)
	var seen []node
	for _, n := range found.Nodes {
		if !n.Ignored && n.ID != 0 {
			seen = append(seen, n)
		}
	}
	return seen
}

// find returns the only element with a role and a name.
func (p *tab) find(role, name string) *node {
	p.t.Helper()
	return p.findIn(nil, role, name)
}

func (p *tab) findIn(within *node, role, name string) *node {
	p.t.Helper()
	found := p.query(within, role, name)
	if len(found) != 1 {
		var names []string
		for _, n := range p.query(within, role, "") {
			names = append(names, n.Name.Value)
		}
		p.t.Fatalf("%d × %s %q; there are %q\n%s", len(found), role, name, names, p.report())
	}
	return &found[0]
}

// press clicks the middle of an element.
func (p *tab) press(n *node) {
	p.t.Helper()
	p.run(chromedp.ActionFunc(func(ctx context.Context) error {
		if err := dom.ScrollIntoViewIfNeeded().WithBackendNodeID(n.ID).Do(ctx); err != nil {
			return err
		}
		quads, err := dom.GetContentQuads().WithBackendNodeID(n.ID).Do(ctx)
		if err != nil || len(quads) == 0 {
			return fmt.Errorf("%s %q is not visible: %w", n.Role.Value, n.Name.Value, err)
		}
		q := quads[0]
		return chromedp.MouseClickXY((q[0]+q[4])/2, (q[1]+q[5])/2).Do(ctx)
	}))
}

// submit presses a button that leads to another page.
func (p *tab) submit(name string) *tab {
	p.t.Helper()
	n := p.find("button", name)
	return p.load(func() { p.press(n) })
}

// follow clicks a link that leads to another page.
func (p *tab) follow(name string) *tab {
	p.t.Helper()
	n := p.find("link", name)
	return p.load(func() { p.press(n) })
}

// unfold opens a disclosure.
func (p *tab) unfold(name string) *tab {
	p.t.Helper()
	p.press(p.find("DisclosureTriangle", name))
	return p
}

// fill replaces the text of a field by typing.
func (p *tab) fill(label, text string) *tab {
	p.t.Helper()
	p.press(p.find("textbox", label))
	eval[any](p, "document.activeElement.select()")
	p.run(input.InsertText(text))
	return p
}

// pick sets a date field, YYYY-MM-DD, without typing, which depends on the browser's
// language.
func (p *tab) pick(label, day string) *tab {
	p.t.Helper()
	p.focus(p.find("Date", label))
	eval[string](p, fmt.Sprintf("document.activeElement.value = %q", day))
	return p
}

// choose selects an option by its label.
func (p *tab) choose(label, option string) *tab {
	p.t.Helper()
	p.focus(p.find("combobox", label))
	if !eval[bool](p, fmt.Sprintf("[...document.activeElement.options].some(o => o.label == %q && (o.selected = true))", option)) {
		p.t.Fatalf("%s: no option %q\n%s", label, option, p.report())
	}
	return p
}

// tick ticks a box in a group of boxes.
func (p *tab) tick(group, box string) *tab {
	p.t.Helper()
	p.press(p.findIn(p.find("group", group), "checkbox", box))
	return p
}

// grant ticks the box of a scope.
func (p *tab) grant(name string) *tab {
	p.t.Helper()
	p.press(p.find("checkbox", scopeBox(name)))
	return p
}

// scopeBox is the accessible name of the box of a scope, where a line may break after the colon.
func scopeBox(name string) string {
	return scope.Explain(name) + ": " + strings.Replace(name, ":", ": ", 1)
}

// focus gives an element the focus.
func (p *tab) focus(n *node) {
	p.t.Helper()
	p.run(dom.Focus().WithBackendNodeID(n.ID))
}

// keys presses keys one after another. A key whose keydown event has an effect sends no
// character.
func (p *tab) keys(keys string) {
	p.t.Helper()
	p.run(chromedp.KeyEvent(keys, func(event *input.DispatchKeyEventParams) *input.DispatchKeyEventParams {
		if event.Type == input.KeyDown {
			event.Type = input.KeyRawDown
		}
		return event
	}))
}

// focused returns the focused element.
func (p *tab) focused() node {
	p.t.Helper()
	var element *runtime.RemoteObject
	p.run(chromedp.Evaluate("document.activeElement", &element))
	var found nodes
	p.call("Accessibility.getPartialAXTree", map[string]any{"objectId": element.ObjectID, "fetchRelatives": false}, &found)
	return found.Nodes[0]
}

// walk presses Tab until the element with a role and a name has the focus, and checks
// that each focus is visible.
func (p *tab) walk(role, name string) *tab {
	p.t.Helper()
	var passed []string
	for range 200 {
		p.keys(kb.Tab)
		n := p.focused()
		p.checkFocus(n)
		if n.Role.Value == role && n.Name.Value == name {
			return p
		}
		passed = append(passed, n.Role.Value+" "+n.Name.Value)
	}
	p.t.Fatalf("Tab never reaches %s %q, only to %q", role, name, passed)
	return nil
}

// checkFocus fails the test unless the focused element is in the window and its focus is
// visible.
func (p *tab) checkFocus(n node) {
	p.t.Helper()
	problem := eval[string](p, `(() => {
		const e = document.activeElement, style = getComputedStyle(e), box = e.getBoundingClientRect();
		if (e == document.body) return "";
		if (style.outlineStyle == "none" || parseFloat(style.outlineWidth) < 2) return "no outline";
		if (box.width == 0 || box.height == 0) return "no size";
		if (box.bottom <= 0 || box.top >= innerHeight || box.right <= 0 || box.left >= innerWidth) return "outside the window";
		return "";
	})()`)
	if problem != "" {
		p.t.Errorf("focus on %s %q: %s", n.Role.Value, n.Name.Value, problem)
	}
}
