package codec_test

import (
	"maps"
	"math"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"chairside/internal/apierror"
	"chairside/internal/codec"
)

var known = []codec.Param{
	{Name: "page", Kind: codec.Integer, Min: 1},
	{Name: "per_page", Kind: codec.Integer, Min: 1, Max: 100},
	{Name: "duration", Kind: codec.Integer},
	{Name: "sort_by", Kind: codec.Enum, Values: []string{"id", "start_time"}},
	{Name: "updated_after", Kind: codec.Time},
	{Name: "on", Kind: codec.Day},
	{Name: "dated_on_after", Kind: codec.Date},
	{Name: "patient_id", Kind: codec.ID},
	{Name: "site_id", Kind: codec.UUID},
	{Name: "cancelled", Kind: codec.Boolean},
	{Name: "claim_status", Kind: codec.Enum, Values: []string{"new", "completed"}},
	{Name: "query", Kind: codec.Text},
	{Name: "price_from", Kind: codec.Decimal},
	{Name: "practitioner_ids", Kind: codec.ID, Array: true},
}

func parse(t testing.TB, raw string) url.Values {
	t.Helper()
	v, err := url.ParseQuery(raw)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestReadQueryReturnsTheCanonicalForm(t *testing.T) {
	london := zone(t, "Europe/London")
	for sent, want := range map[string]string{
		"":                                 "",
		"page=2&per_page=10":               "page=2&per_page=10",
		"page=0002":                        "page=2",
		"per_page=100":                     "per_page=100",
		"per_page=101":                     "per_page=100",
		"per_page=99999999999999999999999": "per_page=100",
		"page=99999999999999999999999":     "page=" + strconv.Itoa(math.MaxInt),
		"sort_by=start_time":               "sort_by=start_time",
		"updated_after=2026-07-01T09:30:00%2B01:00":    "updated_after=2026-07-01T08:30:00Z",
		"updated_after=2026-07-01T09:30:00+01:00":      "updated_after=2026-07-01T08:30:00Z",
		"updated_after=2026-07-01T09:30":               "updated_after=2026-07-01T08:30:00Z",
		"updated_after=2026-07-01":                     "updated_after=2026-06-30T23:00:00Z",
		"updated_after=2026-01-01":                     "updated_after=2026-01-01T00:00:00Z",
		"updated_since=2026-01-01":                     "updated_after=2026-01-01T00:00:00Z",
		"on=2026-07-01":                                "on=2026-07-01",
		"on=2026-07-01T23:30:00Z":                      "on=2026-07-02",
		"on=2026-07-01T23:30:00":                       "on=2026-07-01",
		"dated_on_after=2026-07-01":                    "dated_on_after=2026-07-01",
		"dated_on_after=0001-01-01":                    "dated_on_after=0001-01-01",
		"dated_on_after=9999-12-31":                    "dated_on_after=9999-12-31",
		"on=0001-01-01":                                "on=0999-12-30", // no time can be stored on either day
		"on=9999-12-31":                                "on=9999-01-02",
		"on=9999-12-31T23:59:59Z":                      "on=9999-01-02",
		"updated_after=0001-01-01":                     "updated_after=0999-12-30T00:01:15Z",
		"updated_after=0001-01-01T00:00:00Z":           "updated_after=0999-12-30T00:01:15Z",
		"updated_after=1000-01-01T00:00:00Z":           "updated_after=1000-01-01T00:00:00Z",
		"updated_after=9998-12-31T23:59:59.999Z":       "updated_after=9998-12-31T23:59:59.999Z",
		"updated_after=9999-12-31":                     "updated_after=9999-01-02T00:00:00Z",
		"updated_after=9999-12-31T23:59:59.999-12:00":  "updated_after=9999-01-02T00:00:00Z",
		"patient_id=0042":                              "patient_id=42",
		"patient_id=99999999999999999999999":           "patient_id=9223372036854775807",
		"site_id=019F3A52-7D1C-7B6E-8C55-0A1B2C3D4E5F": "site_id=" + u,
		"duration=-5":                                  "duration=-5",
		"cancelled=true":                               "cancelled=true",
		"cancelled=1":                                  "cancelled=true",
		"cancelled=True":                               "cancelled=true",
		"claim_status=completed":                       "claim_status=completed",
		"claim_status=complete":                        "claim_status=completed",
		"cancelled=0":                                  "cancelled=false",
		"price_from=12.5":                              "price_from=12.50",
		"query=":                                       "query=",
		"query=O'Brien+%2B44":                          "query=O'Brien+%2B44",
		"practitioner_ids[]=1&practitioner_ids[]=2":    "practitioner_ids=1&practitioner_ids=2",
		"practitioner_ids[0]=1":                        "practitioner_ids=1",
		"practitioner_ids=1,2":                         "practitioner_ids=1&practitioner_ids=2",
		"practitioner_ids=1&practitioner_ids=2":        "practitioner_ids=1&practitioner_ids=2",
		"practitioner_ids[]=":                          "",
		"access_token=secret":                          "",
	} {
		canonical, unknown, params := codec.ReadQuery(parse(t, sent), known, london)
		if !reflect.DeepEqual(canonical, parse(t, want)) || unknown != nil || len(params) > 0 {
			t.Errorf("%s is decoded as %s, unknown %v, messages %v; want %s", sent, canonical.Encode(), unknown, params, want)
		}
	}
}

func TestReadQueryRefusesInvalidValues(t *testing.T) {
	for name, values := range map[string][]string{
		"page":             {"0", "-1", "", "one", "1.0", "1e1", " 1", "٣"},
		"per_page":         {"0", "-5", "", "all", "-99999999999999999999999"},
		"claim_status":     {"", "New", "done"},
		"sort_by":          {"", "complete", "name", "ID", "start_time desc"},
		"updated_after":    {"", "yesterday", "0000-12-31", "0000-12-31T00:00:00Z", "10000-01-01", "2026-02-30", "2026-13-01T00:00:00Z", "1751355000"},
		"on":               {"", "today", "2026-02-30"},
		"dated_on_after":   {"", "2026-02-30", "2026-07-01T00:00:00Z", "0000-01-01", "10000-01-01"},
		"patient_id":       {"", "abc", "-1", "1.5", "1,2"},
		"site_id":          {"", "1", "019f3a52", u + "0"},
		"cancelled":        {"", "yes", "TRUE", "2", "null"},
		"price_from":       {"", "dear", "1.234", "1e3"},
		"query":            {"a\x00"},
		"practitioner_ids": {"1,x", "x", "1,,2", "-1", "1;2"},
	} {
		for _, sent := range values {
			canonical, _, params := codec.ReadQuery(url.Values{name: {sent}}, known, time.UTC)
			if !slices.Equal(slices.Collect(maps.Keys(params)), []string{name}) || name != "practitioner_ids" && len(canonical) > 0 {
				t.Errorf("%s=%q is decoded as %v, messages %v", name, sent, canonical, params)
			}
		}
	}
}

func TestReadQueryCountsEachElementOnce(t *testing.T) {
	list := func(n int) (ids []string) {
		for i := range 2 * n {
			ids = append(ids, strconv.Itoa(i%n))
		}
		return ids
	}
	for n, messages := range map[int]int{1000: 0, 1001: 1} {
		canonical, _, params := codec.ReadQuery(url.Values{"practitioner_ids": {strings.Join(list(n), ",")}}, known, time.UTC)
		if len(canonical["practitioner_ids"]) != 1000 || len(params["practitioner_ids"]) != messages {
			t.Errorf("%d different ids: got %d, messages %v", n, len(canonical["practitioner_ids"]), params)
		}
	}
}

func TestReadQueryRefusesRepeatedParameters(t *testing.T) {
	for _, sent := range []string{"page=1&page=2", "updated_after=2026-01-01&updated_since=2026-01-02"} {
		if _, _, params := codec.ReadQuery(parse(t, sent), known, time.UTC); len(params) != 1 {
			t.Errorf("%s: messages %v", sent, params)
		}
	}
}

func TestReadQueryReportsUnknownParameters(t *testing.T) {
	_, unknown, params := codec.ReadQuery(parse(t, "zebra=1&page=1&Page=2&page[]=3&practitioner_ids[x]=1&practitioner_ids[=1&access_token=x"), known, time.UTC)
	if want := []string{"Page", "page[]", "practitioner_ids[", "practitioner_ids[x]", "zebra"}; !slices.Equal(unknown, want) || len(params) > 0 {
		t.Errorf("unknown %v, messages %v; want %v", unknown, params, want)
	}
}

func TestReadQueryNamesTheAllowedOrders(t *testing.T) {
	_, _, params := codec.ReadQuery(parse(t, "sort_by=x"), known, time.UTC)
	if want := (apierror.Params{"sort_by": {"must be one of: id, start_time"}}); !reflect.DeepEqual(params, want) {
		t.Errorf("messages %v, want %v", params, want)
	}
}

// FuzzReadQuery checks that no query makes ReadQuery panic, and that the result is canonical:
// reading it again changes nothing.
func FuzzReadQuery(f *testing.F) {
	for _, seed := range []string{"page=2&on=2026-10-25T01:30&practitioner_ids[0]=1,2", "updated_since=2026-07-01 09:30:00 01:00", "query=%00", "page=-9223372036854775808"} {
		f.Add(seed)
	}
	london := zone(f, "Europe/London")
	f.Fuzz(func(t *testing.T, raw string) {
		sent, err := url.ParseQuery(raw)
		if err != nil {
			return
		}
		canonical, _, _ := codec.ReadQuery(sent, known, london)
		again, unknown, params := codec.ReadQuery(canonical, known, london)
		if !reflect.DeepEqual(again, canonical) || unknown != nil || len(params) > 0 {
			t.Errorf("%q is decoded as %v, and that as %v, unknown %v, messages %v", raw, canonical, again, unknown, params)
		}
	})
}
