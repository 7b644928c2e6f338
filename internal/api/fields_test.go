package api_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"chairside/internal/test/harness"
	"chairside/ogent"
)

// shapes are the formats of behaviour.md section 2.
var shapes = map[string]*regexp.Regexp{
	"int":      regexp.MustCompile(`^-?\d+$`),
	"uuid":     regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`),
	"date":     regexp.MustCompile(`^\d{4}-\d\d-\d\d$`),
	"datetime": regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d$`),
	"decimal":  regexp.MustCompile(`^-?\d+\.\d\d$`),
	"text":     regexp.MustCompile(`(?s)^.*$`),
}

// fits reports whether a value has the format of a kind.
func fits(e *harness.Env, kind string, v any) bool {
	if v == nil {
		return strings.HasSuffix(kind, "?")
	}
	switch kind := strings.TrimSuffix(kind, "?"); kind {
	case "bool":
		_, ok := v.(bool)
		return ok
	case "hash":
		_, ok := v.(map[string]any)
		return ok
	case "array":
		_, ok := v.([]any)
		return ok
	case "int":
		n, ok := v.(json.Number)
		return ok && shapes[kind].MatchString(n.String())
	case "url":
		s, ok := v.(string)
		return ok && strings.HasPrefix(s, e.URL+"/")
	case "datetime":
		s, ok := v.(string)
		return ok && shapes[kind].MatchString(s) && instant(s).In(zone).Format("2006-01-02T15:04:05.000-07:00") == s
	default:
		s, ok := v.(string)
		return ok && shapes[kind].MatchString(s)
	}
}

// checkFields checks that a record has exactly the documented fields, each in its format.
func checkFields(t *testing.T, e *harness.Env, kinds map[string]string, r row) {
	t.Helper()
	if got, want := slices.Sorted(maps.Keys(r)), slices.Sorted(maps.Keys(kinds)); !slices.Equal(got, want) {
		t.Errorf("fields %v, want %v", got, want)
	}
	for name, kind := range kinds {
		if v, there := r[name]; there && !fits(e, kind, v) {
			t.Errorf("%s is %#v, want %s", name, v, kind)
		}
	}
}

// everyDocumentedFieldIsPresent: in its format, null if it has no value.
func everyDocumentedFieldIsPresent(t *testing.T, w *world, r resource) {
	rows := w.rows(t, r)
	if len(rows) == 0 {
		t.Fatal("no rows")
	}
	valued := map[string]bool{}
	for _, found := range rows {
		checkFields(t, w.Env, r.everyField(false), found)
		for name, v := range found {
			valued[name] = valued[name] || v != nil
		}
	}
	for name, has := range valued {
		if !has {
			t.Logf("%s is null in all %d rows", name, len(rows))
		}
	}
}

// oneRecordIsTheListsElement: a single record equals the list's element, but for members that
// only the single response has.
func oneRecordIsTheListsElement(t *testing.T, w *world, r resource) {
	for i, listed := range w.rows(t, r) {
		if i%17 != 0 { // enough for every shape of row
			continue
		}
		res := w.Get(t, "/v1/"+r.path+harness.ID(listed["id"]), w.token).Status(t, 200)
		if len(res.JSON) != 1 {
			t.Errorf("wrapped in %v", slices.Collect(maps.Keys(res.JSON)))
		}
		single := res.At(t, r.one).(row)
		checkFields(t, w.Env, r.everyField(true), single)
		for name := range r.everyField(true) {
			if _, both := listed[name]; !both {
				delete(single, name)
			}
		}
		if !reflect.DeepEqual(single, listed) {
			t.Errorf("the single record is %v, the list's element %v", single, listed)
		}
	}
}

// idsInPaths: malformed, huge and unknown ids are 404 with the same body, which does not
// repeat the id.
func idsInPaths(t *testing.T, w *world, r resource) {
	for _, id := range []string{
		"0", "-1", "999999999", "9223372036854775807", "9223372036854775808", "99999999999999999999999999", "1.0", "1e1", "+1", "0x1", "abc", "%20", "%00", "null", "1;drop",
		"00000000-0000-0000-0000-000000000000", "019f3a52-7d1c-7b6e-8c55-0a1b2c3d4e5", "019f3a52-7d1c-7b6e-8c55-0a1b2c3d4e5f0", "{019f3a52-7d1c-7b6e-8c55-0a1b2c3d4e5f}",
	} {
		res := w.Get(t, "/v1/"+r.path+"/"+id, w.token).Error(t, 404, "not_found")
		if len(id) > 3 && strings.Contains(res.Text(t, "error.message"), id) {
			t.Errorf("the message repeats the id %s", id)
		}
	}
}

func TestPracticeHasTheDocumentedFields(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		practice := e.Get(t, "/v1/practice", e.Token(t, "practice:read")).Status(t, 200).At(t, "practice").(row)
		kinds := resource{fields: "id:uuid name:text slug:text country:text phone_number:text? email_address:text? website:text? logo_url:text? time_zone:text" +
			" nhs:bool minimum_appointment_duration:int opening_hours:hash custom_patient_field_label_1:text? custom_patient_field_label_2:text?" + address}.everyField(false)
		checkFields(t, e, kinds, practice)
		for day, hours := range practice["opening_hours"].(row) {
			if _, err := time.Parse("Monday", day); err != nil {
				t.Errorf("unexpected opening hours of %q", day)
			}
			checkFields(t, e, map[string]string{"open": "text", "close": "text"}, hours.(row))
		}
		if practice["slug"] != "demo" || practice["time_zone"] != "Europe/London" || practice["country"] != "GB" {
			t.Errorf("got %v", practice)
		}
	})
}

func TestCurrentUserHasTwoPaths(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "user:read")
		current := e.Get(t, "/v1/user", token).Status(t, 200)
		if current.Text(t, "user.email") != "admin@demo.chairside.test" || current.Text(t, "user.permission_level") != "4" {
			t.Errorf("got %s", current.Raw)
		}
		for _, path := range []string{"/v1/users/current", "/user", "/v1/users" + harness.ID(current.At(t, "user.id"))} {
			if other := e.Get(t, path, token).Status(t, 200); string(other.Raw) != string(current.Raw) {
				t.Errorf("%s returns %s, want %s", path, other.Raw, current.Raw)
			}
		}
		if e.Get(t, "/v1/user", e.TokenOf(t, "admin@second.chairside.test", "user", nil)).Status(t, 200).Text(t, "user.id") == current.Text(t, "user.id") {
			t.Error("the other practice's administrator is the same user")
		}
	})
}

// TestEmbeddedObjects: the members of embedded objects.
func TestEmbeddedObjects(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w := newWorld(t, e)
		for _, c := range []struct{ path, many, member, fields string }{
			{"practitioners", "practitioners", "user", "id:int title:text? first_name:text last_name:text email:text role:text"},
			{"payments", "payments", "explanations", "invoice_id:int amount:decimal"},
			{"custom_fields", "custom_fields", "options", "name:text position:int"},
			{"patients", "patients", "custom_fields", "field_id:uuid position:int value:any"},
			{"treatment_plan_items", "treatment_plan_items", "custom_fields", "field_id:uuid position:int value:any"},
		} {
			kinds := map[string]string{}
			for f := range strings.FieldsSeq(c.fields) {
				name, kind, _ := strings.Cut(f, ":")
				kinds[name] = kind
			}
			found := 0
			for _, r := range w.all(t, c.path, c.many, nil) {
				members, isList := r[c.member].([]any)
				if !isList {
					members = []any{r[c.member]}
				}
				for _, m := range members {
					inner := maps.Clone(m.(row))
					found++
					if kinds["value"] != "" { // its kind depends on the question
						if _, there := inner["value"]; !there {
							t.Errorf("%s has no value member: %v", c.member, inner)
						}
						inner["value"], kinds["value"] = "", "text"
					}
					checkFields(t, e, kinds, inner)
				}
			}
			if found == 0 {
				t.Errorf("no %s has %s", c.path, c.member)
			}
		}
	})
}

// TestMetadataKeysAreSorted: or the entity tag would change by itself.
func TestMetadataKeysAreSorted(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		path := appointmentPath(book(t, e.Client(t, token), hire(t, e), "09:00", "09:30", func(in *ogent.AppointmentInput) {
			in.Metadata.SetTo(ogent.AppointmentInputMetadata{"c": "1", "a": "<2>", "b": "3"})
		}))
		tag := e.Get(t, path, token).Header.Get("ETag")
		for range 20 {
			if got := e.Get(t, path, token).Header.Get("ETag"); got != tag {
				t.Fatalf("the tag changed from %s to %s", tag, got)
			}
		}
	})
}

// TestAvatarNeedsNoToken: and is the same for everyone.
func TestAvatarNeedsNoToken(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w := newWorld(t, e)
		addresses := map[any]bool{}
		for _, p := range w.all(t, "patients", "patients", nil) {
			addresses[p["image_url"]] = true
		}
		if len(addresses) != 1 {
			t.Errorf("%d addresses", len(addresses))
		}
		for a := range addresses {
			res := e.Get(t, strings.TrimPrefix(text(a), e.URL), "").Status(t, 200)
			if kind := res.Header.Get("Content-Type"); !strings.HasPrefix(kind, "image/") || len(res.Raw) == 0 {
				t.Errorf("the picture is %s", kind)
			}
		}
	})
}
