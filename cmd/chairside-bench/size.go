package main

import (
	"fmt"
	"strconv"
	"strings"
)

// size is how much there is in a database.
type size struct {
	Name            string
	Patients, Years int
}

// sizes are named after the number of appointments that come of them: about
// 2.53 a patient and year.
var sizes = []size{
	{"20k", 2_650, 3},
	{"2M", 265_000, 3},
	{"10M", 660_000, 6},
}

// The sizes that the targets speak of.
const (
	smallest = "20k"
	judged   = "2M"
	largest  = "10M"
)

// UnmarshalText reads one of the names, or PATIENTSxYEARS for another size.
func (s *size) UnmarshalText(text []byte) error {
	for _, known := range sizes {
		if strings.EqualFold(known.Name, string(text)) {
			*s = known
			return nil
		}
	}
	patients, years, _ := strings.Cut(string(text), "x")
	p, patientsErr := strconv.Atoi(patients)
	y, yearsErr := strconv.Atoi(years)
	if patientsErr != nil || yearsErr != nil || p < 1 || y < 1 {
		return fmt.Errorf("%q is neither 20k, 2M, 10M nor PATIENTSxYEARS", text)
	}
	*s = size{string(text), p, y}
	return nil
}

// database is the name of the seeded database.
func (s size) database() string { return "chairside_bench_" + strings.ToLower(s.Name) }

// copy is the name of the copy that a run works on where the seeded database is
// kept.
func (s size) copy() string { return s.database() + "_run" }
