package browser

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"chairside/ent"
	"chairside/ent/appointment"
	"chairside/internal/seal"
	"chairside/internal/seed"
	"chairside/internal/test/harness"
	"chairside/schema"
)

// bookBriefly books a patient for five minutes, and returns the day.
func bookBriefly(t *testing.T, e *harness.Env) string {
	t.Helper()
	ctx := e.As(t, seed.DemoSlug)
	a := e.DB.Ent.Appointment.Query().Where(appointment.StateEQ(schema.Confirmed), appointment.PatientIDNotNil(), appointment.StartTimeGT(e.Clock.Now())).
		Order(appointment.ByStartTime(), appointment.ByID()).FirstX(ctx)
	e.Tx(t, ctx, func(tx *ent.Client) error {
		return tx.Appointment.Create().SetPracticeID(a.PracticeID).SetPractitionerID(a.PractitionerID).SetPatientID(*a.PatientID).
			SetStartTime(a.FinishTime).SetFinishTime(a.FinishTime.Add(5 * time.Minute)).SetReason("Review").SetState(schema.Pending).Exec(ctx)
	})
	return a.StartTime.Format(time.DateOnly)
}

// TestDiaryIsToScale: hours are equally high, and an entry is as high as its time, whatever its text, and
// high enough to be read and tapped.
func TestDiaryIsToScale(t *testing.T) {
	t.Parallel()
	e := start(t)
	p := open(t, e)
	p.signIn(seed.DemoAdmin)
	for _, address := range []string{"/diary", "/diary?by=room", "/diary?to=" + bookBriefly(t, e)} {
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
					if (Math.abs(top - tops[0] - (number(e, "at") - 1) * slot) > 2) wrong.push("begins at " + (top - tops[0]) + ": " + e.innerText);
					if (Math.abs(height - number(e, "for") * slot) > 3) wrong.push("is " + height + " high: " + e.innerText);
					const target = e.querySelector("summary")?.getBoundingClientRect();
					if (target && Math.min(target.width, target.height) < 24) wrong.push("is too small to be tapped: " + e.innerText);
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

// cutDiary makes the text of the shortest appointment of the page long, and returns where it is and the
// name of its button.
const cutDiary = `(() => {
	const [e] = [...document.querySelectorAll(".entry:has(.whole)")].sort((a, b) => a.clientHeight - b.clientHeight);
	e.id = "cut";
	e.querySelector(".text > :last-child").append(" and further words".repeat(60)); // not every day of the demo has a long text
	e.scrollIntoView({block: "center", behavior: "instant"});
	const {left, top, width, height} = e.getBoundingClientRect();
	return {Name: e.querySelector("summary").innerText.trim(), X: left + width / 2, Y: top + height / 2};
})()`

// isWhole reports whether the entry that cutDiary chose shows all of its text.
const isWhole = `(() => {
	const e = document.getElementById("cut"), box = e.getBoundingClientRect();
	return [...e.querySelectorAll(".text, .text > p, .text b:not([aria-hidden]), .state, .until")].every(part => {
		const {top, right, bottom, left, height} = part.getBoundingClientRect();
		return height > 0 && left >= box.left && right <= box.right + 1 && top >= box.top && bottom <= box.bottom + 1 && part.scrollHeight <= Math.max(part.clientHeight, height) + 1;
	});
})()`

// TestDiaryShowsLongTextsWhole: an entry shows its whole text under the pointer, and once it is opened by
// a key or a tap.
func TestDiaryShowsLongTextsWhole(t *testing.T) {
	t.Parallel()
	p := open(t, start(t))
	p.signIn(seed.DemoAdmin)
	whole := func(what string, want bool) {
		t.Helper()
		p.until(what, func() bool { return eval[bool](p, isWhole) == want })
	}
	p.visit("/diary")
	type target struct {
		Name string
		X, Y float64
	}
	cut := eval[target](p, cutDiary)
	whole("a long text is cut", false)
	p.run(chromedp.MouseEvent(input.MouseMoved, cut.X, cut.Y))
	whole("the entry under the pointer shows its whole text", true)
	p.run(chromedp.MouseEvent(input.MouseMoved, 1, 1))
	whole("the entry is cut again", false)

	p.walk("DisclosureTriangleGrouped", cut.Name).keys(kb.Enter)
	whole("the entry opened by a key shows its whole text", true)
	p.keys(kb.Enter)
	whole("a key closes the entry", false)

	tap := func(at target) {
		t.Helper()
		p.run(
			input.DispatchTouchEvent(input.TouchStart, []*input.TouchPoint{{X: at.X, Y: at.Y}}),
			input.DispatchTouchEvent(input.TouchEnd, []*input.TouchPoint{}),
		)
	}
	p.run(chromedp.EmulateViewport(1024, 768, chromedp.EmulateTouch)) // a tablet
	p.visit("/diary")
	tap(eval[target](p, cutDiary))
	whole("the entry opened by a tap shows its whole text", true)
	tap(eval[target](p, `(() => {
		const {left, top, width, height} = document.querySelector("#cut summary").getBoundingClientRect();
		if (width < 44 || height < 44) throw "the button is " + width + " by " + height;
		return {X: left + width / 2, Y: top + height / 2};
	})()`))
	p.until("a tap closes the entry", func() bool { return eval[bool](p, `!document.querySelector("#cut [open]")`) })
}

// TestDiaryCutsNoParagraph: an entry on the timeline shows its other paragraphs whole or not at all, so that
// no part of an alert is taken for the whole, and its time in any case. Lists on phones and on paper show all.
func TestDiaryCutsNoParagraph(t *testing.T) {
	t.Parallel()
	p := open(t, start(t))
	p.signIn(seed.DemoAdmin)
	for _, address := range []string{"/diary", "/diary?by=room"} {
		p.visit(address)
		eval[bool](p, `(() => { // alerts of all lengths
			[...document.querySelectorAll(".entry:has(.whole) .text > :first-child")].forEach((first, i) => {
				const alert = document.createElement("p");
				alert.className = "alert";
				alert.textContent = "Alert: severe allergy".concat(" to latex".repeat(i % 20));
				first.after(alert);
			});
			return true;
		})()`)
		for _, window := range []size{{768, 1024, false}, {1024, 768, false}, desktop, {1920, 1080, false}} {
			p.resize(window, "light")
			cut := eval[[]string](p, `[...document.querySelectorAll(".entry .text")].flatMap(text => {
				const box = text.getBoundingClientRect(), entry = text.parentElement.getBoundingClientRect();
				const within = e => { const r = e.getBoundingClientRect(); return r.bottom <= box.bottom + 1 && r.left < box.right && r.height > 0; };
				const wrong = [...text.querySelectorAll("p:not(:first-child)")].filter(e => !within(e) && e.getBoundingClientRect().left < box.right);
				if (!within(text.querySelector(".when"))) wrong.push(text.querySelector(".when"));
				if (box.bottom > entry.bottom + 1) wrong.push(text);
				return wrong;
			}).map(e => e.innerText)`)
			for _, text := range cut {
				t.Errorf("%s at %d: %q is cut", address, window.width, text)
			}
		}
		const hidden = `[...document.querySelectorAll(".entry .text")].filter(text => {
			const box = text.getBoundingClientRect();
			return getComputedStyle(text).overflow != "visible" || [...text.children].some(e => e.getBoundingClientRect().bottom > box.bottom + 1 || e.getBoundingClientRect().height == 0);
		}).map(e => e.innerText)`
		p.resize(phone, "light")
		if cut := eval[[]string](p, hidden); len(cut) > 0 {
			t.Errorf("%s on a phone: %q are cut", address, cut)
		}
		p.resize(desktop, "light")
		p.run(emulation.SetEmulatedMedia().WithMedia("print"))
		if cut := eval[[]string](p, hidden); len(cut) > 0 {
			t.Errorf("%s on paper: %q are cut", address, cut)
		}
		p.run(emulation.SetEmulatedMedia())
	}
}

// TestDiaryShowsAlertsWhole: the timeline has a list of the alerts, which is as long as their texts.
func TestDiaryShowsAlertsWhole(t *testing.T) {
	t.Parallel()
	e := start(t)
	ctx := e.As(t, seed.DemoSlug)
	today := e.DB.Ent.Appointment.Query().Where(appointment.PatientIDNotNil(), appointment.StateEQ(schema.Confirmed), appointment.StartTimeGT(e.Clock.Now())).
		Order(appointment.ByStartTime(), appointment.ByID()).Limit(3).AllX(ctx)
	e.Tx(t, ctx, func(tx *ent.Client) error {
		for i, a := range today {
			alert := strings.Repeat("Severe allergy to latex. ", 10*i+1)
			if err := tx.Patient.UpdateOneID(*a.PatientID).SetMedicalAlert(true).SetMedicalAlertText(seal.Plain(alert)).Exec(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	p := open(t, e)
	p.signIn(seed.DemoAdmin)
	p.visit("/diary?to=" + today[0].StartTime.Format(time.DateOnly))
	for _, window := range []size{{768, 1024, false}, desktop} {
		p.resize(window, "light")
		alerts := eval[struct {
			Listed, Entries []string
			Cut             int
		}](p, `(() => {
			const texts = (parts, prefix) => [...document.querySelectorAll(parts)].map(e => e.textContent.replace(prefix, "").trim()).sort();
			return {
				Listed: texts(".alerts .alert", ""), Entries: texts(".entry .alert", "Alert:"),
				Cut: [...document.querySelectorAll(".alerts, .alerts *")].filter(e => !e.checkVisibility() || e.scrollHeight > e.clientHeight + 1 && getComputedStyle(e).overflow != "visible").length,
			};
		})()`)
		if len(alerts.Entries) == 0 || !slices.Equal(alerts.Listed, alerts.Entries) || alerts.Cut > 0 {
			t.Errorf("at %d: the list has %q, the entries %q; %d are cut", window.width, alerts.Listed, alerts.Entries, alerts.Cut)
		}
	}
}
