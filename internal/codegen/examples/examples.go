// Package examples is the source of ogent/example_test.go: the generator copies it. Here
// it is compiled and linted where it is edited; there go test runs it, and go doc and
// documentation sites find it.
package examples

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"chairside/internal/test/harness"
	"chairside/ogent"
)

// connect returns a client that sends a User-Agent and an access token with each request.
func connect(server, token string) *ogent.Client {
	client, err := ogent.NewClient(server+"/v1", ogent.WithRequestEditor(func(_ context.Context, r *http.Request) error {
		r.Header.Set("User-Agent", "Recall letters/1.0 (it@practice.example)")
		r.Header.Set("Authorization", "Bearer "+token)
		return nil
	}))
	if err != nil {
		panic(err) // the address is malformed
	}
	return client
}

// Example connects to a server. It may be "chairside serve --demo", which prints its
// address and a token.
func Example() {
	server := harness.NewSandbox()
	defer server.Close()

	client, err := ogent.NewClient(server.URL+"/v1", ogent.WithRequestEditor(func(_ context.Context, r *http.Request) error {
		r.Header.Set("User-Agent", "Recall letters/1.0 (it@practice.example)")
		r.Header.Set("Authorization", "Bearer "+server.Token)
		return nil
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	practice, err := client.GetPractice(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(practice.Practice.TimeZone)
	// Output: Europe/London
}

// Example_list reads the first two patients by last name.
func Example_list() {
	server := harness.NewSandbox()
	defer server.Close()
	client := connect(server.URL, server.Token)

	list, err := client.ListPatients(context.Background(), ogent.ListPatientsParams{
		Active:  ogent.NewOptBool(true),
		SortBy:  ogent.NewOptString("last_name"),
		PerPage: ogent.NewOptInt(2),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(list.Patients), "patients on page", list.Meta.Page)
	fmt.Println("in order:", list.Patients[0].LastName <= list.Patients[1].LastName)
	// Output:
	// 2 patients on page 1
	// in order: true
}

// Example_everyPage reads all patients that have changed since a time. Ordering by id
// keeps the pages apart while records are added.
func Example_everyPage() {
	server := harness.NewSandbox()
	defer server.Close()
	client := connect(server.URL, server.Token)

	var changed []ogent.Patient
	for page, pages := 1, 1; page <= pages; page++ {
		list, err := client.ListPatients(context.Background(), ogent.ListPatientsParams{
			UpdatedAfter: ogent.NewOptDateTime(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)),
			SortBy:       ogent.NewOptString("id"),
			Page:         ogent.NewOptInt(page),
			PerPage:      ogent.NewOptInt(25),
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		changed, pages = append(changed, list.Patients...), list.Meta.TotalPages
	}
	fmt.Println(len(changed), "patients")
	// Output: 60 patients
}

// Example_book finds a free slot and books it. Booking it again is refused with 409; the error
// lists the appointments that overlap.
func Example_book() {
	server := harness.NewSandbox()
	defer server.Close()
	client, ctx := connect(server.URL, server.Token), context.Background()

	practitioners, err := client.ListPractitioners(ctx, ogent.ListPractitionersParams{Active: ogent.NewOptBool(true)})
	if err != nil {
		fmt.Println(err)
		return
	}
	asked := ogent.ListAvailabilityParams{
		StartTime:  ogent.NewOptDateTime(time.Date(2026, 7, 6, 8, 0, 0, 0, time.UTC)),
		FinishTime: ogent.NewOptDateTime(time.Date(2026, 8, 6, 18, 0, 0, 0, time.UTC)),
		Duration:   ogent.NewOptInt(30),
	}
	for _, p := range practitioners.Practitioners {
		asked.PractitionerIds = append(asked.PractitionerIds, p.ID)
	}
	slots, err := client.ListAvailability(ctx, asked)
	if err != nil || len(slots.Availability) == 0 {
		fmt.Println("no slot is free:", err)
		return
	}

	slot := slots.Availability[0]
	booking := &ogent.AppointmentInputRequest{Appointment: ogent.AppointmentInput{
		PractitionerID: ogent.NewOptInt64(slot.PractitionerID),
		StartTime:      ogent.NewOptDateTime(slot.StartTime),
		FinishTime:     ogent.NewOptDateTime(slot.StartTime.Add(30 * time.Minute)),
		Reason:         ogent.NewOptString("Exam"),
	}}
	first, err := client.CreateAppointment(ctx, booking)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(first.Appointment.State, first.Appointment.Duration, "minutes")

	_, err = client.CreateAppointment(ctx, booking)
	var refused *ogent.ErrorStatusCode
	if errors.As(err, &refused) && refused.StatusCode == http.StatusConflict {
		fmt.Println(refused.Response.Error.Code)
		for _, c := range refused.Response.Error.Conflicts {
			fmt.Println("overlaps the first booking:", c.ID == first.Appointment.ID)
		}
	}

	booking.Appointment.ForceChanges = ogent.NewOptBool(true) // book despite the overlap
	_, err = client.CreateAppointment(ctx, booking)
	fmt.Println("forced:", err)
	// Output:
	// Pending 30 minutes
	// double_booking
	// overlaps the first booking: true
	// forced: <nil>
}

// Example_validation creates a patient from an incomplete form. The error has all
// messages about each field, to show beside it.
func Example_validation() {
	server := harness.NewSandbox()
	defer server.Close()
	client := connect(server.URL, server.Token)

	_, err := client.CreatePatient(context.Background(), &ogent.PatientInputRequest{Patient: ogent.PatientInput{
		Title:        ogent.NewOptString("Ms"),
		FirstName:    ogent.NewOptString("Ada"),
		LastName:     ogent.NewOptString(" "),
		DateOfBirth:  ogent.NewOptDate(time.Date(2085, 3, 9, 0, 0, 0, 0, time.UTC)),
		Gender:       ogent.NewOptBool(false),
		Ethnicity:    ogent.NewOptString("A"),
		AddressLine1: ogent.NewOptString("4 Mill Lane"),
		EmailAddress: ogent.NewOptNilString("ada at practice.example"),
	}})
	var refused *ogent.ErrorStatusCode
	if errors.As(err, &refused) && refused.StatusCode == http.StatusUnprocessableEntity {
		params := refused.Response.Error.Params.Value
		for _, field := range slices.Sorted(maps.Keys(params)) {
			fmt.Println(field, params[field])
		}
	}
	// Output:
	// date_of_birth [must not be in the future]
	// email_address [must be an e-mail address]
	// last_name [can't be blank]
	// payment_plan_id [is missing]
	// postcode [is missing]
}

// Example_ifMatch changes a patient unless someone else has changed it since it was read; in
// that case the server responds 412.
func Example_ifMatch() {
	server := harness.NewSandbox()
	defer server.Close()
	client, ctx := connect(server.URL, server.Token), context.Background()

	var tag string
	_, err := client.GetPatient(ctx, ogent.GetPatientParams{ID: 1}, ogent.WithEditResponse(func(r *http.Response) error {
		tag = r.Header.Get("ETag")
		return nil
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	rename := func(name string) error {
		body := &ogent.PatientInputRequest{Patient: ogent.PatientInput{PreferredName: ogent.NewOptNilString(name)}}
		_, err := client.UpdatePatient(ctx, body, ogent.UpdatePatientParams{ID: 1}, ogent.WithEditRequest(func(r *http.Request) error {
			r.Header.Set("If-Match", tag)
			return nil
		}))
		return err
	}
	fmt.Println("first:", rename("Ada"))
	var refused *ogent.ErrorStatusCode
	if errors.As(rename("Addy"), &refused) {
		fmt.Println("second:", refused.StatusCode, refused.Response.Error.Code)
	}
	// Output:
	// first: <nil>
	// second: 412 version_mismatch
}

// Example_retry repeats a write, as a client does that lost the connection before the response.
// Because both requests have the same Idempotency-Key, the server makes one note.
func Example_retry() {
	server := harness.NewSandbox()
	defer server.Close()
	client, ctx := connect(server.URL, server.Token), context.Background()

	key, replayed := uuid.NewString(), ""
	leave := func() (*ogent.NoteResponse, error) {
		body := &ogent.NoteInputRequest{Note: ogent.NoteInput{PatientID: ogent.NewOptInt64(1), Body: ogent.NewOptString("Prefers mornings.")}}
		return client.CreateNote(ctx, body,
			ogent.WithEditRequest(func(r *http.Request) error {
				r.Header.Set("Idempotency-Key", key)
				return nil
			}),
			ogent.WithEditResponse(func(r *http.Response) error {
				replayed = r.Header.Get("Idempotency-Replayed")
				return nil
			}))
	}
	first, err := leave()
	if err != nil {
		fmt.Println(err)
		return
	}
	again, err := leave()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("the same note:", again.Note.ID == first.Note.ID)
	fmt.Println("replayed:", replayed)
	// Output:
	// the same note: true
	// replayed: true
}
