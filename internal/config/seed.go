package config

import (
	"strconv"

	"chairside/internal/civil"
)

// SeedFlags are the flags of "chairside seed".
type SeedFlags struct {
	Database
	Patients   string `placeholder:"N" default:"2100" help:"Number of patients in the main practice. Default: ${default}"`
	Years      string `placeholder:"N" default:"1" help:"Years of history. Default: ${default}"`
	RandomSeed string `placeholder:"N" default:"1" help:"Seed of the random numbers. The same seed creates the same data. Default: ${default}"`
	AsOf       string `placeholder:"DATE" help:"Last day of the history, YYYY-MM-DD. Default: today."`
}

// Seed is the parsed SeedFlags.
type Seed struct {
	Database   Database
	Patients   int
	Years      int
	RandomSeed int64
	AsOf       civil.Date // zero if not given
}

// The limits of --patients and --years.
const (
	maxPatients = 5_000_000
	maxYears    = 50
)

// Read checks the flags. The error is Mistakes, with everything that is wrong.
func (f SeedFlags) Read() (Seed, error) {
	var m Mistakes
	c := Seed{Database: f.Database}
	f.Database.check(&m)
	c.Patients = readCount(&m, "patients", f.Patients, maxPatients)
	c.Years = readCount(&m, "years", f.Years, maxYears)
	var err error
	if c.RandomSeed, err = strconv.ParseInt(f.RandomSeed, 10, 64); err != nil {
		m.add("random-seed", "must be a whole number")
	}
	if f.AsOf != "" {
		if c.AsOf, err = civil.Parse(f.AsOf); err != nil {
			m.add("as-of", "%v", err)
		}
	}
	return c, m.err()
}

// Validate reports every mistake in the flags; the parser calls it.
func (f SeedFlags) Validate() error {
	_, err := f.Read()
	return err
}

func readCount(m *Mistakes, flag, text string, most int) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		m.add(flag, "must be a whole number from 1 to %d", most)
	}
	return n
}
