package api_test

import (
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"chairside/internal/test/harness"
	"chairside/ogent"
)

// TestUpdatePatientChangesOnlySentFields: one field at a time; null clears it again.
func TestUpdatePatientChangesOnlySentFields(t *testing.T) {
	stays := []string{"site_id"} // cannot be null, like the required fields
	defaults := row{"active": true, "recall_method": "Letter", "marketing": jsonNumber(0), "medical_alert": false, "use_email": true, "use_sms": true, "metadata": row{}}
	derived := []string{"updated_at", "home_phone_normalized", "mobile_phone_normalized", "work_phone_normalized", "emergency_contact_phone_normalized"}
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		sent, answered := everyOptionalField(t, e, token)
		path := patientPath(t, rawRegister(t, e, token).Status(t, 201))
		required := rawPatient(0)["patient"].(row)
		for name, value := range sent {
			e.Clock.Advance(time.Minute)
			old := e.Get(t, path, token).Status(t, 200).At(t, "patient").(row)
			res := e.Patch(t, path, token, edit("patient", row{name: value})).Status(t, 200)
			got := res.At(t, "patient").(row)
			want := value
			if other, differs := answered[name]; differs {
				want = other
			}
			if !reflect.DeepEqual(got[name], want) && text(got[name]) != text(want) {
				t.Errorf("%s is %#v, want %#v", name, got[name], want)
			}
			for other := range got {
				if other != name && !slices.Contains(derived, other) && !reflect.DeepEqual(got[other], old[other]) {
					t.Errorf("%s changed %s from %v to %v", name, other, old[other], got[other])
				}
			}
			if got["updated_at"] != shown(e.Clock.Now()) {
				t.Errorf("%s: updated_at is %v", name, got["updated_at"])
			}
			if _, needed := required[name]; needed || slices.Contains(stays, name) {
				continue
			}
			cleared := e.Patch(t, path, token, edit("patient", row{name: null})).Status(t, 200)
			if v := cleared.At(t, "patient."+name); !reflect.DeepEqual(v, defaults[name]) {
				t.Errorf("%s, cleared, is %#v", name, v)
			}
		}
	})
}

func TestEditPatientRefusesToClearWhatIsRequired(t *testing.T) {
	required := slices.Collect(maps.Keys(rawPatient(1)["patient"].(row)))
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		res := rawRegister(t, e, token).Status(t, 201)
		for _, v := range []any{null, "", "  "} {
			all := row{}
			for _, name := range required {
				all[name] = v
			}
			e.Patch(t, patientPath(t, res), token, edit("patient", all)).Error(t, 422, "validation_failed", required...)
		}
		e.Patch(t, patientPath(t, res), token, edit("patient", row{"site_id": null})).Error(t, 422, "validation_failed", "site_id")
		for _, id := range []string{`99999999999999999999`, `"9223372036854775808"`} { // the largest id must not be stored instead
			e.Patch(t, patientPath(t, res), token, `{"patient":{"doctor_id":`+id+`}}`).Error(t, 422, "validation_failed", "doctor_id")
		}
		e.Patch(t, patientPath(t, res), token, edit("patient", row{"date_of_birth": "2026-07-02", "ethnicity": "??"})).Error(t, 422, "validation_failed", "date_of_birth", "ethnicity")
		if now := e.Get(t, patientPath(t, res), token); string(now.Raw) != string(res.Raw) {
			t.Errorf("the patient changed to %s", now.Raw)
		}
	})
}

// TestUpdatePatientIgnoresReadOnlyFields: ids, timestamps and derived fields.
func TestUpdatePatientIgnoresReadOnlyFields(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		res := rawRegister(t, e, token, row{"home_phone": "0114 496 0123"}).Status(t, 201)
		e.Clock.Advance(time.Hour)
		same := e.Patch(t, patientPath(t, res), token, edit("patient", row{
			"id": 1, "account_id": 1, "created_at": "2001-01-01T00:00:00Z", "updated_at": "x", "image_url": "http://elsewhere.test/", "home_phone_normalized": "+1",
			"practice_id": "x", "search_text": "x", "unheard_of": []int{1},
		})).Status(t, 200)
		if string(same.Raw) != string(res.Raw) || same.Header.Get("ETag") != res.Header.Get("ETag") {
			t.Errorf("the patient changed from %s to %s", res.Raw, same.Raw)
		}
	})
}

// patients are those that a query finds.
func patients(t *testing.T, c *ogent.Client, query string, ask ...func(*ogent.ListPatientsParams)) *ogent.PatientList {
	t.Helper()
	params := ogent.ListPatientsParams{Query: ogent.NewOptString(query), PerPage: ogent.NewOptInt(100)}
	for _, change := range ask {
		change(&params)
	}
	return harness.Call(t, c.ListPatients, params)
}

func patientIDs(list *ogent.PatientList) (ids []int64) {
	for _, p := range list.Patients {
		ids = append(ids, p.ID)
	}
	return ids
}

// TestDeletePatientArchives: 204; the patient can still be read and comes back.
func TestDeletePatientArchives(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		c := e.Client(t, token)
		id := register(t, c, lastName("Zzyzx")).ID
		listed := func(ask ...func(*ogent.ListPatientsParams)) int { return len(patients(t, c, "Zzyzx", ask...).Patients) }
		current := func(p *ogent.ListPatientsParams) { p.Active.SetTo(true) }
		archived := func(p *ogent.ListPatientsParams) { p.Active.SetTo(false) }
		for range 2 { // archiving again changes nothing
			if res := e.Delete(t, "/v1/patients"+harness.ID(id), token).Status(t, 204); len(res.Raw) > 0 {
				t.Errorf("got %s", res.Raw)
			}
			if harness.Call(t, c.GetPatient, ogent.GetPatientParams{ID: id}).Patient.Active {
				t.Error("it is active")
			}
		}
		if listed() != 1 || listed(current) != 0 || listed(archived) != 1 {
			t.Error("the list shows archived patients, unless active=true")
		}
		if r, err := c.UpdatePatient(t.Context(), person(active(true)), ogent.UpdatePatientParams{ID: id}); err != nil || !r.Patient.Active || listed(current) != 1 {
			t.Errorf("it did not come back: %+v, %v", r, err)
		}
	})
}

// TestPhonesAreNormalized: when the number or its country changes.
func TestPhonesAreNormalized(t *testing.T) {
	steps := []struct {
		sent row
		want any
	}{
		{row{"%": "020 7946 0123"}, "+442079460123"},
		{row{"%_country": "US"}, nil},
		{row{"%": "202-555-0123"}, "+12025550123"},
		{row{"%_country": null}, "+442025550123"},
		{row{"%": "07700 900123"}, "+447700900123"},
		{row{"%": "ask at the bakery"}, nil},
		{row{"%": "+33 6 39 98 01 23"}, "+33639980123"},
		{row{"%": null}, nil},
	}
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		path := patientPath(t, rawRegister(t, e, token).Status(t, 201))
		for _, phone := range []string{"home_phone", "mobile_phone", "work_phone", "emergency_contact_phone"} {
			for _, step := range steps {
				sent := row{}
				for name, v := range step.sent {
					sent[phone+name[1:]] = v
				}
				res := e.Patch(t, path, token, edit("patient", sent)).Status(t, 200)
				if got := res.At(t, "patient."+phone+"_normalized"); got != step.want {
					t.Errorf("%v: normalized is %v, want %v", sent, got, step.want)
				}
				if v, given := sent[phone].(string); given && res.At(t, "patient."+phone) != v {
					t.Errorf("%v is answered as %v", sent, res.At(t, "patient."+phone))
				}
			}
		}
	})
}

// TestSearchFindsPatients: by every field of behaviour.md.
func TestSearchFindsPatients(t *testing.T) {
	fields := func(in *ogent.PatientInput) {
		in.FirstName.SetTo("Zoë")
		in.MiddleName.SetTo("Aurélie")
		in.LastName.SetTo("O'Brien-Łuczak")
		in.PreferredName.SetTo("Zozo")
		in.Postcode.SetTo("QX1A 9ZZ")
		in.EmailAddress.SetTo("Zoe.OB+x@Quux.example.com")
		in.NhsNumber.SetTo("943 476 5919")
		in.LegacyID.SetTo("4711-08")
		in.HomePhone.SetTo("0114 496 0777 (evenings)")
		in.MobilePhone.SetTo("+44 7700 900777")
		in.WorkPhone.SetTo("ext. 98765")
	}
	found := []string{
		"Zoë", "zoë", "ZOE", "zo", "O'Brien-Łuczak", "o'brien", "Łuczak", "łucz", "Zoë O'Brien-Łuczak", "O'Brien-Łuczak Zoë", "łuczak  aurelie zoe", "Aurélie", "aurelie brien", "zozo",
		"QX1A 9ZZ", "qx1a9zz", "qx1a", "zoe.ob+x@quux.example.com", "ZOE.OB+X@QUUX", "943 476 5919", "9434765919", "943-476-5919", "4711-08", "4711", "zoe qx1a", "brien 9434765919", "O'Brien-Łuczak, Zoë", "(zoe)", "obrienłuczak", "evenings", "_zoe.ob+x@quux", "brien 943 476 5919", "zoe 07700 900777", "zoe 4711",
		"07700 900777", "07700900777", "+447700900777", "+44 7700 900777", "0044 7700 900777", "(07700) 900-777", "+44 (0)7700 900777", "7700 900777", "900777",
		"0114 496 0777 (evenings)", "0114 496 0777", "01144960777", "98765", "ext. 98765", "  zoe  ",
	}
	missed := []string{"943 476", "3476591", "94347659190", "smith 943 476 5919", "zoex", "oe", "brienn", "zoe smith", "%", "_", "z_e", "qx1a 9zy", "9434765918", "07700 900778", "4711-09", `\`, "'", "zoe@nowhere"}
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "patient")
		c, everything, there := e.Client(t, token), e.Client(t, e.Token(t, "")), e.Client(t, elsewhere(t, e))
		id := harness.Call(t, c.CreatePatient, newPatient(t, everything, fields)).Patient.ID
		register(t, there, fields)
		search := func(query string) []int64 { return patientIDs(patients(t, c, query)) }
		for _, query := range found {
			if !slices.Contains(search(query), id) {
				t.Errorf("%q does not find the patient", query)
			}
		}
		for _, query := range missed {
			if slices.Contains(search(query), id) {
				t.Errorf("%q finds the patient", query)
			}
		}
		if got := search("łuczak zozo"); !slices.Equal(got, []int64{id}) {
			t.Errorf("the other practice's patient is found: %v", got)
		}
		if all := e.Get(t, "/v1/patients", token).Text(t, "meta.total"); e.Get(t, "/v1/patients?query=", token).Text(t, "meta.total") != all || e.Get(t, "/v1/patients?query=++", token).Text(t, "meta.total") != all {
			t.Error("a blank query must match every patient")
		}
		e.Get(t, "/v1/patients?query=a%00b", token).Error(t, 400, "invalid_parameter", "query")
	})
}

// TestSearchFollowsUpdates: and combines with the other filters.
func TestSearchFollowsUpdates(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		c := e.Client(t, e.Token(t, ""))
		p := register(t, c, lastName("Quetzal"), func(in *ogent.PatientInput) { in.MobilePhone.SetTo("07700 900999") })
		other := harness.Call(t, c.ListSites, ogent.ListSitesParams{SortDirection: ogent.NewOptString("desc")}).Sites[0].ID
		for name, filter := range map[string]struct {
			ask  func(*ogent.ListPatientsParams)
			want int
		}{
			"no more":                {func(*ogent.ListPatientsParams) {}, 1},
			"active":                 {func(p *ogent.ListPatientsParams) { p.Active.SetTo(true) }, 1},
			"archived":               {func(p *ogent.ListPatientsParams) { p.Active.SetTo(false) }, 0},
			"the patient's site":     {func(q *ogent.ListPatientsParams) { q.SiteID.SetTo(p.SiteID) }, 1},
			"another site":           {func(p *ogent.ListPatientsParams) { p.SiteID.SetTo(other) }, 0},
			"created since then":     {func(p *ogent.ListPatientsParams) { p.CreatedAfter.SetTo(harness.Now) }, 1},
			"created before it then": {func(p *ogent.ListPatientsParams) { p.CreatedBefore.SetTo(harness.Now) }, 0},
		} {
			if got := patients(t, c, "quetzal", filter.ask).Meta.Total; got != filter.want {
				t.Errorf("%s: %d, want %d", name, got, filter.want)
			}
		}
		renamed := person(lastName("Axolotl"), func(in *ogent.PatientInput) { in.MobilePhone.SetToNull() })
		if _, err := c.UpdatePatient(t.Context(), renamed, ogent.UpdatePatientParams{ID: p.ID}); err != nil {
			t.Fatal(err)
		}
		for query, want := range map[string]int{"quetzal": 0, "axolotl ada": 1, "ada axolotl": 1} {
			if got := patients(t, c, query).Meta.Total; got != want {
				t.Errorf("after the edit, %s: %d, want %d", query, got, want)
			}
		}
	})
}
