package browser

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// violation is a finding of axe-core.
type violation struct {
	ID     string   `json:"id"`
	Impact string   `json:"impact"`
	Help   string   `json:"help"`
	Where  []string `json:"where"`
}

// checkAccessibility fails the test for each finding of axe-core, best practices
// included. axe is injected through the protocol, because the page's policy allows no
// foreign script.
func (p *tab) checkAccessibility(axe string) {
	p.t.Helper()
	var found []violation
	awaited := func(q *runtime.EvaluateParams) *runtime.EvaluateParams { return q.WithAwaitPromise(true) }
	if eval[bool](p, "!window.axe") {
		p.run(chromedp.Evaluate(axe, nil))
	}
	p.run(
		chromedp.Evaluate(`axe.run(document, {resultTypes: ["violations"], preload: false}).then(result => result.violations.map(v =>
			({id: v.id, impact: v.impact, help: v.help, where: v.nodes.map(n => n.html + " " + n.failureSummary)})))`, &found, awaited),
	)
	for _, v := range found {
		p.t.Errorf("axe: %s (%s): %s\n%s", v.ID, v.Impact, v.Help, strings.Join(v.Where, "\n"))
	}
}

// axeSource is the source of axe-core, which npm installs once.
var axeSource = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "chairside-axe-*")
	if err != nil {
		return "", err
	}
	leftOver = append(leftOver, func() { os.RemoveAll(dir) })
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "axe"))); err != nil {
		return "", err
	}
	npm := exec.Command("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")
	npm.Dir = dir
	if out, err := npm.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm ci: %w\n%s", err, out)
	}
	source, err := os.ReadFile(filepath.Join(dir, "node_modules", "axe-core", "axe.min.js"))
	return string(source), err
})

// axeCore returns the source of axe-core. Without npm it skips the test, or fails it if
// CI=true.
func axeCore(t testing.TB) string {
	t.Helper()
	source, err := axeSource()
	require(t, "no axe-core: ", err)
	return source
}
