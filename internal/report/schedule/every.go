package schedule

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"chairside/internal/civil"
)

// Every is a day of the week and a time of the day. It happens once in each week, whatever the clocks
// do: a time that they skip happens when they skip it, and one that they show twice happens the first time.
type Every struct {
	Weekday time.Weekday
	Minute  int // after midnight
}

// ErrEvery is the error of ParseEvery.
var ErrEvery = errors.New("must be a day of the week and a time, such as monday@07:00")

const (
	minutesPerHour = 60
	daysPerWeek    = 7
)

// ParseEvery parses a text such as monday@07:00.
func ParseEvery(text string) (Every, error) {
	name, at, _ := strings.Cut(text, "@")
	t, err := time.Parse("15:04", at)
	if err != nil || len(at) != len("15:04") {
		return Every{}, ErrEvery
	}
	for day := time.Sunday; day <= time.Saturday; day++ {
		if strings.EqualFold(name, day.String()) {
			return Every{day, t.Hour()*minutesPerHour + t.Minute()}, nil
		}
	}
	return Every{}, ErrEvery
}

// String is the text that ParseEvery parses.
func (e Every) String() string {
	return fmt.Sprintf("%s@%s", strings.ToLower(e.Weekday.String()), e.clock())
}

// clock is the time of the day: 07:00.
func (e Every) clock() string {
	return fmt.Sprintf("%02d:%02d", e.Minute/minutesPerHour, e.Minute%minutesPerHour)
}

// Next returns the first time after an instant.
func (e Every) Next(after time.Time, zone *time.Location) time.Time {
	day := e.on(civil.Of(after.In(zone)).AddDays(-1))
	for {
		if at := day.FirstAt(e.Minute, zone); at.After(after) {
			return at.UTC()
		}
		day = day.AddDays(daysPerWeek)
	}
}

// Latest returns the last time that is not after an instant.
func (e Every) Latest(now time.Time, zone *time.Location) time.Time {
	day := e.on(civil.Of(now.In(zone)).AddDays(1))
	for {
		if at := day.FirstAt(e.Minute, zone); !at.After(now) {
			return at.UTC()
		}
		day = day.AddDays(-daysPerWeek)
	}
}

// on returns the first day with the weekday that is not before a day.
func (e Every) on(day civil.Date) civil.Date {
	return day.AddDays(int(e.Weekday-day.Weekday()+daysPerWeek) % daysPerWeek)
}
