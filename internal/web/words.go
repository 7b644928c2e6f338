package web

import (
	"fmt"
	"strconv"
	"time"
)

// Timestamp is a time as a datetime attribute and as text.
type Timestamp struct{ Machine, Words string }

const (
	dayLayout  = "2 Jan 2006"
	timeLayout = dayLayout + ", 15:04"
)

// At formats a time in the practice's time zone: "1 Jul 2026, 10:15".
func (v view) At(t time.Time) Timestamp {
	return Timestamp{t.UTC().Format(time.RFC3339), t.In(v.zone).Format(timeLayout)}
}

// Precisely formats a time of today as "10:15:07", and others with their day.
func (v view) Precisely(t time.Time) Timestamp {
	m, local := v.At(t), t.In(v.zone)
	if today := v.now.In(v.zone); local.YearDay() == today.YearDay() && local.Year() == today.Year() {
		m.Words = local.Format("15:04:05")
	} else {
		m.Words = local.Format(dayLayout + ", 15:04:05")
	}
	return m
}

// Until formats an expiry: "the end of 31 Jul 2026" for midnight, else a time.
func (v view) Until(t time.Time) Timestamp {
	m := v.At(t)
	if local := t.In(v.zone); local.Hour() == 0 && local.Minute() == 0 {
		m.Words = "the end of " + local.AddDate(0, 0, -1).Format(dayLayout)
	}
	return m
}

// Ago formats a past time: "2 hours ago".
func (v view) Ago(t time.Time) Timestamp {
	m := v.At(t)
	switch past := v.now.Sub(t); {
	case past < time.Minute:
		m.Words = "just now"
	case past < time.Hour:
		m.Words = ago(int(past/time.Minute), "minute")
	case past < 24*time.Hour:
		m.Words = ago(int(past/time.Hour), "hour")
	case past < 14*24*time.Hour:
		m.Words = ago(int(past/(24*time.Hour)), "day")
	}
	return m
}

// Used formats a last use, which is stored to the hour.
func (v view) Used(t time.Time) Timestamp {
	m := v.Ago(t)
	if v.now.Sub(t) < time.Hour {
		m.Words = "within the last hour"
	}
	return m
}

// thousands formats a number: "3,600".
func thousands(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// ago returns "1 hour ago" or "2 hours ago".
func ago(n int, unit string) string {
	if n == 1 {
		return "1 " + unit + " ago"
	}
	return fmt.Sprintf("%d %ss ago", n, unit)
}
