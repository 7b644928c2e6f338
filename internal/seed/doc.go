// Package seed makes up a dental practice, to try the program with and to test
// it on: the same numbers make the same data, ids included.
//
//	err := seed.Run(ctx, db, seed.Options{RandomSeed: 1, AsOf: civil.MustParse("2026-07-01")})
//
// The main practice has the slug "demo", a second small one "second", so that
// there is somebody else whose data must not be seen. Everything lies around
// AsOf, on which it is ten o'clock in the morning: years of history before it,
// half a year of bookings after it.
//
// How a practice comes about, file by file:
//
//	blueprint.go   how many sites, practitioners and rotas it has
//	practice.go    its sites and rooms; the generator that all else hangs on
//	catalogue.go   payment plans, treatments, fees, products
//	lists.go       acquisition sources, appointment reasons, custom fields
//	staff.go       users, practitioners, their working sessions and breaks
//	nhs.go         contracts, and claims for what was done under them
//	names.go       names of many languages
//	places.go      addresses and telephone numbers that ring nowhere
//	households.go  who lives together
//	people.go      what is on file about each patient
//	story.go       a patient's life: check-ups, hygiene, emergencies
//	course.go      a course of treatment, from the first visit to the claim
//	visit.go       an appointment: booked, stamped with its states, or missed
//	diary.go       who is free when
//	money.go       invoices and payments, which agree to the penny
//	calendar.go    days, and what the clocks show on them
//	random.go      the source of choices and ids
//	batch.go       rows on their way into the database
//
// Patients are made up one after the other and written by the thousand, so
// memory does not grow with their number. An empty PostgreSQL database is
// loaded without its indexes when there are many. No hook runs: what hooks
// derive comes from the same functions of package schema.
package seed
