package main

import (
	"fmt"
	"strconv"
	"strings"
)

// size is the size of a database.
type size struct {
	Name            string
	Patients, Years int
}

// sizes are named for their number of appointments: about 2.53 per patient and year.
var sizes = []size{
	{"20k", 2_650, 3},
	{"2M", 265_000, 3},
	{"10M", 660_000, 6},
}

// The sizes of the targets.
const (
	smallest = "20k"
	judged   = "2M"
	largest  = "10M"
)

// UnmarshalText parses a name, or PATIENTSxYEARS.
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
		return fmt.Errorf("%q must be 20k, 2M, 10M or PATIENTSxYEARS", text)
	}
	*s = size{string(text), p, y}
	return nil
}

// database is the name of the seeded database.
func (s size) database() string { return "chairside_bench_" + strings.ToLower(s.Name) }

// copy is the name of the copy of a kept database.
func (s size) copy() string { return s.database() + "_run" }
