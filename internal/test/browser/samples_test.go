package browser

import "testing"

// TestSampleLanguage: the language of the sample that the reader opened last is open on other operations.
func TestSampleLanguage(t *testing.T) {
	t.Parallel()
	p := open(t, start(t))
	const opened = `[...document.querySelectorAll('details[name="sample"][open] > summary')].map(s => s.textContent).join()`
	shows := func(language string) {
		t.Helper()
		p.until("only the sample in "+language+" is open", func() bool { return eval[string](p, opened) == language })
	}
	unfold := func(language string) { p.press(p.find("DisclosureTriangleGrouped", language)) }
	p.visit("/docs/operations/createAppointment")
	shows("curl")
	unfold("Python")
	shows("Python")
	p.visit("/docs/operations/listPatients")
	shows("Python")
	unfold("Go")
	p.visit("/docs/operations/getPatient")
	shows("Go")
}
