package diary_test

import (
	"slices"
	"testing"
	"time"

	"chairside/internal/civil"
	"chairside/internal/diary"
)

var day = time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)

// at returns a period of the day in minutes after midnight.
func at(start, finish int) diary.Period {
	return diary.Period{Start: day.Add(time.Duration(start) * time.Minute), Finish: day.Add(time.Duration(finish) * time.Minute)}
}

func TestOverlaps(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b diary.Period
		want bool
	}{
		{"apart", at(0, 10), at(20, 30), false},
		{"touching", at(0, 10), at(10, 20), false},
		{"by a minute", at(0, 11), at(10, 20), true},
		{"inside", at(0, 30), at(10, 20), true},
		{"same", at(0, 30), at(0, 30), true},
		{"same start", at(0, 30), at(0, 5), true},
	} {
		if got := c.a.Overlaps(c.b); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		if got := c.b.Overlaps(c.a); got != c.want {
			t.Errorf("%s, the other way round: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestFree(t *testing.T) {
	whole := at(0, 1440)
	for _, c := range []struct {
		name       string
		open, busy []diary.Period
		window     diary.Period
		minutes    int
		want       []diary.Period
	}{
		{"nothing booked", []diary.Period{at(540, 1020)}, nil, whole, 15, []diary.Period{at(540, 1020)}},
		{"closed", nil, nil, whole, 15, nil},
		{"one booking in the middle", []diary.Period{at(540, 1020)}, []diary.Period{at(600, 630)}, whole, 15, []diary.Period{at(540, 600), at(630, 1020)}},
		{"booking at the start", []diary.Period{at(540, 1020)}, []diary.Period{at(540, 570)}, whole, 15, []diary.Period{at(570, 1020)}},
		{"booking over the end", []diary.Period{at(540, 1020)}, []diary.Period{at(1000, 1100)}, whole, 15, []diary.Period{at(540, 1000)}},
		{"fully booked", []diary.Period{at(540, 1020)}, []diary.Period{at(500, 1100)}, whole, 15, nil},
		{"bookings unsorted and overlapping", []diary.Period{at(540, 1020)}, []diary.Period{at(700, 720), at(600, 660), at(630, 650), at(655, 690)}, whole, 15, []diary.Period{at(540, 600), at(720, 1020)}},
		{"gap of exactly the minutes", []diary.Period{at(540, 600)}, []diary.Period{at(540, 570)}, whole, 30, []diary.Period{at(570, 600)}},
		{"gap one minute short", []diary.Period{at(540, 600)}, []diary.Period{at(540, 571)}, whole, 30, nil},
		{"cut to the window", []diary.Period{at(540, 1020)}, nil, at(600, 660), 15, []diary.Period{at(600, 660)}},
		{"window between sessions", []diary.Period{at(540, 600), at(700, 800)}, nil, at(600, 700), 1, nil},
		{"two sessions", []diary.Period{at(540, 600), at(700, 800)}, []diary.Period{at(590, 710)}, whole, 15, []diary.Period{at(540, 590), at(710, 800)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			busy := slices.Clone(c.busy)
			got := diary.Free(c.open, busy, c.window, c.minutes)
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
			if !slices.Equal(busy, c.busy) {
				t.Error("the bookings were reordered")
			}
		})
	}
}

// FuzzFree checks Free against a search minute by minute: no slot is missing, too short or
// busy, and free and busy time add up to open time.
func FuzzFree(f *testing.F) {
	f.Add([]byte{60, 120, 140, 200}, []byte{70, 90, 85, 100}, uint8(0), uint8(255), uint8(1))
	f.Add([]byte{10, 20}, []byte{0, 255}, uint8(5), uint8(15), uint8(3))
	f.Fuzz(func(t *testing.T, openBytes, busyBytes []byte, from, until, least uint8) {
		minutes := int(least%30) + 1
		var weekly []diary.Hours
		for _, p := range pairs(openBytes) {
			weekly = append(weekly, diary.Hours{Weekday: day.Weekday(), Start: p[0], Finish: p[1]})
		}
		var busy []diary.Period
		for _, p := range pairs(busyBytes) {
			busy = append(busy, at(p[0], p[1]))
		}
		open := diary.On(civil.Of(day), weekly, time.UTC)
		window := at(int(from), int(until))
		free := diary.Free(open, busy, window, minutes)
		every := diary.Free(open, busy, at(0, 1440), 1)
		if got, want := diary.Length(every)+diary.Covered(open, busy), diary.Length(open); got != want {
			t.Errorf("free and busy add up to %v, want %v", got, want)
		}
		if got := diary.Without(open, busy); !slices.Equal(got, every) {
			t.Errorf("without the busy periods %v are left, want %v", got, every)
		}

		for i, p := range free {
			if p.Minutes() < minutes {
				t.Errorf("%v is shorter than %d minutes", p, minutes)
			}
			if i > 0 && !free[i-1].Finish.Before(p.Start) {
				t.Errorf("%v and %v are adjacent or out of order", free[i-1], p)
			}
		}
		isIn := func(periods []diary.Period, minute int) bool {
			return slices.ContainsFunc(periods, func(p diary.Period) bool { return p.Overlaps(at(minute, minute+1)) })
		}
		run := 0 // how many minutes in a row could be free
		for m := range 257 {
			could := isIn(open, m) && !isIn(busy, m) && window.Overlaps(at(m, m+1))
			if isIn(free, m) && !could {
				t.Errorf("minute %d is in a slot but not free", m)
			}
			if could {
				run++
				continue
			}
			if run >= minutes && !isIn(free, m-1) {
				t.Errorf("the %d minutes before minute %d are free but in no slot", run, m)
			}
			run = 0
		}
	})
}

func pairs(b []byte) (all [][2]int) {
	for len(b) >= 2 && len(all) < 20 {
		all = append(all, [2]int{int(b[0]), int(b[1])})
		b = b[2:]
	}
	return all
}

func TestOnFollowsTheClocks(t *testing.T) {
	london, err := time.LoadLocation("Europe/London")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, day string
		hours     [][2]int // of Sundays
		want      []string // start and finish in UTC
	}{
		{"summer", "2026-07-05", [][2]int{{540, 1020}}, []string{"08:00", "16:00"}},
		{"winter", "2026-01-04", [][2]int{{540, 1020}}, []string{"09:00", "17:00"}},
		{"adjacent sessions are joined", "2026-07-05", [][2]int{{780, 1020}, {540, 780}}, []string{"08:00", "16:00"}},
		{"overlapping sessions are joined", "2026-07-05", [][2]int{{540, 800}, {780, 1020}, {600, 610}}, []string{"08:00", "16:00"}},
		{"empty and reversed sessions are ignored", "2026-07-05", [][2]int{{600, 600}, {700, 650}}, nil},
		{"a night shift in March is an hour shorter", "2026-03-29", [][2]int{{0, 180}}, []string{"00:00", "02:00"}},
		{"a session within the skipped hour is ignored", "2026-03-29", [][2]int{{60, 120}}, nil},
		{"a session that starts in the skipped hour starts after it", "2026-03-29", [][2]int{{90, 180}}, []string{"01:00", "02:00"}},
		{"a night shift in October is an hour longer", "2026-10-25", [][2]int{{0, 180}}, []string{"23:00", "03:00"}},
		{"a session within the repeated hour is worked both times", "2026-10-25", [][2]int{{60, 120}}, []string{"00:00", "02:00"}},
		{"the whole day of 25 hours", "2026-10-25", [][2]int{{0, 1440}}, []string{"23:00", "00:00"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var weekly []diary.Hours
			for _, h := range c.hours {
				weekly = append(weekly, diary.Hours{Weekday: time.Sunday, Start: h[0], Finish: h[1]}, diary.Hours{Weekday: time.Monday, Start: 0, Finish: 1440})
			}
			var got []string
			for _, p := range diary.On(civil.MustParse(c.day), weekly, london) {
				got = append(got, p.Start.UTC().Format("15:04"), p.Finish.UTC().Format("15:04"))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestCovered(t *testing.T) {
	for _, c := range []struct {
		name       string
		open, busy []diary.Period
		want       int
	}{
		{"nothing booked", []diary.Period{at(540, 1020)}, nil, 0},
		{"closed", nil, []diary.Period{at(540, 1020)}, 0},
		{"inside", []diary.Period{at(540, 1020)}, []diary.Period{at(600, 630)}, 30},
		{"over both ends", []diary.Period{at(540, 600)}, []diary.Period{at(500, 700)}, 60},
		{"touching", []diary.Period{at(540, 600)}, []diary.Period{at(500, 540), at(600, 700)}, 0},
		{"twice", []diary.Period{at(540, 600)}, []diary.Period{at(550, 570), at(560, 580)}, 30},
		{"one booking over two sessions", []diary.Period{at(660, 720), at(540, 600)}, []diary.Period{at(590, 670)}, 20},
		{"two sessions that overlap", []diary.Period{at(540, 600), at(570, 630)}, []diary.Period{at(560, 610)}, 50},
	} {
		if got := diary.Covered(c.open, c.busy); got != time.Duration(c.want)*time.Minute {
			t.Errorf("%s: %v, want %d minutes", c.name, got, c.want)
		}
	}
}

func TestLength(t *testing.T) {
	if got := diary.Length([]diary.Period{at(60, 90), at(0, 10), at(80, 100), at(5, 5)}); got != 50*time.Minute {
		t.Errorf("got %v, want 50 minutes", got)
	}
}

func TestOpening(t *testing.T) {
	for _, c := range []struct {
		from, until string
		want        diary.Hours
		ok          bool
	}{
		{"09:00", "17:30", diary.Hours{Weekday: time.Friday, Start: 540, Finish: 1050}, true},
		{"", "", diary.Hours{}, false},
		{"09:00", "late", diary.Hours{}, false},
	} {
		if got, ok := diary.Opening(time.Friday, c.from, c.until); got != c.want || ok != c.ok {
			t.Errorf("%s to %s: %v %v", c.from, c.until, got, ok)
		}
	}
}
