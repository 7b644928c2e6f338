package codec_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"chairside/internal/apierror"
	"chairside/internal/codec"
)

func bound(n int64) *int64 { return &n }

// every is a body with a field of every kind.
var every = codec.Body{Key: "thing", Create: true, Fields: []codec.Field{
	{Name: "text", Kind: codec.Text, Nullable: true, MaxRunes: 10},
	{Name: "name", Kind: codec.Text, Required: true, MaxRunes: 10},
	{Name: "boolean", Kind: codec.Boolean, Default: "true"},
	{Name: "flag", Kind: codec.Flag, Default: "false"},
	{Name: "gender", Kind: codec.Gender},
	{Name: "integer", Kind: codec.Integer, Nullable: true, Min: bound(0), Max: bound(24)},
	{Name: "consent", Kind: codec.Consent, Default: "0"},
	{Name: "id", Kind: codec.ID, Nullable: true},
	{Name: "plain", Kind: codec.ID, Plain: true},
	{Name: "uuid", Kind: codec.UUID, Nullable: true},
	{Name: "date", Kind: codec.Date, Nullable: true},
	{Name: "time", Kind: codec.Time},
	{Name: "decimal", Kind: codec.Decimal, Nullable: true},
	{Name: "price", Kind: codec.Decimal, Min: bound(0), Default: `"0.00"`},
	{Name: "enum", Kind: codec.Enum, Values: []string{"Letter", "SMS"}, Default: `"Letter"`},
	{Name: "email", Kind: codec.Email, Nullable: true},
	{Name: "country", Kind: codec.Country, Nullable: true},
	{Name: "ethnicity", Kind: codec.Ethnicity, Nullable: true},
	{Name: "created", Kind: codec.Enum, Values: []string{"new", "old"}, CreateDefault: true, Default: `"new"`},
	{Name: "metadata", Kind: codec.Metadata, Default: "{}"},
	{Name: "answers", Kind: codec.Answers},
}}

// read decodes one field, with a valid name.
func read(t *testing.T, field, value string) (canonical string, messages []string) {
	t.Helper()
	out, params, err := every.Read([]byte(`{"thing":{"name":"Ada","`+field+`":`+value+`}}`), zone(t, "Europe/London"))
	if err != nil {
		t.Fatalf("%s: %s: %v", field, value, err)
	}
	var body map[string]map[string]json.RawMessage
	if err := json.Unmarshal(out, &body); err != nil {
		t.Fatalf("%s is not JSON: %v", out, err)
	}
	for name := range params {
		if name != field {
			t.Errorf("%s: %s: a message for %s", field, value, name)
		}
	}
	return string(body["thing"][field]), params[field]
}

const u = "019f3a52-7d1c-7b6e-8c55-0a1b2c3d4e5f"

func TestReadReturnsTheCanonicalForm(t *testing.T) {
	for _, c := range []struct{ field, sent, want string }{
		{"text", `"plain"`, `"plain"`}, {"text", `""`, `""`}, {"text", `5`, `"5"`}, {"text", `"éééééééééé"`, `"éééééééééé"`}, {"text", `null`, `null`}, {"text", `"<&>"`, `"<&>"`},
		{"boolean", `true`, `true`}, {"boolean", `false`, `false`}, {"boolean", `"true"`, `true`}, {"boolean", `null`, `true`},
		{"flag", `true`, `true`}, {"flag", `1`, `true`}, {"flag", `0`, `false`}, {"flag", `"1"`, `true`}, {"flag", `"0"`, `false`}, {"flag", `null`, `false`},
		{"gender", `true`, `true`}, {"gender", `"male"`, `true`}, {"gender", `"Female"`, `false`}, {"gender", `false`, `false`},
		{"integer", `6`, `6`}, {"integer", `"6"`, `6`}, {"integer", `0`, `0`}, {"integer", `24`, `24`}, {"integer", `null`, `null`}, {"integer", `""`, `null`},
		{"consent", `true`, `1`}, {"consent", `false`, `0`}, {"consent", `7`, `7`}, {"consent", `"2"`, `2`}, {"consent", `-1`, `-1`},
		{"id", `5`, `5`}, {"id", `"5"`, `5`}, {"id", `"0005"`, `5`}, {"id", `99999999999999999999`, `9223372036854775807`}, {"id", `null`, `null`}, {"id", `""`, `null`}, {"plain", `9223372036854775807`, `9223372036854775807`},
		{"uuid", `"` + u + `"`, `"` + u + `"`}, {"uuid", `"` + strings.ToUpper(u) + `"`, `"` + u + `"`}, {"uuid", `null`, `null`},
		{"date", `"2026-07-01"`, `"2026-07-01"`}, {"date", `null`, `null`}, {"date", `""`, `null`}, {"date", `"0001-01-01"`, `"0001-01-01"`}, {"date", `"9999-12-31"`, `"9999-12-31"`},
		{"time", `"2026-07-01T09:30:00"`, `"2026-07-01T08:30:00Z"`}, {"time", `"2026-07-01T09:30:00.120+01:00"`, `"2026-07-01T08:30:00.12Z"`},
		{"decimal", `"12.5"`, `"12.50"`}, {"decimal", `12.5`, `"12.50"`}, {"decimal", `12`, `"12.00"`}, {"decimal", `-0.05`, `"-0.05"`}, {"decimal", `"007"`, `"7.00"`}, {"decimal", `null`, `null`},
		{"price", `0`, `"0.00"`}, {"price", `null`, `"0.00"`},
		{"enum", `"SMS"`, `"SMS"`}, {"enum", `null`, `"Letter"`}, {"created", `null`, `"new"`},
		{"email", `"ada@example.com"`, `"ada@example.com"`}, {"email", `""`, `null`},
		{"country", `"gb"`, `"GB"`}, {"country", `null`, `null`},
		{"ethnicity", `"A"`, `"A"`}, {"ethnicity", `"99"`, `"99"`}, {"ethnicity", `7`, `"7"`},
		{"metadata", `{}`, `{}`}, {"metadata", `null`, `{}`}, {"metadata", `{"a":"b","n":1.50,"t":true}`, `{"a":"b","n":"1.50","t":"true"}`}, {"metadata", `{"a":""}`, `{"a":""}`},
		{"answers", `[]`, `[]`}, {"answers", `[{"field_id":"` + u + `","value":true}]`, `[{"field_id":"` + u + `","value":true}]`},
		{"answers", `[{"field_id":"` + u + `"}]`, `[{"field_id":"` + u + `","value":null}]`}, {"answers", `null`, ``},
	} {
		if got, messages := read(t, c.field, c.sent); got != c.want || messages != nil {
			t.Errorf("%s: %s is decoded as %s (%v), want %s", c.field, c.sent, got, messages, c.want)
		}
	}
}

func TestReadRefusesInvalidValues(t *testing.T) {
	long := func(n int) string { return strings.Repeat("é", n) }
	for field, values := range map[string][]string{
		"text":      {`true`, `[]`, `{}`, `"ééééééééééé"`, `"a\u0000b"`},
		"name":      {`null`, `""`, `" \t"`},
		"boolean":   {`1`, `"yes"`, `[]`, `"TRUE"`},
		"flag":      {`2`, `"yes"`, `{}`},
		"gender":    {`1`, `"m"`, `"other"`},
		"integer":   {`25`, `-1`, `1.0`, `1e1`, `"six"`, `true`, `99999999999999999999`},
		"consent":   {`1.5`, `"yes"`, `[]`, `99999999999999999999`},
		"id":        {`-5`, `5.0`, `1e3`, `"five"`, `true`, `[5]`, `"5 "`},
		"plain":     {`-5`, `9223372036854775808`, `"99999999999999999999"`},
		"uuid":      {`"5"`, `5`, `"` + u + `0"`, `"{` + u + `}"`, `"urn:uuid:` + u + `"`, `"` + strings.ReplaceAll(u, "-", "") + `"`, `true`},
		"date":      {`"2026-02-30"`, `"01/07/2026"`, `"2026-07-01T00:00:00Z"`, `20260701`, `"0000-12-31"`, `"10000-01-01"`, `true`},
		"time":      {`"0001-01-01T00:00:00Z"`, `"9999-12-31T00:00:00Z"`, `"2026-07-01"`, `"soon"`, `1751355000`, `true`},
		"decimal":   {`"12.345"`, `12.345`, `1e3`, `"1e3"`, `"£5"`, `true`, `1000000000`, `[]`},
		"price":     {`"-0.01"`, `-1`},
		"enum":      {`"sms"`, `"Fax"`, `true`},
		"email":     {`"ada"`, `"ada@"`, `5`},
		"country":   {`"GBR"`, `"4"`, `"Großbritannien"`},
		"ethnicity": {`"ABC"`, `"-"`, `"é"`},
		"metadata":  {`[]`, `"x"`, `5`, `{"a":null}`, `{"a":{}}`, `{"a":[]}`, `{"":"x"}`, `{"a":"\u0000"}`, `{"a\u0000":"x"}`, `{"a":"1","b":"2","c":"3","d":"4"}`, `{"` + long(41) + `":"x"}`, `{"a":"` + long(501) + `"}`},
		"answers":   {`{}`, `"x"`, `[5]`, `[{}]`, `[{"field_id":"x"}]`, `[{"field_id":"` + u + `","value":"\u0000"}]`},
	} {
		for _, sent := range values {
			if got, messages := read(t, field, sent); got != "" || len(messages) != 1 {
				t.Errorf("%s: %s is decoded as %q (%v)", field, sent, got, messages)
			}
		}
	}
}

func TestMetadataLimitsCountCodePoints(t *testing.T) {
	fits := `{"` + strings.Repeat("😀", codec.MetadataKeyRunes) + `":"` + strings.Repeat("😀", codec.MetadataTextRunes) + `","b":"","c":"` + strings.Repeat("x", codec.MetadataTextRunes) + `"}`
	if got, messages := read(t, "metadata", fits); got == "" || messages != nil {
		t.Errorf("refused: %v", messages)
	}
}

func TestReadReportsEveryInvalidField(t *testing.T) {
	_, params, err := every.Read([]byte(`{"thing":{"integer":"x","date":"x","email":"x"}}`), time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	want := apierror.Params{"name": {"is missing"}, "integer": {"must be a whole number"}, "date": {"must be a date of the form YYYY-MM-DD"}, "email": {"must be an e-mail address"}}
	if !reflect.DeepEqual(params, want) {
		t.Errorf("got %v, want %v", params, want)
	}
}

func TestReadDropsUnknownMembers(t *testing.T) {
	out, params, err := every.Read([]byte(` {"other":1,"thing": {"name" : "Ada","created_at":"x","__proto__":{}}} `), time.UTC)
	if err != nil || len(params) > 0 || string(out) != `{"thing":{"name":"Ada"}}` {
		t.Errorf("got %s, %v, %v", out, params, err)
	}
}

func TestReadNeedsItsWrapper(t *testing.T) {
	for sent, message := range map[string]string{
		`{}`: "is missing", `{"Thing":{}}`: "is missing", `{"thing":null}`: "is missing", `[]`: "is missing", `"x"`: "is missing", `5`: "is missing", `null`: "is missing",
		`{"thing":[]}`: "must be an object", `{"thing":"x"}`: "must be an object", `{"thing":5}`: "must be an object",
	} {
		out, params, err := every.Read([]byte(sent), time.UTC)
		if err != nil || !reflect.DeepEqual(params, apierror.Params{"thing": {message}}) || string(out) != `{"thing":{}}` {
			t.Errorf("%s: got %s, %v, %v", sent, out, params, err)
		}
	}
}

func TestReadRefusesMalformedJSON(t *testing.T) {
	for _, sent := range []string{``, ` `, `{`, `{"thing":{}`, `{"thing":{}}}`, `{"thing":{}} {}`, `{thing:{}}`, `{"thing":{"name":"a",}}`, `thing=1`, "{\"thing\":{\"name\":\"\xff\"}}", "\ufeff{}", `{"thing":{"name":"` + "\x01" + `"}}`, `{'thing':{}}`, `NaN`} {
		_, _, err := every.Read([]byte(sent), time.UTC)
		var f *apierror.Error
		if !errors.As(err, &f) || f.Code != "malformed_json" {
			t.Errorf("%q: got %v", sent, err)
		}
	}
}

func TestUpdateNeedsNoFieldAndClearsNoRequiredOne(t *testing.T) {
	edit := codec.Body{Key: "thing", Fields: every.Fields}
	out, params, err := edit.Read([]byte(`{"thing":{}}`), time.UTC)
	if err != nil || len(params) > 0 || string(out) != `{"thing":{}}` {
		t.Errorf("got %s, %v, %v", out, params, err)
	}
	_, params, err = edit.Read([]byte(`{"thing":{"name":null,"created":null,"enum":null}}`), time.UTC)
	if err != nil || !reflect.DeepEqual(params, apierror.Params{"name": {"can't be blank"}, "created": {"can't be blank"}}) {
		t.Errorf("got %v, %v", params, err)
	}
}

// FuzzRead checks that no body makes Read panic, and that the result is canonical: reading it
// again changes nothing.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`{"thing":{"name":"Ada","text":5,"flag":"1","gender":"male","consent":true,"id":"7","time":"2026-07-01T09:30","decimal":1.5,"country":"gb"}}`,
		`{"thing":{"name":"\ud800","metadata":{"\ud83d\ude00":1e400},"answers":[{"field_id":"` + u + `","value":{"a":[1]}}]}}`,
		`[[[[`, `{"thing":{"name":"a","name":null}}`, "\xff",
	} {
		f.Add([]byte(seed))
	}
	london := zone(f, "Europe/London")
	f.Fuzz(func(t *testing.T, sent []byte) {
		out, params, err := every.Read(sent, london)
		if err != nil {
			if !slices.Contains([]string{"malformed_json"}, apierror.From(err).Code) {
				t.Errorf("%q: %v", sent, err)
			}
			return
		}
		again, more, err := every.Read(out, london)
		if err != nil || string(again) != string(out) {
			t.Errorf("%q is decoded as %s, and that as %s (%v)", sent, out, again, err)
		}
		for field := range more {
			if _, known := params[field]; !known && len(params[every.Key]) == 0 {
				t.Errorf("%q is decoded as %s, in which %s is invalid: %v", sent, out, field, more[field])
			}
		}
	})
}
