package schema_test

import (
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/runes"
	"golang.org/x/text/transform"
	"golang.org/x/text/unicode/norm"

	"chairside/internal/civil"
	"chairside/internal/decimal"
	"chairside/schema"
)

func TestNormalizePhone(t *testing.T) {
	for _, c := range []struct{ name, number, country, practice, want string }{
		{"landline", "020 7946 0123", "", "GB", "+442079460123"},
		{"fictional mobile number: possible, though not valid", "07700 900123", "", "GB", "+447700900123"},
		{"fictional landline number", "0114 496 0999", "", "GB", "+441144960999"},
		{"01632, an area code that does not exist", "01632 960123", "", "GB", "+441632960123"},
		{"international form", "+44 7700 900123", "", "GB", "+447700900123"},
		{"international form needs no country", "+33 6 39 98 01 23", "", "GB", "+33639980123"},
		{"international prefix", "0044 7700 900123", "", "GB", "+447700900123"},
		{"brackets and hyphens", "(0114) 496-0123", "", "GB", "+441144960123"},
		{"the trunk zero in brackets", "+44 (0)7700 900123", "", "GB", "+447700900123"},
		{"words after the number", "0114 496 0123 (evenings)", "", "GB", ""},
		{"the number's country wins over the practice's", "202-555-0123", "US", "GB", "+12025550123"},
		{"lower-case country", "06 39 98 01 23", "fr", "GB", "+33639980123"},
		{"the practice's country", "202-555-0123", "", "US", "+12025550123"},
		{"as short as a local number", "07700 90", "", "GB", "+440770090"},
		{"too short", "07", "", "GB", ""},
		{"too long", "07700 900123 456 789", "", "GB", ""},
		{"words", "ex-directory", "", "GB", ""},
		{"nothing", "", "", "GB", ""},
		{"unknown country", "020 7946 0123", "ZZ", "GB", ""},
		{"no country", "020 7946 0123", "", "", ""},
		{"no country, international form", "+442079460123", "", "", "+442079460123"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := schema.NormalizePhone(c.number, c.country, c.practice); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestSearchTextMatchesEveryKindOfSearch(t *testing.T) {
	text := schema.SearchText([]string{"Zoë", "", "O'Brien-Łuczak", "Zo"}, "SW1A 1AA", "Zoe.OB@Example.com", "abcdefghijklmnopabcd", "OLD-0042",
		[]string{"07700 900123", "", "ext 12", "0114 496 0123 (evenings)"})
	for _, word := range []string{" zoe", " o'brien-łuczak", " brien", " łuczak", " zo", " sw1a", " 1aa", " sw1a1aa", " zoe.ob@example.com", " =abcdefghijklmnopabcd", " old-0042", " 07700900123", " 12", " ext", " evenings"} {
		if !strings.Contains(text, word) {
			t.Errorf("%q lacks %q", text, word)
		}
	}
	if schema.SearchText(nil, "", "", "", "", nil) != "" {
		t.Error("empty columns have a search text")
	}
}

func TestSearchFoldIgnoresCaseAndAccents(t *testing.T) {
	for in, want := range map[string]string{"ÉLODIE": "elodie", "Straße": "strasse", "Ångström": "angstrom", "e\u0301": "e", "ΣΊΣΥΦΟΣ": "σισυφοσ", "": ""} {
		if got := schema.SearchFold(in); got != want {
			t.Errorf("SearchFold(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestFoldKeepsAccents(t *testing.T) {
	if schema.Fold("ÉCOLE") != "école" || schema.Fold("Straße") != schema.Fold("STRASSE") {
		t.Errorf("got %q and %q", schema.Fold("ÉCOLE"), schema.Fold("Straße"))
	}
}

// TestFoldIsIdempotent checks that folding a folded name changes nothing: search folds both
// the stored name and the query.
func TestFoldIsIdempotent(t *testing.T) {
	for r := rune(1); r <= unicode.MaxRune; r++ {
		once := schema.Fold(string(r))
		if twice := schema.Fold(once); utf8.ValidRune(r) && twice != once {
			t.Fatalf("%U is folded to %q, and that to %q", r, once, twice)
		}
	}
	for small, large := range map[string]string{"\uab70": "\u13a0", "\uabbf": "\u13ef", "\u13f8": "\u13f0", "\u13fd": "\u13f5"} {
		if schema.Fold(small) != large || schema.Fold(large) != large {
			t.Errorf("%q and %q are folded to %q and %q", small, large, schema.Fold(small), schema.Fold(large))
		}
	}
}

func TestFullName(t *testing.T) {
	for _, c := range [][3]string{{"Ada", "Lovelace", "Ada Lovelace"}, {" Ada ", " Lovelace ", "Ada Lovelace"}, {"Ada", "", "Ada"}, {"", "Lovelace", "Lovelace"}, {"", "", ""}} {
		if got := schema.FullName(c[0], c[1]); got != c[2] {
			t.Errorf("FullName(%q, %q) = %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

func TestDigits(t *testing.T) {
	if got := schema.Digits("+44 (0)7700-900٣123x"); got != "4407700900123" {
		t.Errorf("got %q", got)
	}
}

func TestMinutesAreWhole(t *testing.T) {
	start := time.Date(2026, 7, 1, 9, 0, 0, 0, time.UTC)
	for length, want := range map[time.Duration]int{0: 0, time.Minute: 1, 59 * time.Second: 0, 90 * time.Second: 1, 24 * time.Hour: 1440} {
		if got := schema.Minutes(start, start.Add(length)); got != want {
			t.Errorf("%v has %d minutes, want %d", length, got, want)
		}
	}
}

func TestInvoiceStatusFollowsTheAmounts(t *testing.T) {
	for _, c := range []struct {
		name                string
		amount, outstanding decimal.Decimal
		sent, void          bool
		want                schema.InvoiceStatus
	}{
		{"new", 5000, 5000, false, false, schema.InvoiceNew},
		{"sent", 5000, 5000, true, false, schema.InvoiceSent},
		{"part paid", 5000, 2000, false, false, schema.InvoicePartPaid},
		{"part paid and sent", 5000, 2000, true, false, schema.InvoicePartPaid},
		{"paid", 5000, 0, false, false, schema.InvoicePaid},
		{"paid and sent", 5000, 0, true, false, schema.InvoicePaid},
		{"void", 5000, 5000, true, true, schema.InvoiceVoid},
		{"void, with a payment", 5000, 0, false, true, schema.InvoiceVoid},
		{"zero amount, new", 0, 0, false, false, schema.InvoiceNew},
		{"zero amount, sent", 0, 0, true, false, schema.InvoiceSent},
	} {
		if got := schema.InvoiceStatusOf(c.amount, c.outstanding, c.sent, c.void); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestPaymentStatus(t *testing.T) {
	for _, c := range []struct {
		amount, unexplained decimal.Decimal
		want                string
		fully               bool
	}{{5000, 0, "paid", true}, {5000, 5000, "unexplained", false}, {5000, 1, "partially_explained", false}, {0, 0, "paid", true}} {
		if got := schema.PaymentStatus(c.amount, c.unexplained); got != c.want || schema.FullyExplained(c.unexplained) != c.fully {
			t.Errorf("%d with %d unexplained is %s, want %s", c.amount, c.unexplained, got, c.want)
		}
	}
}

func TestPermissionLevels(t *testing.T) {
	levels := map[schema.Role]int{
		schema.RoleReceptionist: 1, schema.RoleNurse: 1, schema.RoleDentist: 2, schema.RoleHygienist: 2, schema.RoleTherapist: 2,
		schema.RoleManager: 3, schema.RoleAdministrator: 4, "": 0, "king": 0,
	}
	for role, want := range levels {
		if got := schema.PermissionLevelOf(role); got != want {
			t.Errorf("%s has level %d, want %d", role, got, want)
		}
	}
	for _, role := range schema.Role("").Values() {
		if levels[schema.Role(role)] == 0 {
			t.Errorf("%s has no level", role)
		}
	}
}

func TestAgeChangesOnTheBirthday(t *testing.T) {
	for _, c := range []struct {
		born, at string
		want     int
	}{
		{"1990-06-15", "2026-06-14", 35}, {"1990-06-15", "2026-06-15", 36}, {"2000-02-29", "2026-02-28", 25}, {"2000-02-29", "2026-03-01", 26}, {"2026-07-01", "2026-07-01", 0},
	} {
		if got := schema.Age(civil.MustParse(c.born), civil.MustParse(c.at)); got != c.want {
			t.Errorf("born %s is %d at %s, want %d", c.born, got, c.at, c.want)
		}
	}
}

// TestEveryStateHasATimestamp checks the table of spec.md, States.
func TestEveryStateHasATimestamp(t *testing.T) {
	want := map[schema.AppointmentState]string{
		"Pending": "pending_at", "Confirmed": "confirmed_at", "Arrived": "arrived_at", "In surgery": "in_surgery_at",
		"Completed": "completed_at", "Cancelled": "cancelled_at", "Did not attend": "did_not_attend_at",
	}
	if got := len(schema.Pending.Values()); got != len(want) {
		t.Errorf("%d states, want %d", got, len(want))
	}
	for state, column := range want {
		if state.Stamp() != column {
			t.Errorf("%s stamps %q, want %q", state, state.Stamp(), column)
		}
		if blocks := state != "Cancelled" && state != "Did not attend"; state.Blocks() != blocks {
			t.Errorf("%s blocks: %v", state, state.Blocks())
		}
	}
	if schema.AppointmentState("Lost").Stamp() != "" {
		t.Error("an unknown state has a timestamp")
	}
}

// FuzzNormalizePhone checks that any text is accepted, and that a normalised number normalises
// to itself in any country.
func FuzzNormalizePhone(f *testing.F) {
	for _, seed := range []string{"07700 900123", "+1 202 555 0123 ext. 5", "ex-directory", "٠٧٧٠٠", ";phone-context=+44", "\x00"} {
		f.Add(seed, "GB")
	}
	f.Fuzz(func(t *testing.T, number, country string) {
		e164 := schema.NormalizePhone(number, country, "GB")
		if e164 == "" {
			return
		}
		if !strings.HasPrefix(e164, "+") || schema.Digits(e164) != e164[1:] {
			t.Errorf("%q in %q gives %q", number, country, e164)
		}
		if again := schema.NormalizePhone(e164, "", "US"); again != e164 {
			t.Errorf("%q is normalized again to %q", e164, again)
		}
	})
}

// FuzzFold checks the shortcuts for ASCII and accents against Unicode's algorithms.
func FuzzFold(f *testing.F) {
	for _, seed := range []string{"", "O'Brien @[`{", "ÉLODIE Straße", "e\u0301\u0323\u034f", "가각\u1100\u1161", "a" + strings.Repeat("\u302e\u0301", 40), "ﬁ Å\u212b İ ΐ", "a\xffb\xc3", "\U0001d15e", "\u13a0\uab70\xff\u13fd"} {
		f.Add(seed)
	}
	cherokee := regexp.MustCompile(`\p{Cherokee}`) // x/text swaps the letters of each pair
	folded := func(s string) string {
		return cherokee.ReplaceAllStringFunc(cases.Fold().String(s), strings.ToUpper)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got, want := schema.Fold(s), folded(s); got != want {
			t.Errorf("Fold(%q) = %q, want %q", s, got, want)
		}
		plain, _, err := transform.String(transform.Chain(norm.NFD, runes.Remove(runes.In(unicode.Mn)), norm.NFC), s)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := schema.SearchFold(s), folded(plain); got != want {
			t.Errorf("SearchFold(%q) = %q, want %q", s, got, want)
		}
	})
}

// FuzzSearchText checks that the search text contains each word of the name and the postcode.
func FuzzSearchText(f *testing.F) {
	f.Add("Zoë O'Brien", "SW1A 1AA")
	f.Add("İstanbul Σς", "  ")
	f.Fuzz(func(t *testing.T, name, postcode string) {
		if !utf8.ValidString(name + postcode) {
			return
		}
		text := schema.SearchText([]string{name}, postcode, "", "", "", nil)
		for _, word := range schema.SearchWords(name + " " + postcode) {
			if !strings.Contains(text, " "+word) {
				t.Errorf("%q lacks %q", text, word)
			}
		}
		if strings.Contains(text, "  ") || !utf8.ValidString(text) {
			t.Errorf("%q holds an empty word or is not text", text)
		}
	})
}
