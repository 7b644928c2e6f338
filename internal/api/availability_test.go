package api_test

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"chairside/ent"
	"chairside/internal/diary"
	"chairside/internal/test/harness"
	"chairside/schema"
)

// mondays are sessions from 9:00 to 12:00 and from 13:00 to 17:00.
var mondays = []diary.Hours{{Weekday: time.Monday, Start: 540, Finish: 720}, {Weekday: time.Monday, Start: 780, Finish: 1020}}

// window returns the path of availability on monday, with changed parameters; "" leaves one
// out.
func window(practitioner any, changes ...map[string]string) string {
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

// free requests slots and returns each as "09:00-12:00 180".
func free(t *testing.T, e *harness.Env, token, path string) []string {
	t.Helper()
	res := e.Get(t, path, token).Status(t, 200)
	slots := []string{}
	for _, s := range res.List(t, "availability") {
		slot := s.(row)
		slots = append(slots, fmt.Sprintf("%s-%s %v", text(slot["start_time"])[11:16], text(slot["finish_time"])[11:16], slot["available_duration"]))
	}
	return slots
}

func TestAvailability(t *testing.T) {
	type appointment struct {
		start, finish string
		changes       row
	}
	cases := map[string]struct {
		booked []appointment
		asked  map[string]string
		want   []string
	}{
		"nothing booked":                    {want: []string{"09:00-12:00 180", "13:00-17:00 240"}},
		"in the middle":                     {booked: []appointment{{"10:00", "10:30", nil}}, want: []string{"09:00-10:00 60", "10:30-12:00 90", "13:00-17:00 240"}},
		"at the start and the end":          {booked: []appointment{{"09:00", "09:30", nil}, {"16:30", "17:00", nil}}, want: []string{"09:30-12:00 150", "13:00-16:30 210"}},
		"over the lunch break":              {booked: []appointment{{"11:30", "13:30", nil}}, want: []string{"09:00-11:30 150", "13:30-17:00 210"}},
		"fully booked":                      {booked: []appointment{{"08:00", "18:00", nil}}, want: []string{}},
		"cancelled appointment is free":     {booked: []appointment{{"09:00", "12:00", row{"state": "Cancelled"}}}, want: []string{"09:00-12:00 180", "13:00-17:00 240"}},
		"missed appointment is free":        {booked: []appointment{{"09:00", "12:00", row{"state": "Did not attend"}}}, want: []string{"09:00-12:00 180", "13:00-17:00 240"}},
		"completed appointment is not free": {booked: []appointment{{"09:00", "12:00", row{"state": "Completed"}}}, want: []string{"13:00-17:00 240"}},
		"forced appointment is not free":    {booked: []appointment{{"09:00", "12:00", nil}, {"11:00", "14:00", row{"force_changes": true}}}, want: []string{"14:00-17:00 180"}},
		"gaps of the practice's minimum":    {booked: []appointment{{"09:15", "10:00", nil}, {"10:14", "12:00", nil}}, want: []string{"09:00-09:15 15", "13:00-17:00 240"}},
		"gaps of a given length":            {booked: []appointment{{"09:15", "10:00", nil}, {"10:14", "12:00", nil}}, asked: map[string]string{"duration": "14"}, want: []string{"09:00-09:15 15", "10:00-10:14 14", "13:00-17:00 240"}},
		"longer than any slot":              {asked: map[string]string{"duration": "241"}, want: []string{}},
		"longer than one slot":              {asked: map[string]string{"duration": "240"}, want: []string{"13:00-17:00 240"}},
		"longer than any day":               {asked: map[string]string{"duration": "99999999999"}, want: []string{}},
		"a window that cuts":                {asked: map[string]string{"start_time": at("10:10"), "finish_time": at("13:30")}, want: []string{"10:10-12:00 110", "13:00-13:30 30"}},
		"a window in another offset":        {asked: map[string]string{"start_time": "2026-07-06T09:10:00Z", "finish_time": "2026-07-06T18:00:00+05:30"}, want: []string{"10:10-12:00 110", "13:00-13:30 30"}},
		"a window in local time":            {asked: map[string]string{"start_time": monday + "T10:10", "finish_time": monday + "T13:30:00"}, want: []string{"10:10-12:00 110", "13:00-13:30 30"}},
		"a window of dates":                 {asked: map[string]string{"start_time": monday, "finish_time": "2026-07-07"}, want: []string{"09:00-12:00 180", "13:00-17:00 240"}},
		"a window outside the sessions":     {asked: map[string]string{"start_time": at("12:00"), "finish_time": at("13:00")}, want: []string{}},
		"a window on a day off":             {asked: map[string]string{"start_time": "2026-07-07", "finish_time": "2026-07-12"}, want: []string{}},
		"a booking from the day before":     {booked: []appointment{{"", "", row{"start_time": "2026-07-05T22:00:00+01:00", "finish_time": at("09:45")}}}, want: []string{"09:45-12:00 135", "13:00-17:00 240"}},
	}
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "appointment")
		for name, c := range cases {
			t.Run(name, func(t *testing.T) {
				practitioner := hire(t, e, mondays...)
				for _, a := range c.booked {
					book(t, e, token, practitioner, a.start, a.finish, a.changes)
				}
				if got := free(t, e, token, window(practitioner, c.asked)); !slices.Equal(got, c.want) {
					t.Errorf("got %v, want %v", got, c.want)
				}
			})
		}
	})
}

func TestAvailabilitySlotHasEveryDocumentedField(t *testing.T) {
	kinds := map[string]string{"start_time": "datetime", "finish_time": "datetime", "available_duration": "int", "practitioner_id": "int"}
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		res := e.Get(t, window(hire(t, e, mondays...)), e.Token(t, "appointment")).Status(t, 200)
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
			got := free(t, e, token, window(practitioner, map[string]string{"start_time": date + "T00:00", "finish_time": date + "T23:59"}))
			if !slices.Equal(got, want) {
				t.Errorf("%s: got %v, want %v", day, got, want)
			}
		}
	})
}

// TestAvailabilityWithoutWorkReadsNoDiary: however long the window is.
func TestAvailabilityWithoutWorkReadsNoDiary(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token, left, closed := e.Token(t, ""), hire(t, e, mondays...), hire(t, e)
		dismiss(t, e, left)
		e.ChangePractice(t, func(p *ent.PracticeUpdateOne) { p.SetOpeningHours(schema.OpeningHours{}) })
		for name, practitioner := range map[string]int64{"who is inactive": left, "whose practice is closed": closed} {
			before := e.DB.RoundTrips()
			if got := free(t, e, token, window(practitioner, map[string]string{"start_time": monday, "finish_time": "2027-07-01"})); len(got) > 0 {
				t.Errorf("a practitioner %s: %v", name, got)
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
		token, practitioner := e.Token(t, ""), hire(t, e, mondays...)
		e.ChangePractice(t, func(p *ent.PracticeUpdateOne) {
			p.SetMinimumAppointmentDuration(200).SetOpeningHours(schema.OpeningHours{})
		})
		if got := e.Get(t, "/v1/practice", token).Text(t, "practice.minimum_appointment_duration"); got != "200" {
			t.Errorf("the practice shows %s", got)
		}
		if got, want := free(t, e, token, window(practitioner)), []string{"13:00-17:00 240"}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		if got := free(t, e, token, window(hire(t, e))); len(got) != 0 {
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
			res := e.Get(t, window(practitioner, map[string]string{"start_time": c.start, "finish_time": c.finish}), token).Status(t, 200)
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
		book(t, e, token, b, "09:30", "10:00")
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
				res := e.Get(t, window(practitioner, c.asked), token).Error(t, 400, "invalid_parameter", slices.Collect(maps.Keys(c.want))...)
				for key, message := range c.want {
					if got := res.Text(t, "error.params."+key+".0"); message != "" && got != message {
						t.Errorf("%s: %q, want %q", key, got, message)
					}
				}
			})
		}
		e.Get(t, window(practitioner, map[string]string{"finish_time": "2027-07-07T00:00:00+01:00"}), token).Status(t, 200) // 366 days
		theirs := first(t, e, elsewhere(t, e), "practitioners", "")
		e.Get(t, window(fmt.Sprint(practitioner, ",", theirs)), token).Error(t, 400, "invalid_parameter", "practitioner_ids")
		dismiss(t, e, practitioner)
		if got := free(t, e, token, window(practitioner)); len(got) != 0 {
			t.Errorf("an inactive practitioner: %v", got)
		}
	})
}

func TestAvailabilityIsPaged(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token, practitioner := e.Token(t, "appointment"), hire(t, e, mondays...)
		const slots = 2 * 26 // in half a year
		asked := map[string]string{"start_time": "2026-07-06", "finish_time": "2027-01-04"}
		for _, c := range []struct {
			page, size   string
			number, per  int
			first, shown int
			more         bool
		}{
			{"", "", 1, 20, 0, 20, true}, {"1", "", 1, 20, 0, 20, true}, {"2", "20", 2, 20, 20, 20, true}, {"3", "", 3, 20, 40, 12, false}, {"4", "", 4, 20, 52, 0, false},
			{"1", "1", 1, 1, 0, 1, true}, {"1", "21", 1, 20, 0, 20, true}, {"1", "1000", 1, 20, 0, 20, true}, {"13", "4", 13, 4, 48, 4, false}, {"12", "4", 12, 4, 44, 4, true}, {"52", "1", 52, 1, 51, 1, false},
			{"9223372036854775807", "20", 0, 20, slots, 0, false},
		} {
			asked["page"], asked["per_page"] = c.page, c.size
			res := e.Get(t, window(practitioner, asked), token).Status(t, 200)
			if got := len(res.List(t, "availability")); got != c.shown {
				t.Errorf("page %s of %s: %d slots, want %d", c.page, c.size, got, c.shown)
			}
			if c.shown > 0 {
				want := instant("2026-07-06").AddDate(0, 0, c.first/2*7).Format(time.DateOnly)
				if got := res.Text(t, "availability.0.start_time"); !strings.HasPrefix(got, want) {
					t.Errorf("page %s of %s starts at %s, want %s", c.page, c.size, got, want)
				}
			}
			meta := res.At(t, "meta").(row)
			if c.number > 0 && (meta["page"] != jsonNumber(c.number) || meta["current_page"] != jsonNumber(c.number)) || meta["per_page"] != jsonNumber(c.per) || meta["more"] != c.more || len(meta) != 4 {
				t.Errorf("page %s of %s: meta %v", c.page, c.size, meta)
			}
		}
	})
}

// TestAvailabilityAndBookingsFillTheSessions: over seven weeks, more than one statement reads;
// every slot can be booked.
func TestAvailabilityAndBookingsFillTheSessions(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "appointment")
		var daily []diary.Hours
		for day := time.Sunday; day <= time.Saturday; day++ {
			daily = append(daily, diary.Hours{Weekday: day, Start: 0, Finish: 1440})
		}
		practitioner := hire(t, e, daily...)
		start := instant("2026-10-01")
		booked := 0
		for i := range 40 { // from half an hour to 24 hours, over midnights and the change of the clocks
			from, length := start.Add(time.Duration(i*29+i*i%7)*time.Hour), time.Duration(30+i*i*37%1411)*time.Minute
			e.Post(t, "/v1/appointments", token, row{"appointment": row{"practitioner_id": practitioner, "reason": "Exam", "start_time": shown(from), "finish_time": shown(from.Add(length))}}).Status(t, 201)
			booked += int(length.Minutes())
		}
		asked := map[string]string{"start_time": "2026-10-01", "finish_time": "2026-11-19", "duration": "1"}
		var slots []row
		for page, more := 1, true; more; page++ {
			asked["page"] = fmt.Sprint(page)
			res := e.Get(t, window(practitioner, asked), token).Status(t, 200)
			for _, s := range res.List(t, "availability") {
				slots = append(slots, s.(row))
			}
			more = res.At(t, "meta.more").(bool)
		}
		offered, last := 0, start
		for _, slot := range slots {
			from, until := instant(text(slot["start_time"])), instant(text(slot["finish_time"]))
			if from.Before(last) || int64(until.Sub(from).Minutes()) != number(slot["available_duration"]) {
				t.Errorf("after %s comes %v", last, slot)
			}
			offered, last = offered+int(until.Sub(from).Minutes()), until
			e.Post(t, "/v1/appointments", token, row{"appointment": change(slot, row{"practitioner_id": practitioner, "reason": "Exam"})}).Status(t, 201)
		}
		if want := 49*1440 + 60 - booked; offered != want {
			t.Errorf("slots of %d minutes, want %d", offered, want)
		}
	})
}
