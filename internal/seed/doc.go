// Package seed generates a demo practice, for trying out and testing the program. The
// same options always generate the same data, ids included.
//
//	err := seed.Run(ctx, db, seed.Options{RandomSeed: 1, AsOf: civil.MustParse("2026-07-01")})
//
// The main practice has the slug "demo"; a second, small one, "second", has data that
// the first must not see. The data end at ten o'clock on AsOf, or at Now: years of history before,
// half a year of bookings after. Nothing has happened after that minute. The diaries are about 80% full
// in the months before and the weeks after that day, if the practice has DefaultPatients or more. The
// practice is closed on the bank holidays of England: its diaries are blocked and no patient is seen.
//
// Sites are open when somebody has a shift there. What a patient is treated for, is warned of and has
// noted about them suits their age and sex: see medicine.go.
//
// How a practice is generated, file by file:
//
//	blueprint.go   number of sites, practitioners and rotas
//	practice.go    sites, rooms, a paused webhook; the generator
//	catalogue.go   payment plans, treatments, fees, products
//	lists.go       acquisition sources, appointment reasons, custom fields
//	staff.go       users, practitioners, their working sessions and breaks
//	bands.go       NHS bands, their units and patient charges of each year
//	nhs.go         contracts and claims
//	names.go       names of people; cultures.go: the names of each culture
//	places.go      addresses, and telephone numbers reserved for drama
//	households.go  households
//	people.go      patient records
//	story.go       a patient's history: check-ups, hygiene, emergencies
//	personas.go    the patients with a story, who come first
//	course.go      a course of treatment, from the first visit to the claim
//	visit.go       an appointment with its states; cancellations.go: why it was cancelled
//	recalls.go     recalls; waiting.go: the waiting list
//	notes.go       notes; referrals.go: referrals
//	medicine.go    for which ages and sex alerts, treatments, notes and answers are
//	diary.go       free and busy times
//	money.go       invoices and payments
//	calendar.go    days and local times; holidays.go: bank holidays
//	random.go      random choices and ids
//	batch.go       loading rows
//
// Patients are generated one by one and written in batches of a thousand, so memory does
// not grow with their number. A large load into an empty PostgreSQL database drops the
// indexes first. No hooks run; derived columns come from the same functions of package
// schema.
package seed
