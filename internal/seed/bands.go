package seed

import (
	"time"

	"chairside/internal/civil"
	"chairside/internal/decimal"
)

// patientCharges are what patients in England pay the NHS for a course of treatment of band 1, 2
// and 3 from 1 April of a year on. An urgent course costs as much as band 1.
var patientCharges = []struct {
	from            int
	one, two, three decimal.Decimal
}{
	{2017, 20_60, 56_30, 244_30},
	{2018, 21_60, 59_10, 256_50},
	{2019, 22_70, 62_10, 269_30},
	{2021, 23_80, 65_20, 282_80},
	{2023, 25_80, 70_70, 306_80},
	{2024, 26_80, 73_50, 319_10},
	{2025, 27_40, 75_30, 326_70},
	{2026, 27_90, 76_60, 332_10}, // SI 2026/265
}

// chargeOf returns the patient's charge for a course of a band in the contract year that begins in
// the given year. Years outside patientCharges have those of the nearest one in it.
func chargeOf(band string, year int) decimal.Decimal {
	c := patientCharges[0]
	for _, next := range patientCharges {
		if next.from <= year {
			c = next
		}
	}
	switch band {
	case "":
		return 0
	case "1", bandUrgent:
		return c.one
	case "3":
		return c.three
	}
	return c.two
}

// The bands that courses are compared with.
const (
	bandUrgent = "urgent"
	bandTwoB   = "2b" // three or more teeth filled or taken out, or the root canal of a front tooth
)

// units are the units of dental activity of a course of treatment, by band.
var units = map[string]decimal.Decimal{"": 0, "1": 1_00, bandUrgent: 1_20, "2a": 3_00, bandTwoB: 5_00, "2c": 7_00, "3": 12_00}

// higher returns the higher of two bands, which a course falls into.
func higher(a, b string) string {
	if units[b] > units[a] {
		return b
	}
	return a
}

// contractYear returns the first day of a date's NHS contract year, in which prices are the same.
func contractYear(d civil.Date) civil.Date {
	if d.Month < time.April {
		return civil.Date{Year: d.Year - 1, Month: time.April, Day: 1}
	}
	return civil.Date{Year: d.Year, Month: time.April, Day: 1}
}
