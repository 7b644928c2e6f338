package browser

import (
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"chairside/internal/seed"
)

// TestDiaryIsToScale: hours are equally high, and an entry is as high as its time, whatever its text.
func TestDiaryIsToScale(t *testing.T) {
	t.Parallel()
	p := open(t, start(t))
	p.signIn(seed.DemoAdmin)
	for _, address := range []string{"/diary", "/diary?by=room"} {
		p.visit(address)
		day := eval[struct {
			Hours   []float64
			Entries int
			Wrong   []string
		}](p, `(() => {
			const hours = [], wrong = [];
			let entries = 0;
			for (const site of document.querySelectorAll(".timeline")) {
				const tops = [...site.querySelectorAll(".clock span")].map(e => e.getBoundingClientRect().top);
				for (let i = 1; i < tops.length; i++) hours.push(tops[i] - tops[i - 1]);
				const slot = (tops[1] - tops[0]) / 12, number = (e, name) => +e.className.match(new RegExp("\\b" + name + "-(\\d+)"))[1];
				for (const e of site.querySelectorAll(".entry")) {
					entries++;
					const {top, height} = e.getBoundingClientRect();
					if (Math.abs(top - tops[0] - (number(e, "at") - 1) * slot) > 2) wrong.push("begins at " + (top - tops[0]) + ": " + e.title);
					if (Math.abs(height - number(e, "for") * slot) > 3) wrong.push("is " + height + " high: " + e.title);
				}
			}
			return {Hours: hours, Entries: entries, Wrong: wrong};
		})()`)
		if len(day.Hours) < 2 || day.Entries == 0 {
			t.Fatalf("%s: %d hours, %d entries", address, len(day.Hours), day.Entries)
		}
		for i, height := range day.Hours {
			if difference := height - day.Hours[0]; difference > 0.5 || difference < -0.5 {
				t.Errorf("%s: hour %d is %v high, the first %v", address, i+1, height, day.Hours[0])
			}
		}
		for _, wrong := range day.Wrong {
			t.Errorf("%s: an entry %s", address, wrong)
		}
	}
}

// TestDiaryShowsLongTextsWhole: the title of an entry has its whole text, and the entry grows under the
// pointer until it shows it.
func TestDiaryShowsLongTextsWhole(t *testing.T) {
	t.Parallel()
	p := open(t, start(t))
	p.signIn(seed.DemoAdmin)
	p.visit("/diary")
	const isCut = `e => e.querySelector(".text").scrollHeight > e.querySelector(".text").clientHeight + 1`
	missing := eval[[]string](p, `[...document.querySelectorAll(".entry")].flatMap(e =>
		[...e.querySelectorAll("b:not(.alert b), .state, .more")].flatMap(part => part.innerText.split(" · "))
			.map(text => text.replace(/\s+/g, " ").trim()).filter(text => text && !e.title.replace(/\s+/g, " ").includes(text)))`)
	if len(missing) > 0 {
		t.Errorf("the titles lack %q", missing)
	}
	cut := eval[struct {
		Cut  bool
		X, Y float64
	}](p, `(() => {
		const [e] = [...document.querySelectorAll(".entry:has(.more)")].sort((a, b) => a.clientHeight - b.clientHeight);
		e.id = "cut";
		e.querySelector(".more").append(" and further words".repeat(100)); // not every day of the demo has a long text
		e.scrollIntoView({block: "center", behavior: "instant"});
		const {left, top, width, height} = e.getBoundingClientRect();
		return {Cut: (`+isCut+`)(e), X: left + width / 2, Y: top + height / 2};
	})()`)
	if !cut.Cut {
		t.Fatal("a long text is not cut")
	}
	p.run(chromedp.MouseEvent(input.MouseMoved, cut.X, cut.Y))
	p.until("the entry shows its whole text", func() bool {
		return eval[bool](p, `!(`+isCut+`)(document.getElementById("cut"))`)
	})
}
