package api_test

import (
	"maps"
	"net/url"
	"reflect"
	"slices"
	"testing"
	"time"

	"chairside/internal/test/harness"
)

// TestUpdatePatientChangesOnlySentFields: one field at a time; null clears it again.
func TestUpdatePatientChangesOnlySentFields(t *testing.T) {
	stays := []string{"site_id"} // cannot be null, like the required fields
	defaults := row{"active": true, "recall_method": "Letter", "marketing": jsonNumber(0), "medical_alert": false, "use_email": true, "use_sms": true, "metadata": row{}}
	derived := []string{"updated_at", "home_phone_normalized", "mobile_phone_normalized", "work_phone_normalized", "emergency_contact_phone_normalized"}
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		sent, answered := everyOptionalField(t, e, token)
		path := patientPath(t, register(t, e, token).Status(t, 201))
		required := newPatient(0)["patient"].(row)
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

func TestUpdatePatientKeepsRequiredFields(t *testing.T) {
	required := slices.Collect(maps.Keys(newPatient(1)["patient"].(row)))
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		res := register(t, e, token).Status(t, 201)
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
		res := register(t, e, token, row{"home_phone": "0114 496 0123"}).Status(t, 201)
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

// TestDeletePatientArchives: 204; the patient can still be read and be made active again.
func TestDeletePatientArchives(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		path := patientPath(t, register(t, e, token, row{"last_name": "Zzyzx"}).Status(t, 201))
		listed := func(query string) int {
			return len(e.Get(t, "/v1/patients?query=Zzyzx"+query, token).Status(t, 200).List(t, "patients"))
		}
		for range 2 { // archiving again changes nothing
			if res := e.Delete(t, path, token).Status(t, 204); len(res.Raw) > 0 {
				t.Errorf("got %s", res.Raw)
			}
			if e.Get(t, path, token).Status(t, 200).At(t, "patient.active") != false {
				t.Error("it is active")
			}
		}
		if listed("") != 1 || listed("&active=true") != 0 || listed("&active=false") != 1 {
			t.Error("the list shows archived patients, unless active=true")
		}
		if e.Patch(t, path, token, edit("patient", row{"active": true})).Status(t, 200).At(t, "patient.active") != true || listed("&active=true") != 1 {
			t.Error("it did not come back")
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
		path := patientPath(t, register(t, e, token).Status(t, 201))
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
	fields := row{
		"first_name": "Zoë", "middle_name": "Aurélie", "last_name": "O'Brien-Łuczak", "preferred_name": "Zozo", "postcode": "QX1A 9ZZ", "email_address": "Zoe.OB+x@Quux.example.com",
		"nhs_number": "943 476 5919", "legacy_id": "4711-08", "home_phone": "0114 496 0777 (evenings)", "mobile_phone": "+44 7700 900777", "work_phone": "ext. 98765",
	}
	found := []string{
		"Zoë", "zoë", "ZOE", "zo", "O'Brien-Łuczak", "o'brien", "Łuczak", "łucz", "Zoë O'Brien-Łuczak", "O'Brien-Łuczak Zoë", "łuczak  aurelie zoe", "Aurélie", "aurelie brien", "zozo",
		"QX1A 9ZZ", "qx1a9zz", "qx1a", "zoe.ob+x@quux.example.com", "ZOE.OB+X@QUUX", "943 476 5919", "9434765919", "943-476-5919", "4711-08", "4711", "zoe qx1a", "brien 9434765919", "O'Brien-Łuczak, Zoë", "(zoe)", "obrienłuczak", "evenings", "_zoe.ob+x@quux", "brien 943 476 5919", "zoe 07700 900777", "zoe 4711",
		"07700 900777", "07700900777", "+447700900777", "+44 7700 900777", "0044 7700 900777", "(07700) 900-777", "+44 (0)7700 900777", "7700 900777", "900777",
		"0114 496 0777 (evenings)", "0114 496 0777", "01144960777", "98765", "ext. 98765", "  zoe  ",
	}
	missed := []string{"smith 943 476 5919", "zoex", "oe", "brienn", "zoe smith", "%", "_", "z_e", "qx1a 9zy", "9434765918", "07700 900778", "4711-09", `\`, "'", "zoe@nowhere"}
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "patient")
		plan := first(t, e, e.Token(t, ""), "payment_plans", "active=true")
		id := e.Post(t, "/v1/patients", token, newPatient(plan, fields)).Status(t, 201).Text(t, "patient.id")
		e.Post(t, "/v1/patients", elsewhere(t, e), newPatient(first(t, e, elsewhere(t, e), "payment_plans", "active=true"), fields)).Status(t, 201)
		search := func(query string) []string {
			return e.Get(t, "/v1/patients?per_page=100&query="+url.QueryEscape(query), token).Status(t, 200).Column(t, "patients", "id")
		}
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
		if got := search("łuczak zozo"); !slices.Equal(got, []string{id}) {
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
		token := e.Token(t, "")
		path := patientPath(t, register(t, e, token, row{"last_name": "Quetzal", "mobile_phone": "07700 900999"}).Status(t, 201))
		total := func(query string) string {
			return e.Get(t, "/v1/patients?"+query, token).Status(t, 200).Text(t, "meta.total")
		}
		site := e.Get(t, path, token).Text(t, "patient.site_id")
		other := first(t, e, token, "sites", "sort_direction=desc")
		for query, want := range map[string]string{
			"query=quetzal": "1", "query=quetzal&active=true": "1", "query=quetzal&active=false": "0", "query=quetzal&site_id=" + site: "1", "query=quetzal&site_id=" + text(other): "0",
			"query=quetzal&created_after=2026-07-01T09:15:00Z": "1", "query=quetzal&created_before=2026-07-01T09:15:00Z": "0",
		} {
			if got := total(query); got != want {
				t.Errorf("%s: %s, want %s", query, got, want)
			}
		}
		e.Patch(t, path, token, edit("patient", row{"last_name": "Axolotl", "mobile_phone": null})).Status(t, 200)
		for query, want := range map[string]string{"query=quetzal": "0", "query=axolotl+ada": "1", "query=ada+axolotl": "1"} {
			if got := total(query); got != want {
				t.Errorf("after the edit, %s: %s, want %s", query, got, want)
			}
		}
	})
}
