package api_test

import (
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"chairside/ent"
	"chairside/internal/diary"
	"chairside/internal/test/harness"
	"chairside/ogent"
	"chairside/schema"
)

// mondays are sessions from 9:00 to 12:00 and from 13:00 to 17:00.
var mondays = []diary.Hours{{Weekday: time.Monday, Start: 540, Finish: 720}, {Weekday: time.Monday, Start: 780, Finish: 1020}}

// option changes what is asked of availability.
type option = func(*ogent.ListAvailabilityParams)

func between(start, finish string) option {
	return func(p *ogent.ListAvailabilityParams) {
		p.StartTime.SetTo(instant(start))
		p.FinishTime.SetTo(instant(finish))
	}
}

func lasting(minutes int) option {
	return func(p *ogent.ListAvailabilityParams) { p.Duration.SetTo(minutes) }
}

// window asks for the free time of monday, with changes.
func window(who int64, changes ...option) ogent.ListAvailabilityParams {
	p := ogent.ListAvailabilityParams{PractitionerIds: []int64{who}}
	for _, change := range append([]option{between(at("00:00"), at("23:59"))}, changes...) {
		change(&p)
	}
	return p
}

// rawWindow is window as a path, with changes that the client cannot send; a change to ""
// leaves a parameter out.
func rawWindow(practitioner any, changes ...map[string]string) string {
	query := url.Values{"start_time": {at("00:00")}, "finish_time": {monday + "T23:59:00+01:00"}, "practitioner_ids[]": {fmt.Sprint(practitioner)}}
	for _, c := range changes {
		for name, value := range c {
			if query.Set(name, value); value == "" {
				query.Del(name)
			}
		}
	}
	return "/v1/appointments/availability?" + query.Encode()
}

// free asks for slots and writes each as "09:00-12:00 180".
func free(t *testing.T, c *ogent.Client, asked ogent.ListAvailabilityParams) []string {
	t.Helper()
	slots := []string{}
	for _, s := range harness.Call(t, c.ListAvailability, asked).Availability {
		slots = append(slots, fmt.Sprintf("%s-%s %d", s.StartTime.Format("15:04"), s.FinishTime.Format("15:04"), s.AvailableDuration))
	}
	return slots
}

func TestAvailability(t *testing.T) {
	type appointment struct {
		start, finish string
		sets          []set
	}
	fromTheDayBefore := []set{starts(instant("2026-07-05T22:00:00+01:00")), finishesAt("09:45")}
	gaps := []appointment{{"09:15", "10:00", nil}, {"10:14", "12:00", nil}}
	cases := map[string]struct {
		booked []appointment
		asked  []option
		want   []string
	}{
		"nothing booked":                       {want: []string{"09:00-12:00 180", "13:00-17:00 240"}},
		"in the middle":                        {booked: []appointment{{"10:00", "10:30", nil}}, want: []string{"09:00-10:00 60", "10:30-12:00 90", "13:00-17:00 240"}},
		"at the start and the end":             {booked: []appointment{{"09:00", "09:30", nil}, {"16:30", "17:00", nil}}, want: []string{"09:30-12:00 150", "13:00-16:30 210"}},
		"over the lunch break":                 {booked: []appointment{{"11:30", "13:30", nil}}, want: []string{"09:00-11:30 150", "13:30-17:00 210"}},
		"booked out":                           {booked: []appointment{{"08:00", "18:00", nil}}, want: []string{}},
		"a cancelled one leaves the time free": {booked: []appointment{{"09:00", "12:00", []set{state("Cancelled")}}}, want: []string{"09:00-12:00 180", "13:00-17:00 240"}},
		"so does one that was not attended":    {booked: []appointment{{"09:00", "12:00", []set{state("Did not attend")}}}, want: []string{"09:00-12:00 180", "13:00-17:00 240"}},
		"a completed one does not":             {booked: []appointment{{"09:00", "12:00", []set{state("Completed")}}}, want: []string{"13:00-17:00 240"}},
		"a forced one does not":                {booked: []appointment{{"09:00", "12:00", nil}, {"11:00", "14:00", []set{forced}}}, want: []string{"14:00-17:00 180"}},
		"gaps of the practice's minimum":       {booked: gaps, want: []string{"09:00-09:15 15", "13:00-17:00 240"}},
		"gaps of a given length":               {booked: gaps, asked: []option{lasting(14)}, want: []string{"09:00-09:15 15", "10:00-10:14 14", "13:00-17:00 240"}},
		"longer than any":                      {asked: []option{lasting(241)}, want: []string{}},
		"longer than one":                      {asked: []option{lasting(240)}, want: []string{"13:00-17:00 240"}},
		"longer than any day":                  {asked: []option{lasting(math.MaxInt)}, want: []string{}},
		"a window that cuts":                   {asked: []option{between(at("10:10"), at("13:30"))}, want: []string{"10:10-12:00 110", "13:00-13:30 30"}},
		"a window in another offset":           {asked: []option{between("2026-07-06T09:10:00Z", "2026-07-06T18:00:00+05:30")}, want: []string{"10:10-12:00 110", "13:00-13:30 30"}},
		"a window outside the sessions":        {asked: []option{between(at("12:00"), at("13:00"))}, want: []string{}},
		"a window on a day off":                {asked: []option{between("2026-07-07", "2026-07-12")}, want: []string{}},
		"a booking from the day before":        {booked: []appointment{{"09:00", "09:45", fromTheDayBefore}}, want: []string{"09:45-12:00 135", "13:00-17:00 240"}},
	}
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		c := e.Client(t, e.Token(t, "appointment"))
		for name, test := range cases {
			t.Run(name, func(t *testing.T) {
				who := hire(t, e, mondays...)
				for _, a := range test.booked {
					book(t, c, who, a.start, a.finish, a.sets...)
				}
				if got := free(t, c, window(who, test.asked...)); !slices.Equal(got, test.want) {
					t.Errorf("got %v, want %v", got, test.want)
				}
			})
		}
	})
}

// TestAvailabilityTakesTimesInEveryForm: local times, and dates.
func TestAvailabilityTakesTimesInEveryForm(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token, who := e.Token(t, "appointment"), hire(t, e, mondays...)
		for _, c := range []struct{ start, finish, want string }{
			{monday + "T10:10", monday + "T13:30:00", "[10:10 110 13:00 30]"},
			{monday, "2026-07-07", "[09:00 180 13:00 240]"},
		} {
			res := e.Get(t, rawWindow(who, map[string]string{"start_time": c.start, "finish_time": c.finish}), token).Status(t, 200)
			var got []string
			for _, s := range res.List(t, "availability") {
				got = append(got, text(s.(row)["start_time"])[11:16], text(s.(row)["available_duration"]))
			}
			if fmt.Sprint(got) != c.want {
				t.Errorf("%s to %s: got %v, want %s", c.start, c.finish, got, c.want)
			}
		}
	})
}

func TestAvailabilitySlotHasEveryDocumentedField(t *testing.T) {
	kinds := map[string]string{"start_time": "datetime", "finish_time": "datetime", "available_duration": "int", "practitioner_id": "int"}
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		res := e.Get(t, rawWindow(hire(t, e, mondays...)), e.Token(t, "appointment")).Status(t, 200)
		for _, slot := range res.List(t, "availability") {
			checkFields(t, e, kinds, slot.(row))
		}
		checkFields(t, e, map[string]string{"page": "int", "current_page": "int", "per_page": "int", "more": "bool"}, res.At(t, "meta").(row))
	})
}

func TestAvailabilityFallsBackToOpeningHours(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token, practitioner := e.Token(t, ""), hire(t, e)
		hours := e.Get(t, "/v1/practice", token).At(t, "practice.opening_hours").(row)
		for day, date := range map[string]string{"Monday": monday, "Saturday": "2026-07-11", "Sunday": "2026-07-12"} {
			want := []string{}
			if open, isOpen := hours[day].(row); isOpen {
				from, until := instant(date+"T"+text(open["open"])+":00Z"), instant(date+"T"+text(open["close"])+":00Z")
				want = append(want, fmt.Sprintf("%v-%v %v", open["open"], open["close"], until.Sub(from).Minutes()))
			}
			got := free(t, e.Client(t, token), window(practitioner, between(date, instant(date).Add(24*time.Hour-time.Minute).Format(time.RFC3339))))
			if !slices.Equal(got, want) {
				t.Errorf("%s: got %v, want %v", day, got, want)
			}
		}
	})
}

// TestAvailabilityWithoutWorkReadsNoDiary: however long the window is.
func TestAvailabilityWithoutWorkReadsNoDiary(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		c, left, closed := e.Client(t, e.Token(t, "")), hire(t, e, mondays...), hire(t, e)
		dismiss(t, e, left)
		e.ChangePractice(t, func(p *ent.PracticeUpdateOne) { p.SetOpeningHours(schema.OpeningHours{}) })
		for name, practitioner := range map[string]int64{"who is inactive": left, "whose practice is closed": closed} {
			before := e.DB.RoundTrips()
			if got := free(t, c, window(practitioner, between(monday, "2027-07-01"))); len(got) > 0 {
				t.Errorf("of somebody %s: %v", name, got)
			}
			const most = 3 // the token, its last use, and the working hours
			if trips := e.DB.RoundTrips() - before; trips > most {
				t.Errorf("a practitioner %s: %d round trips", name, trips)
			}
		}
	})
}

func TestAvailabilityDurationDefaultsToThePracticesMinimum(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		c, practitioner := e.Client(t, e.Token(t, "")), hire(t, e, mondays...)
		e.ChangePractice(t, func(p *ent.PracticeUpdateOne) {
			p.SetMinimumAppointmentDuration(200).SetOpeningHours(schema.OpeningHours{})
		})
		if got, err := c.GetPractice(t.Context()); err != nil || got.Practice.MinimumAppointmentDuration != 200 {
			t.Errorf("the practice shows %+v, %v", got, err)
		}
		if got, want := free(t, c, window(practitioner)), []string{"13:00-17:00 240"}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		if got := free(t, c, window(hire(t, e))); len(got) != 0 {
			t.Errorf("without sessions and opening hours: %v", got)
		}
	})
}

// TestAvailabilityAcrossClockChanges: sessions are on Sunday nights and mornings.
func TestAvailabilityAcrossClockChanges(t *testing.T) {
	cases := map[string]struct{ start, finish, want string }{
		"October, 25 hours": {"2026-10-25", "2026-10-26",
			"2026-10-25T00:00:00.000+01:00 2026-10-25T03:00:00.000+00:00 240, 2026-10-25T09:00:00.000+00:00 2026-10-25T10:00:00.000+00:00 60"},
		"March, 23 hours": {"2027-03-28", "2027-03-29",
			"2027-03-28T00:00:00.000+00:00 2027-03-28T03:00:00.000+01:00 120, 2027-03-28T09:00:00.000+01:00 2027-03-28T10:00:00.000+01:00 60"},
		"from within the repeated hour": {"2026-10-25T01:30:00Z", "2026-10-25T04:00:00Z", "2026-10-25T01:30:00.000+00:00 2026-10-25T03:00:00.000+00:00 90"},
		"until within the first of it":  {"2026-10-24T12:00:00Z", "2026-10-25T00:30:00Z", "2026-10-25T00:00:00.000+01:00 2026-10-25T01:30:00.000+01:00 90"},
	}
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "appointment")
		practitioner := hire(t, e, diary.Hours{Weekday: time.Sunday, Start: 0, Finish: 180}, diary.Hours{Weekday: time.Sunday, Start: 540, Finish: 600})
		for name, c := range cases {
			res := e.Get(t, rawWindow(practitioner, map[string]string{"start_time": c.start, "finish_time": c.finish}), token).Status(t, 200)
			var got []string
			for _, s := range res.List(t, "availability") {
				slot := s.(row)
				got = append(got, fmt.Sprint(slot["start_time"], " ", slot["finish_time"], " ", slot["available_duration"]))
			}
			if strings.Join(got, ", ") != c.want {
				t.Errorf("%s: got %v, want %s", name, got, c.want)
			}
		}
	})
}

func TestAvailabilityIsOrderedByStartThenPractitioner(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "appointment")
		a, b := hire(t, e, mondays...), hire(t, e, mondays...)
		book(t, e.Client(t, token), b, "09:30", "10:00")
		want := fmt.Sprintf("[09:00 %d 09:00 %d 10:00 %d 13:00 %d 13:00 %d]", a, b, b, a, b)
		both := url.Values{"start_time": {at("00:00")}, "finish_time": {at("23:00")}}.Encode() + "&"
		for _, notation := range []string{"practitioner_ids[]=%[2]d&practitioner_ids[]=%[1]d", "practitioner_ids[0]=%d&practitioner_ids[1]=%d", "practitioner_ids=%d,%d", "practitioner_ids[]=%d,%d", "practitioner_ids=%d&practitioner_ids[]=%d", "practitioner_ids=%[1]d,%[2]d,%[1]d"} {
			res := e.Get(t, "/v1/appointments/availability?"+both+fmt.Sprintf(notation, a, b), token).Status(t, 200)
			var got []string
			for _, s := range res.List(t, "availability") {
				slot := s.(row)
				got = append(got, text(slot["start_time"])[11:16], text(slot["practitioner_id"]))
			}
			if fmt.Sprint(got) != want || res.Header.Get("X-Unknown-Parameters") != "" {
				t.Errorf("%s: got %v, want %s", notation, got, want)
			}
		}
	})
}

// TestAvailabilityErrorsNameTheOffendingParameters: and no others.
func TestAvailabilityErrorsNameTheOffendingParameters(t *testing.T) {
	const future, missing, after = "must be in the future", "is missing", "must be after start_time"
	cases := map[string]struct {
		asked map[string]string
		want  map[string]string
	}{
		"no parameters":               {map[string]string{"start_time": "", "finish_time": "", "practitioner_ids[]": ""}, map[string]string{"start_time": missing, "finish_time": missing, "practitioner_ids": missing}},
		"no start":                    {map[string]string{"start_time": ""}, map[string]string{"start_time": missing}},
		"no finish":                   {map[string]string{"finish_time": ""}, map[string]string{"finish_time": missing}},
		"no practitioners":            {map[string]string{"practitioner_ids[]": ""}, map[string]string{"practitioner_ids": missing}},
		"start now":                   {map[string]string{"start_time": "2026-07-01T09:15:00Z"}, map[string]string{"start_time": future}},
		"start in the past":           {map[string]string{"start_time": "2026-07-01"}, map[string]string{"start_time": future}},
		"both in the past":            {map[string]string{"start_time": "2026-06-01", "finish_time": "2026-06-30"}, map[string]string{"start_time": future, "finish_time": future}},
		"a year after a past start":   {map[string]string{"start_time": "2020-01-01", "finish_time": "2027-01-02"}, map[string]string{"start_time": future}},
		"finish in the past":          {map[string]string{"finish_time": "2026-06-30"}, map[string]string{"finish_time": future}},
		"finish at start":             {map[string]string{"finish_time": at("00:00")}, map[string]string{"finish_time": after}},
		"finish before start":         {map[string]string{"finish_time": "2026-07-05"}, map[string]string{"finish_time": after}},
		"past start and no finish":    {map[string]string{"start_time": "2026-06-01", "finish_time": ""}, map[string]string{"start_time": future, "finish_time": missing}},
		"366 days and a second":       {map[string]string{"finish_time": "2027-07-07T00:00:01+01:00"}, map[string]string{"finish_time": ""}},
		"malformed start":             {map[string]string{"start_time": "soon"}, map[string]string{"start_time": ""}},
		"malformed practitioner":      {map[string]string{"practitioner_ids[]": "Hetty"}, map[string]string{"practitioner_ids": ""}},
		"unknown practitioner":        {map[string]string{"practitioner_ids[]": "999999"}, map[string]string{"practitioner_ids": ""}},
		"practitioner beyond 64 bits": {map[string]string{"practitioner_ids[]": "99999999999999999999999"}, map[string]string{"practitioner_ids": ""}},
		"duration of 0":               {map[string]string{"duration": "0"}, map[string]string{"duration": ""}},
		"negative duration":           {map[string]string{"duration": "-15"}, map[string]string{"duration": ""}},
		"malformed duration":          {map[string]string{"duration": "short"}, map[string]string{"duration": ""}},
		"page below 1":                {map[string]string{"page": "0", "per_page": "0"}, map[string]string{"page": "", "per_page": ""}},
	}
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token, practitioner := e.Token(t, "appointment"), hire(t, e, mondays...)
		for name, c := range cases {
			t.Run(name, func(t *testing.T) {
				res := e.Get(t, rawWindow(practitioner, c.asked), token).Error(t, 400, "invalid_parameter", slices.Collect(maps.Keys(c.want))...)
				for key, message := range c.want {
					if got := res.Text(t, "error.params."+key+".0"); message != "" && got != message {
						t.Errorf("%s: %q, want %q", key, got, message)
					}
				}
			})
		}
		e.Get(t, rawWindow(practitioner, map[string]string{"finish_time": "2027-07-07T00:00:00+01:00"}), token).Status(t, 200) // 366 days
		theirs := first(t, e, elsewhere(t, e), "practitioners", "")
		e.Get(t, rawWindow(fmt.Sprint(practitioner, ",", theirs)), token).Error(t, 400, "invalid_parameter", "practitioner_ids")
		dismiss(t, e, practitioner)
		if got := free(t, e.Client(t, token), window(practitioner)); len(got) != 0 {
			t.Errorf("of one who cannot be booked: %v", got)
		}
	})
}

func TestAvailabilityIsPaged(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token, who := e.Token(t, "appointment"), hire(t, e, mondays...)
		client := e.Client(t, token)
		const slots = 2 * 26 // of half a year
		for _, c := range []struct {
			page, size   int // asked for, 0 is not
			number, per  int
			first, shown int
			more         bool
		}{
			{0, 0, 1, 20, 0, 20, true}, {1, 0, 1, 20, 0, 20, true}, {2, 20, 2, 20, 20, 20, true}, {3, 0, 3, 20, 40, 12, false}, {4, 0, 4, 20, 52, 0, false},
			{1, 1, 1, 1, 0, 1, true}, {1, 21, 1, 20, 0, 20, true}, {1, 1000, 1, 20, 0, 20, true}, {13, 4, 13, 4, 48, 4, false}, {12, 4, 12, 4, 44, 4, true}, {52, 1, 52, 1, 51, 1, false},
			{math.MaxInt, 20, 0, 20, slots, 0, false},
		} {
			list := harness.Call(t, client.ListAvailability, window(who, between("2026-07-06", "2027-01-04"), func(p *ogent.ListAvailabilityParams) {
				p.Page, p.PerPage = ogent.OptInt{Value: c.page, Set: c.page > 0}, ogent.OptInt{Value: c.size, Set: c.size > 0}
			}))
			if got := len(list.Availability); got != c.shown {
				t.Errorf("page %d of %d: %d slots, want %d", c.page, c.size, got, c.shown)
			}
			if c.shown > 0 {
				want := instant("2026-07-06").AddDate(0, 0, c.first/2*7).Format(time.DateOnly)
				if got := list.Availability[0].StartTime.Format(time.DateOnly); got != want {
					t.Errorf("page %d of %d starts at %s, want %s", c.page, c.size, got, want)
				}
			}
			if m := list.Meta; c.number > 0 && (m.Page != c.number || m.CurrentPage != c.number) || m.PerPage != c.per || m.More != c.more {
				t.Errorf("page %d of %d: meta %+v", c.page, c.size, m)
			}
		}
	})
}

// TestAvailabilityAndBookingsFillTheSessions: over seven weeks, more than one statement reads;
// every slot can be booked.
func TestAvailabilityAndBookingsFillTheSessions(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		c := e.Client(t, e.Token(t, "appointment"))
		var daily []diary.Hours
		for day := time.Sunday; day <= time.Saturday; day++ {
			daily = append(daily, diary.Hours{Weekday: day, Start: 0, Finish: 1440})
		}
		who := hire(t, e, daily...)
		start := instant("2026-10-01")
		booked := 0
		for i := range 40 { // from half an hour to 24 hours, over midnights and the change of the clocks
			from, length := start.Add(time.Duration(i*29+i*i%7)*time.Hour), time.Duration(30+i*i*37%1411)*time.Minute
			book(t, c, who, "09:00", "09:30", starts(from), finishes(from.Add(length)))
			booked += int(length.Minutes())
		}
		var slots []ogent.AvailabilitySlot
		for page, more := 1, true; more; page++ {
			list := harness.Call(t, c.ListAvailability, window(who, between("2026-10-01", "2026-11-19"), lasting(1), func(p *ogent.ListAvailabilityParams) { p.Page.SetTo(page) }))
			slots, more = append(slots, list.Availability...), list.Meta.More
		}
		offered, last := 0, start
		for _, slot := range slots {
			length := slot.FinishTime.Sub(slot.StartTime)
			if slot.StartTime.Before(last) || int(length.Minutes()) != slot.AvailableDuration {
				t.Errorf("after %s comes %+v", last, slot)
			}
			offered, last = offered+int(length.Minutes()), slot.FinishTime
			book(t, c, slot.PractitionerID, "09:00", "09:30", starts(slot.StartTime), finishes(slot.FinishTime))
		}
		if want := 49*1440 + 60 - booked; offered != want {
			t.Errorf("slots of %d minutes, want %d", offered, want)
		}
	})
}
