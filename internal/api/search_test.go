package api_test

import (
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"chairside/ent/patient"
	"chairside/ent/site"
	"chairside/internal/principal"
	"chairside/internal/test/harness"
	"chairside/ogent"
	"chairside/schema"
)

// TestSearchFindsByEveryPrefix: of every word of unusual patients, whatever index PostgreSQL
// uses.
func TestSearchFindsByEveryPrefix(t *testing.T) {
	odd := []row{
		{"first_name": "Þóra-Mae", "last_name": "ap Rhys-O'Neill", "email_address": "a.b_c+dé.verylong99@x.example.org", "legacy_id": "AB/12-x"},
		{"first_name": "Jo", "middle_name": "A.", "last_name": "Ng", "email_address": "jo@ng.example.org", "legacy_id": "x@y@z 7"},
		{"first_name": "杨丽", "last_name": "欧阳", "preferred_name": "يوسف", "email_address": "o'd%d_y@example.org", "legacy_id": `back\slash`},
		{"first_name": "Ірина", "last_name": "Ясинська", "preferred_name": "İzzet", "postcode": "x9 9xx", "mobile_phone": "07700 900900 mum's"},
	}
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token, ctx := e.Token(t, ""), e.As(t, "demo")
		c, newestFirst := e.Client(t, token), func(p *ogent.ListPatientsParams) { p.SortDirection.SetTo("desc") }
		for _, fields := range odd {
			id := number(rawRegister(t, e, token, fields).Status(t, 201).At(t, "patient.id"))
			stored, err := e.DB.Ent.Patient.Query().Order(patient.ByID()).All(ctx)
			if err != nil {
				t.Fatal(err)
			}
			for _, word := range strings.Fields(stored[len(stored)-1].SearchText) {
				for end := range word + " " {
					query := word[:end]
					if strings.Trim(query, "0123456789") == "" {
						continue // a number is also found by other digits: TestSearchFindsPatients
					}
					if !slices.Contains(patientIDs(patients(t, c, query, newestFirst)), id) {
						t.Errorf("%q of %q does not find the patient", query, word)
					}
				}
			}
		}
	})
}

// TestSearchIsPagedAndSorted: in every order, within what the caller may see.
func TestSearchIsPagedAndSorted(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		sites, err := e.DB.Ent.Site.Query().Order(site.ByID()).IDs(e.As(t, "demo"))
		if err != nil || len(sites) < 2 {
			t.Fatalf("sites are %v, %v", sites, err)
		}
		c := e.Client(t, token)
		add := func(first string, site int) int64 {
			return register(t, c, firstName(first), lastName("Quetzal"), func(in *ogent.PatientInput) { in.SiteID.SetTo(sites[site]) }).ID
		}
		carl, anna, bob := add("Carl", 0), add("Anna", 0), add("Bob", 1)
		here, there := e.TokenOf(t, "admin@demo.chairside.test", "", &sites[0]), e.TokenOf(t, "admin@demo.chairside.test", "", &sites[1])
		asked := func(sort, direction string, page, size int) func(*ogent.ListPatientsParams) {
			return func(p *ogent.ListPatientsParams) {
				p.SortBy.SetTo(sort)
				p.SortDirection.SetTo(direction)
				p.Page.SetTo(page)
				p.PerPage.SetTo(size)
			}
		}
		plain := func(*ogent.ListPatientsParams) {}
		for _, test := range []struct {
			name  string
			ask   func(*ogent.ListPatientsParams)
			token string
			total int
			ids   []int64
		}{
			{"by id", plain, token, 3, []int64{carl, anna, bob}},
			{"by name", func(p *ogent.ListPatientsParams) { p.SortBy.SetTo("first_name") }, token, 3, []int64{anna, bob, carl}},
			{"backwards", asked("first_name", "desc", 1, 25), token, 3, []int64{carl, bob, anna}},
			{"a page", asked("first_name", "asc", 1, 2), token, 3, []int64{anna, bob}},
			{"the next", asked("first_name", "asc", 2, 2), token, 3, []int64{carl}},
			{"past the end", asked("id", "asc", 3, 2), token, 3, nil},
			{"with a range", func(p *ogent.ListPatientsParams) {
				p.SortBy.SetTo("first_name")
				p.UpdatedAfter.SetTo(instant("2000-01-01"))
			}, token, 3, []int64{anna, bob, carl}},
			{"of a site", asked("first_name", "asc", 1, 25), here, 2, []int64{anna, carl}},
			{"of another", plain, there, 1, []int64{bob}},
			{"of another practice", plain, elsewhere(t, e), 0, nil},
		} {
			list := patients(t, e.Client(t, test.token), "quetzal", test.ask)
			if got := patientIDs(list); list.Meta.Total != test.total || !slices.Equal(got, test.ids) {
				t.Errorf("%s: %v of %d, want %v of %d", test.name, got, list.Meta.Total, test.ids, test.total)
			}
		}
	})
}

// TestSearchFindsTheSameAsAScan: for parts of search texts, numbers in several formats, and
// text that no patient has.
func TestSearchFindsTheSameAsAScan(t *testing.T) {
	odd := []row{
		{"first_name": "Jo", "last_name": "Ng", "legacy_id": "a@b@c 7", "mobile_phone": "07700 900900", "nhs_number": "943 476 5919"},
		{"first_name": "@home", "last_name": "x@", "legacy_id": "12@34", "mobile_phone": "07 70 09 00 90 9", "home_phone": "0114 496 0568 / 0569"},
		{"first_name": "欧阳", "last_name": "李", "preferred_name": "ibn ٠٧٧٠٠", "home_phone": "+1 (202) 555-0123", "postcode": "M6 1SN"},
		{"first_name": "Bjørn", "last_name": "Øst-Åsen", "legacy_id": "{\"a\",b}", "email_address": "12345678@x.example.org", "work_phone": "900900"},
		{"first_name": "100%", "last_name": `_\_`, "legacy_id": "77009009000 0770", "email_address": "john19850412@x.example.org"},
		{"first_name": strings.Repeat("y", 255), "last_name": "Tar\tЛисенко", "legacy_id": strings.Repeat("1234567890", 25)},
	}
	queries := []string{
		"%", "_", `\`, "'", `"`, "{}", "NULL", "@", "a@", "@a", "a@b", "a@b@c", "1@2", "12@3", "--", "+", "0", "07", "077", "0770", "07700", "900900", "9009", "٠٧٧٠٠", "０７７００", "é", "ø", "李", "欧", "ﬁ", "e\u0301", "🦷", "\u00a0", "ß", "i\u0307",
		"jo ng 900", "jo 07700", "ng 0770", "m6", "m6 1", "x@ 12", "07700 900900", "+44 7700 900900", "0044 7700 900900", "7 7 0 0", "07 70 09 00 90 9", "0114 496 0568", "(0114) 496-0568", "496 0568", "202-555-0123", "+12025550123", "900 9434", "900900 07700", "9434765919 07700",
		strings.Repeat("1", 40), strings.Repeat("1234567890", 4), strings.Repeat("9 ", 40), strings.Repeat("y", 255), strings.Repeat("long ", 50), strings.Repeat("%", 255),
	}
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token, ctx := e.Token(t, ""), e.As(t, "demo")
		for _, fields := range odd {
			rawRegister(t, e, token, fields).Status(t, 201)
		}
		stored, err := e.DB.Ent.Patient.Query().Order(patient.ByID()).All(ctx)
		if err != nil {
			t.Fatal(err)
		}
		queries, random := slices.Clone(queries), rand.New(rand.NewPCG(1, 2))
		for range 250 { // alternately of the unusual patients, which are last, and of others
			from := stored[len(stored)-1-random.IntN(len(odd))]
			if random.IntN(2) == 0 {
				from = stored[random.IntN(len(stored))]
			}
			queries = append(queries, partOf(random, from.SearchText))
		}
		for _, query := range queries {
			if strings.TrimSpace(query) == "" {
				continue // matches every patient
			}
			var want []int64
			for _, p := range stored {
				if scan(p.SearchText, query) {
					want = append(want, p.ID)
				}
			}
			list := patients(t, e.Client(t, token), query)
			if list.Meta.Total != len(want) {
				t.Errorf("%q: %d, a scan finds %d", query, list.Meta.Total, len(want))
			}
			if got := patientIDs(list); !slices.Equal(got, want[:min(len(want), 100)]) {
				t.Errorf("%q: %v, a scan finds %v", query, got, want)
			}
		}
	})
}

// partOf returns a run of characters of a text, sometimes with other punctuation.
func partOf(random *rand.Rand, text string) string {
	characters := []rune(text)
	from := random.IntN(len(characters))
	part := string(characters[from:min(len(characters), from+1+random.IntN(16))])
	between := []string{"", " ", "-", ", ", "  "}[random.IntN(5)]
	switch at := random.IntN(len(part) + 1); random.IntN(3) {
	case 0:
		return strings.ToValidUTF8(part[:at]+between+part[at:], "?")
	case 1:
		return strings.ToUpper(part)
	}
	return part
}

// scan reports whether a search text matches a query, by reading all of it.
func scan(text, query string) bool {
	var numbers []string
	for _, word := range strings.Fields(strings.ReplaceAll(schema.SearchFold(query), ",", " ")) {
		if !strings.ContainsFunc(word, unicode.IsLetter) {
			numbers = append(numbers, word)
		} else if !spelled(text, schema.SearchWords(word)[0]) {
			return false
		}
	}
	begun := !slices.ContainsFunc(numbers, func(word string) bool { return !strings.Contains(text, " "+word) })
	whole := strings.Join(numbers, " ")
	national, international := schema.Digits(whole), schema.Digits(schema.NormalizePhone(whole, "", "GB"))
	return begun || national != "" && strings.Contains(text, national) || international != "" && strings.Contains(text, international)
}

// spelled reports whether a search text has a word, with any apostrophes and
// hyphens it is written.
func spelled(text, word string) bool {
	joints := func(r rune) bool { return strings.ContainsRune("'’‘`´-‐‑‒–—", r) }
	parts := strings.FieldsFunc(word, joints)
	names := len(parts) > 1
	for _, part := range parts {
		names = names && len([]rune(part)) > 1 && !strings.ContainsFunc(part, unicode.IsDigit) && strings.Contains(text, " "+part)
	}
	return names || strings.Contains(text, " "+word) || strings.Contains(text, " "+strings.Join(parts, ""))
}

// TestSearchIgnoresTheKindOfApostropheAndHyphen: in the search and in the name.
func TestSearchIgnoresTheKindOfApostropheAndHyphen(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		c, ids := e.Client(t, e.Token(t, "")), map[string]int64{}
		for _, last := range []string{"Q’Arcyx", "Q'Arcyx", "Quill‐Xander", "Quill-Xander", "Qua Marix", "Qua-Marix", "Quarcyx"} {
			ids[last] = register(t, c, firstName("Jo"), lastName(last)).ID
		}
		for query, found := range map[string][]string{
			"Q'Arcyx":       {"Q’Arcyx", "Q'Arcyx"},
			"q’arcyx":       {"Q’Arcyx", "Q'Arcyx"},
			"Qarcyx":        {"Q’Arcyx", "Q'Arcyx"},
			"Quill-Xander":  {"Quill‐Xander", "Quill-Xander"},
			"Quill–Xan, Jo": {"Quill‐Xander", "Quill-Xander"},
			"Quill Xander":  {"Quill‐Xander", "Quill-Xander"},
			"Qua-Marix":     {"Qua Marix", "Qua-Marix"},
			"Qu'arcyx":      {"Quarcyx"},
			"Xander-Quill":  {"Quill‐Xander", "Quill-Xander"},
			"Q-Marix":       nil,
		} {
			var want []int64
			for _, last := range found {
				want = append(want, ids[last])
			}
			if got := patientIDs(patients(t, c, query)); !slices.Equal(got, want) {
				t.Errorf("%q finds %v, want %v", query, got, want)
			}
		}
	})
}

// TestSearchReadsOnlyItsPracticesKeys: and no other index, even if other practices have
// patients of that name.
func TestSearchReadsOnlyItsPracticesKeys(t *testing.T) {
	address, settings, _ := strings.Cut(harness.Postgres(t), "?")
	e := harness.Start(t, address+"?plan_cache_mode=force_generic_plan&"+settings) // a plan for common arguments would not use the index
	e.DB.SQL.SetMaxOpenConns(1)                                                    // the statistics of a connection are flushed by its next statement
	ctx := principal.AsSystem(t.Context())
	for practice, copies := range map[string]int{"demo": 2000, "second": 3} {
		const namesakes = `INSERT INTO patients (created_at, updated_at, title, first_name, last_name, date_of_birth, gender, ethnicity, address_line_1, postcode, metadata, practice_id, payment_plan_id, site_id, search_text)
			SELECT p.created_at, p.updated_at, title, first_name, last_name, date_of_birth, gender, ethnicity, p.address_line_1, p.postcode, p.metadata, practice_id, payment_plan_id, site_id, ' jo quetzal 07700900123 447700900123'
			FROM patients p JOIN practices ON practices.id = practice_id, generate_series(1, $2) WHERE slug = $1 LIMIT $2`
		if _, err := e.DB.SQL.ExecContext(ctx, namesakes, practice, copies); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := e.DB.SQL.ExecContext(ctx, "ANALYZE patients"); err != nil {
		t.Fatal(err)
	}
	var searches, entries, others int
	search := func(token, query string) (total string, read, beside int) {
		t.Helper()
		total = e.Get(t, "/v1/patients?query="+url.QueryEscape(query), token).Status(t, 200).Text(t, "meta.total")
		before, entriesBefore, othersBefore := searches, entries, others
		for deadline := time.Now().Add(20 * time.Second); searches == before; time.Sleep(20 * time.Millisecond) {
			const statistics = `SELECT sum(idx_scan) FILTER (WHERE indexrelname = 'patient_search_keys'), sum(idx_tup_read) FILTER (WHERE indexrelname = 'patient_search_keys'),
				sum(idx_tup_read) FILTER (WHERE indexrelname LIKE '%practice_id%') FROM pg_stat_user_indexes WHERE relname = 'patients'`
			if err := e.DB.SQL.QueryRowContext(ctx, statistics).Scan(&searches, &entries, &others); err != nil || time.Now().After(deadline) {
				t.Fatalf("%q does not read the index: %v", query, err)
			}
		}
		return total, entries - entriesBefore, others - othersBefore
	}
	large, small := e.Token(t, ""), elsewhere(t, e)
	search(large, "quetzal") // flushes the statistics of earlier statements
	for _, c := range []struct{ token, query, total string }{{large, "quetzal", "2000"}, {small, "quetzal", "3"}, {small, "07700 900123", "3"}, {small, "077", ""}} {
		total, read, beside := search(c.token, c.query)
		if c.total != "" && total != c.total || strconv.Itoa(read) != total || beside != 0 {
			t.Errorf("%q reads %d keys and %d more patients for %s of %s", c.query, read, beside, total, c.total)
		}
	}
}
