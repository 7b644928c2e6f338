package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"chairside/internal/test/harness"
	"chairside/ogent"
)

// field changes what is sent about a patient.
type field = func(*ogent.PatientInput)

// person is a body that has what is set alone.
func person(fields ...field) *ogent.PatientInputRequest {
	body := &ogent.PatientInputRequest{}
	for _, change := range fields {
		change(&body.Patient)
	}
	return body
}

// newPatient is the body of a patient with nothing but what is required, with changes.
func newPatient(t *testing.T, c *ogent.Client, fields ...field) *ogent.PatientInputRequest {
	t.Helper()
	plan := harness.Call(t, c.ListPaymentPlans, ogent.ListPaymentPlansParams{Active: ogent.NewOptBool(true)}).PaymentPlans[0].ID
	return person(append([]field{func(in *ogent.PatientInput) {
		*in = ogent.PatientInput{
			Title: ogent.NewOptString("Mrs"), FirstName: ogent.NewOptString("Ada"), LastName: ogent.NewOptString("Okonkwo-Łuczak"), DateOfBirth: ogent.NewOptDate(instant("1985-03-09")),
			Gender: ogent.NewOptBool(false), Ethnicity: ogent.NewOptString("A"), AddressLine1: ogent.NewOptString("4 Mill Lane"), Postcode: ogent.NewOptString("S1 2AB"), PaymentPlanID: ogent.NewOptInt64(plan),
		}
	}}, fields...)...)
}

// register creates a patient.
func register(t *testing.T, c *ogent.Client, fields ...field) ogent.Patient {
	t.Helper()
	return harness.Call(t, c.CreatePatient, newPatient(t, c, fields...)).Patient
}

func lastName(s string) field  { return func(in *ogent.PatientInput) { in.LastName.SetTo(s) } }
func firstName(s string) field { return func(in *ogent.PatientInput) { in.FirstName.SetTo(s) } }
func active(is bool) field     { return func(in *ogent.PatientInput) { in.Active.SetTo(is) } }

// rawPatient is newPatient as JSON, for values that the client cannot send; a change to
// nil leaves a field out.
func rawPatient(plan any, changes ...row) row {
	fields := row{
		"title": "Mrs", "first_name": "Ada", "last_name": "Okonkwo-Łuczak", "date_of_birth": "1985-03-09", "gender": false, "ethnicity": "A",
		"address_line_1": "4 Mill Lane", "postcode": "S1 2AB", "payment_plan_id": plan,
	}
	return row{"patient": change(fields, changes...)}
}

// rawRegister creates a patient and gives the response.
func rawRegister(t *testing.T, e *harness.Env, token string, changes ...row) *harness.Response {
	t.Helper()
	return e.Post(t, "/v1/patients", token, rawPatient(first(t, e, token, "payment_plans", "active=true"), changes...))
}

func patientPath(t *testing.T, r *harness.Response) string {
	t.Helper()
	return "/v1/patients" + harness.ID(r.At(t, "patient.id"))
}

func TestCreatePatientWithRequiredFields(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		res := rawRegister(t, e, token).Status(t, 201)
		got := res.At(t, "patient").(row)
		for _, r := range resources {
			if r.one == "patient" {
				checkFields(t, e, r.everyField(true), got)
			}
		}
		want := row{
			"title": "Mrs", "first_name": "Ada", "last_name": "Okonkwo-Łuczak", "date_of_birth": "1985-03-09", "gender": false, "ethnicity": "A", "address_line_1": "4 Mill Lane", "postcode": "S1 2AB",
			"active": true, "medical_alert": false, "use_email": true, "use_sms": true, "recall_method": "Letter", "metadata": row{}, "marketing": jsonNumber(0),
			"created_at": shown(harness.Now), "updated_at": shown(harness.Now), "site_id": e.Get(t, "/v1/user", token).At(t, "user.site_id"),
		}
		optional := []string{
			"middle_name", "preferred_name", "address_line_2", "town", "county", "email_address", "home_phone", "home_phone_country", "home_phone_normalized", "mobile_phone", "work_phone", "dentist_id",
			"dentist_recall_date", "dentist_recall_interval", "hygienist_id", "hygienist_recall_date", "hygienist_recall_interval", "legacy_id", "medical_alert_text", "nhs_number", "ni_number", "occupation",
			"preferred_phone_number", "erased_at", "acquisition_source_id", "doctor_id", "family_id", "custom_field_1", "custom_field_2", "emergency_contact_name", "emergency_contact_phone", "emergency_contact_phone_normalized",
		}
		for _, name := range optional {
			want[name] = nil
		}
		for name, v := range want {
			if !reflect.DeepEqual(got[name], v) {
				t.Errorf("%s is %#v, want %#v", name, got[name], v)
			}
		}
		if read := e.Get(t, patientPath(t, res), token).Status(t, 200); string(read.Raw) != string(res.Raw) || read.Header.Get("ETag") != res.Header.Get("ETag") {
			t.Errorf("created %s, read %s", res.Raw, read.Raw)
		}
	})
}

func TestCreatePatientOpensTheAccount(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		c := e.Client(t, e.Token(t, ""))
		var request string
		p := harness.Call(t, c.CreatePatient, newPatient(t, c), ogent.WithEditResponse(func(r *http.Response) error {
			request = r.Header.Get("X-Request-Id")
			return nil
		})).Patient
		got := harness.Call(t, c.GetAccount, ogent.GetAccountParams{ID: p.AccountID.Value}).Account
		want := ogent.Account{
			ID: p.AccountID.Value, PatientID: p.ID, PatientName: "Ada Okonkwo-Łuczak", CurrentBalance: "0.00", OpeningBalance: "0.00",
			PlannedNhsTreatmentValue: "0.00", PlannedPrivateTreatmentValue: "0.00", CreatedAt: got.CreatedAt, UpdatedAt: got.UpdatedAt,
		}
		if got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
		e.Settle() // the answer told of both: so does the access log
		told := fmt.Sprintf(`"accounts":["%d"]`, p.AccountID.Value)
		if !slices.ContainsFunc(strings.Split(e.Log.String(), "\n"), func(line string) bool {
			return strings.Contains(line, request) && strings.Contains(line, told)
		}) || request == "" {
			t.Error("that the account was read is not on record")
		}
		patients, accounts := systemRows(t, e, "SELECT count(*) FROM patients"), systemRows(t, e, "SELECT count(*) FROM accounts")
		_, err := c.CreatePatient(t.Context(), newPatient(t, c, func(in *ogent.PatientInput) { in.Ethnicity.SetTo("?") }))
		harness.Refused(t, err, 422, "validation_failed", "ethnicity")
		if systemRows(t, e, "SELECT count(*) FROM patients") != patients || systemRows(t, e, "SELECT count(*) FROM accounts") != accounts {
			t.Error("a refused patient left rows")
		}
	})
}

// everyOptionalField of a patient with a value, and the value in the response if it differs.
func everyOptionalField(t *testing.T, e *harness.Env, token string) (sent, answered row) {
	dentist := first(t, e, token, "practitioners", "active=true")
	sent = row{
		"title": "Prof", "first_name": "Zoë 芳", "middle_name": "Ó Súilleabháin", "last_name": "N'Diaye", "preferred_name": "Zo", "date_of_birth": "2026-07-01", "gender": true, "ethnicity": "16", "active": false,
		"address_line_1": "Flat 2", "address_line_2": "4 Mill Lane", "town": "Sheffield", "county": "South Yorkshire", "postcode": "S9 9ZZ", "email_address": "zoe.o'brien+x@mail.example.com",
		"home_phone": "0114 496 0123", "home_phone_country": "gb", "mobile_phone": "202-555-0123", "mobile_phone_country": "US", "work_phone": "ext 12 at the mill", "work_phone_country": "FR",
		"emergency_contact_name": "Bob", "emergency_contact_relationship": "Brother", "emergency_contact_phone": "+44 7700 900123", "emergency_contact_phone_country": "GB",
		"preferred_phone_number": 3, "dentist_id": dentist, "dentist_recall_date": "2026-12-24", "dentist_recall_interval": 24, "hygienist_id": fmt.Sprint(dentist), "hygienist_recall_date": "2027-01-31", "hygienist_recall_interval": 0,
		"recall_method": "SMS", "acquisition_source_id": first(t, e, token, "acquisition_sources", ""), "doctor_id": 17, "family_id": "019F3A52-7D1C-7B6E-8C55-0A1B2C3D4E5F", "legacy_id": "OLD/7",
		"marketing": 5, "medical_alert": true, "medical_alert_text": "Heart valve\nsee letter", "nhs_number": "943 476 5919", "ni_number": "QQ123456C", "occupation": "Baker",
		"use_email": false, "use_sms": false, "custom_field_1": "one", "custom_field_2": "two", "metadata": row{"crm": "7"}, "site_id": first(t, e, token, "sites", "sort_direction=desc"),
	}
	answered = row{
		"home_phone_country": "GB", "home_phone_normalized": "+441144960123", "mobile_phone_normalized": "+12025550123", "work_phone_normalized": nil, "emergency_contact_phone_normalized": "+447700900123",
		"family_id": "019f3a52-7d1c-7b6e-8c55-0a1b2c3d4e5f",
	}
	return sent, answered
}

func checkSent(t *testing.T, res *harness.Response, sent, answered row) {
	t.Helper()
	got := res.At(t, "patient").(row)
	for name, want := range change(row{}, sent) {
		if other, differs := answered[name]; differs {
			want = other
		}
		if !reflect.DeepEqual(got[name], want) && text(got[name]) != text(want) {
			t.Errorf("%s is %#v, want %#v", name, got[name], want)
		}
	}
	for name, want := range answered {
		if !reflect.DeepEqual(got[name], want) {
			t.Errorf("%s is %#v, want %#v", name, got[name], want)
		}
	}
}

// TestEveryPatientFieldRoundTrips: on create and on update.
func TestEveryPatientFieldRoundTrips(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		sent, answered := everyOptionalField(t, e, token)
		checkSent(t, rawRegister(t, e, token, sent).Status(t, 201), sent, answered)
		for _, method := range []string{"PUT", "PATCH"} {
			path := patientPath(t, rawRegister(t, e, token).Status(t, 201))
			edited := e.Do(t, harness.Request{Method: method, Path: path, Token: token, Body: edit("patient", sent)}).Status(t, 200)
			checkSent(t, edited, sent, answered)
			if read := e.Get(t, path, token); string(read.Raw) != string(edited.Raw) {
				t.Errorf("updated %s, read %s", edited.Raw, read.Raw)
			}
		}
	})
}

// TestCreatePatientRefusesInvalidFields: and names exactly those.
func TestCreatePatientRefusesInvalidFields(t *testing.T) {
	required := []string{"title", "first_name", "last_name", "date_of_birth", "gender", "ethnicity", "address_line_1", "postcode", "payment_plan_id"}
	each := func(v any) row {
		all := row{}
		for _, name := range required {
			all[name] = v
		}
		return all
	}
	long := strings.Repeat("é", 256)
	cases := map[string]struct {
		changes row
		params  []string
	}{
		"nothing":         {each(nil), required},
		"all null":        {each(null), required},
		"all blank":       {each(" "), required},
		"unknown title":   {row{"title": "Madam"}, []string{"title"}},
		"names of spaces": {row{"first_name": "\u00a0", "last_name": "\t"}, []string{"first_name", "last_name"}},
		"born tomorrow":   {row{"date_of_birth": "2026-07-02"}, []string{"date_of_birth"}},
		"born never":      {row{"date_of_birth": "1985-02-30"}, []string{"date_of_birth"}},
		"born at a time":  {row{"date_of_birth": "1985-03-09T00:00:00Z"}, []string{"date_of_birth"}},
		"all kinds together": {row{
			"title": 5, "gender": "x", "ethnicity": "ABC", "email_address": "nobody", "preferred_phone_number": 4, "dentist_recall_interval": 25, "hygienist_recall_interval": -1, "recall_method": "Pigeon",
			"dentist_recall_date": "soon", "hygienist_recall_date": "2026-13-01", "marketing": "lots", "medical_alert": "maybe", "use_email": 2, "use_sms": "x", "active": "perhaps", "home_phone_country": "GBR",
			"family_id": "x", "doctor_id": "x", "acquisition_source_id": 5, "site_id": "x", "dentist_id": "x", "hygienist_id": 1.5, "payment_plan_id": true, "metadata": 5, "custom_fields": 5, "middle_name": []int{}, "town": row{},
		}, []string{
			"title", "gender", "ethnicity", "email_address", "preferred_phone_number", "dentist_recall_interval", "hygienist_recall_interval", "recall_method", "dentist_recall_date", "hygienist_recall_date",
			"marketing", "medical_alert", "use_email", "use_sms", "active", "home_phone_country", "family_id", "doctor_id", "acquisition_source_id", "site_id", "dentist_id", "hygienist_id", "payment_plan_id",
			"metadata", "custom_fields", "middle_name", "town",
		}},
		"unknown references": {row{
			"dentist_id": 999999, "hygienist_id": 999999, "payment_plan_id": 999999, "site_id": "019f3a52-7d1c-7b6e-8c55-0a1b2c3d4e5f", "acquisition_source_id": "019f3a52-7d1c-7b6e-8c55-0a1b2c3d4e5f",
		}, []string{"dentist_id", "hygienist_id", "payment_plan_id", "site_id", "acquisition_source_id"}},
		"ids of nothing": {row{
			"dentist_id": 0, "hygienist_id": 0, "payment_plan_id": "0", "site_id": "00000000-0000-0000-0000-000000000000", "acquisition_source_id": "00000000-0000-0000-0000-000000000000",
		}, []string{"dentist_id", "hygienist_id", "payment_plan_id", "site_id", "acquisition_source_id"}},
		"a doctor beyond 64 bits":  {row{"doctor_id": json.Number("9223372036854775808")}, []string{"doctor_id"}},
		"too long":                 {row{"first_name": long, "postcode": long, "occupation": long, "nhs_number": long, "home_phone": long}, []string{"first_name", "postcode", "occupation", "nhs_number", "home_phone"}},
		"NUL":                      {row{"last_name": "a\x00b", "mobile_phone": "\x00", "medical_alert_text": "a\x00", "metadata": row{"a": "\x00"}, "legacy_id": "\x00"}, []string{"last_name", "mobile_phone", "medical_alert_text", "metadata", "legacy_id"}},
		"metadata of four keys":    {row{"metadata": row{"a": "1", "b": "2", "c": "3", "d": "4"}}, []string{"metadata"}},
		"metadata with a long key": {row{"metadata": row{strings.Repeat("😀", 41): ""}}, []string{"metadata"}},
		"metadata with long text":  {row{"metadata": row{"a": strings.Repeat("😀", 501)}}, []string{"metadata"}},
	}
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		for name, c := range cases {
			t.Run(name, func(t *testing.T) {
				rawRegister(t, e, token, c.changes).Error(t, 422, "validation_failed", c.params...)
			})
		}
		rawRegister(t, e, token, row{"metadata": row{strings.Repeat("😀", 40): strings.Repeat("😀", 500), "": nil}}).Error(t, 422, "validation_failed", "metadata")
		rawRegister(t, e, token, row{"metadata": row{strings.Repeat("😀", 40): strings.Repeat("😀", 500), "b": 1, "c": true}, "first_name": long[:2*255]}).Status(t, 201)
	})
}

// TestPatientReferencesAreOfTheSamePractice: and the payment plan is active.
func TestPatientReferencesAreOfTheSamePractice(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		c, there := e.Client(t, e.Token(t, "")), e.Client(t, elsewhere(t, e))
		plan := harness.Call(t, there.ListPaymentPlans, ogent.ListPaymentPlansParams{Active: ogent.NewOptBool(true)}).PaymentPlans[0].ID
		dentist := harness.Call(t, there.ListPractitioners, ogent.ListPractitionersParams{}).Practitioners[0].ID
		site := harness.Call(t, there.ListSites, ogent.ListSitesParams{}).Sites[0].ID
		source := harness.Call(t, there.ListAcquisitionSources, ogent.ListAcquisitionSourcesParams{}).AcquisitionSources[0].ID
		theirs := func(in *ogent.PatientInput) {
			in.PaymentPlanID.SetTo(plan)
			in.DentistID.SetTo(dentist)
			in.HygienistID.SetTo(dentist)
			in.SiteID.SetTo(site)
			in.AcquisitionSourceID.SetTo(source)
		}
		closed := harness.Call(t, c.ListPaymentPlans, ogent.ListPaymentPlansParams{Active: ogent.NewOptBool(false)}).PaymentPlans[0].ID
		inactive := func(in *ogent.PatientInput) { in.PaymentPlanID.SetTo(closed) }
		ours := ogent.UpdatePatientParams{ID: register(t, c).ID}
		for _, test := range []struct {
			change field
			params []string
		}{
			{theirs, []string{"payment_plan_id", "dentist_id", "hygienist_id", "site_id", "acquisition_source_id"}},
			{inactive, []string{"payment_plan_id"}},
		} {
			_, err := c.CreatePatient(t.Context(), newPatient(t, c, test.change))
			harness.Refused(t, err, 422, "validation_failed", test.params...)
			_, err = c.UpdatePatient(t.Context(), person(test.change), ours)
			harness.Refused(t, err, 422, "validation_failed", test.params...)
		}
	})
}

// TestPatientFieldsAcceptOtherForms: of the same value.
func TestPatientFieldsAcceptOtherForms(t *testing.T) {
	cases := []struct {
		field      string
		sent, want any
	}{
		{"marketing", true, jsonNumber(1)}, {"marketing", false, jsonNumber(0)}, {"marketing", 1, jsonNumber(1)}, {"marketing", "0", jsonNumber(0)}, {"marketing", 7, jsonNumber(7)}, {"marketing", null, jsonNumber(0)},
		{"medical_alert", true, true}, {"medical_alert", 1, true}, {"medical_alert", 0, false}, {"medical_alert", "1", true}, {"medical_alert", "0", false}, {"medical_alert", null, false},
		{"gender", true, true}, {"gender", "male", true}, {"gender", "female", false}, {"gender", "Female", false},
		{"ethnicity", "1", "1"}, {"ethnicity", "99", "99"}, {"ethnicity", "Z", "Z"}, {"ethnicity", 16, "16"},
		{"date_of_birth", "2026-07-01", "2026-07-01"}, {"date_of_birth", "1900-01-01", "1900-01-01"},
		{"dentist_recall_interval", "12", jsonNumber(12)}, {"email_address", "", nil}, {"dentist_recall_date", "", nil}, {"dentist_id", "", nil}, {"recall_method", null, "Letter"}, {"use_sms", null, true}, {"active", null, true},
		{"metadata", null, row{}},
	}
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		for _, c := range cases {
			res := rawRegister(t, e, token, row{c.field: c.sent}).Status(t, 201)
			if got := res.At(t, "patient."+c.field); !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s: sent %#v, got %#v, want %#v", c.field, c.sent, got, c.want)
			}
		}
	})
}

// TestPatientSiteDefaults: to the user's site, else to the practice's first.
func TestPatientSiteDefaults(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		c := e.Client(t, e.Token(t, ""))
		hundred := ogent.NewOptInt(100)
		first := harness.Call(t, c.ListSites, ogent.ListSitesParams{}).Sites[0].ID
		for _, u := range harness.Call(t, c.ListUsers, ogent.ListUsersParams{Active: ogent.NewOptBool(true), PerPage: hundred}).Users {
			theirs := e.Client(t, e.TokenOf(t, u.Email, "patient:create", nil))
			want := u.SiteID.Or(first)
			if got := harness.Call(t, theirs.CreatePatient, newPatient(t, c)).Patient.SiteID; got != want {
				t.Errorf("%s works at %v, the patient is at %v", u.Email, u.SiteID, got)
			}
		}
	})
}
