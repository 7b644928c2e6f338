package schema

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/nyaruka/phonenumbers"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"chairside/internal/civil"
	"chairside/internal/decimal"
)

// Fold returns the form by which text is sorted and compared: Unicode case folding.
func Fold(s string) string {
	if isASCII(s) { // the common case, without the cost of Unicode
		return strings.ToLower(s)
	}
	return cherokee.Replace(cases.Fold().String(s))
}

// cherokee folds small Cherokee letters to capitals, as Unicode does
// (CaseFolding.txt); cases.Fold swaps each pair instead.
var cherokee = func() *strings.Replacer {
	var pairs []string
	for r := range rune(0xABBF + 1 - 0xAB70) {
		pairs = append(pairs, string(0xAB70+r), string(0x13A0+r))
	}
	for r := range rune(0x13FD + 1 - 0x13F8) {
		pairs = append(pairs, string(0x13F8+r), string(0x13F0+r))
	}
	return strings.NewReplacer(pairs...)
}()

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// FullName joins first and last name, without the blank ones.
func FullName(first, last string) string {
	return strings.TrimSpace(strings.TrimSpace(first) + " " + strings.TrimSpace(last))
}

// Minutes is the length of [start, finish) in whole minutes.
func Minutes(start, finish time.Time) int { return int(finish.Sub(start) / time.Minute) }

// NormalizeEmail returns the form in which users' addresses are stored and looked up:
// trimmed and in lower case.
func NormalizeEmail(address string) string { return strings.ToLower(strings.TrimSpace(address)) }

// NormalizePhone returns the E.164 form of a number that libphonenumber considers
// possible for the country (ISO 3166; default the practice's), or "" (behaviour.md
// section 2).
func NormalizePhone(number, country, practiceCountry string) string {
	if country == "" {
		country = practiceCountry
	}
	n, err := phonenumbers.Parse(number, strings.ToUpper(country))
	if err != nil || !phonenumbers.IsPossibleNumber(n) {
		return ""
	}
	return phonenumbers.Format(n, phonenumbers.E164)
}

// HasPhones reports whether libphonenumber knows a country by its ISO 3166 code in upper case.
// (It is GB, not UK.)
func HasPhones(country string) bool { return phonenumbers.GetCountryCodeForRegion(country) != 0 }

// Digits keeps the ASCII digits of s.
func Digits(s string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, s)
}

// SearchFold is Fold without accents. Search compares it.
func SearchFold(s string) string {
	if isASCII(s) {
		return Fold(s)
	}
	return Fold(norm.NFC.String(strings.Map(unaccented, norm.NFD.String(s))))
}

func unaccented(r rune) rune {
	if unicode.Is(unicode.Mn, r) {
		return -1
	}
	return r
}

// SearchText returns the text that patient search matches. Each word follows a space, so
// that " smi" matches the beginning of a word and "7700" any digits. It has the hash of the NHS
// number as SearchHash writes it.
func SearchText(names []string, postcode, email, nhsNumberHash, legacyID string, phones []string) string {
	words := SearchWords(strings.Join(names, " "))
	for _, n := range slices.Clone(words) {
		if parts := strings.FieldsFunc(n, notWord); len(parts) > 1 { // "o'brien" also as "brien" and "obrien"
			words = append(append(words, parts[1:]...), strings.Join(parts, ""))
		}
	}
	postcode = SearchFold(postcode)
	words = append(words, strings.Fields(postcode)...)
	words = append(words, strings.Join(strings.Fields(postcode), ""), SearchFold(email), SearchFold(legacyID))
	for _, p := range phones {
		words = append(words, Digits(p))
		for _, w := range strings.Fields(SearchFold(p)) { // "0114 496 0123 (evenings)"
			if strings.ContainsFunc(w, unicode.IsLetter) {
				words = append(words, w)
			}
		}
	}
	var b strings.Builder
	seen := map[string]bool{"": true}
	for _, w := range words {
		for _, form := range []string{w, strings.TrimLeftFunc(w, notWord)} { // "(evenings)" also as "evenings"
			if !seen[form] {
				seen[form] = true
				b.WriteByte(' ')
				b.WriteString(form)
			}
		}
	}
	if nhsNumberHash != "" {
		b.WriteString(" " + SearchHash(nhsNumberHash))
	}
	return b.String()
}

// SearchHash returns the word of a hash in search texts. SearchWords returns no such word.
func SearchHash(hash string) string { return "=" + hash }

// SearchWords returns the folded words of a name or a search, without surrounding
// punctuation: "Brearley, Theo" is the same as "theo brearley".
func SearchWords(s string) []string {
	var words []string
	for _, w := range strings.Fields(SearchFold(s)) {
		if w = strings.TrimFunc(w, notWord); w != "" {
			words = append(words, w)
		}
	}
	return words
}

func notWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// statusAgrees is InvoiceStatusOf as a check constraint. In addition, a void invoice has
// nothing outstanding.
const statusAgrees = "CASE status" +
	" WHEN 'void' THEN amount_outstanding = 0" +
	" WHEN 'paid' THEN amount_outstanding = 0 AND amount <> 0" +
	" WHEN 'part_paid' THEN amount_outstanding < amount AND (amount_outstanding <> 0 OR amount = 0)" +
	" WHEN 'sent' THEN amount_outstanding >= amount AND (amount_outstanding <> 0 OR amount = 0) AND sent_at IS NOT NULL" +
	" ELSE amount_outstanding >= amount AND (amount_outstanding <> 0 OR amount = 0) AND sent_at IS NULL END"

// InvoiceStatusOf returns an invoice's status: void stays void, nothing outstanding is
// paid, partly paid is part_paid, anything else is new or sent.
func InvoiceStatusOf(amount, outstanding decimal.Decimal, sent, void bool) InvoiceStatus {
	switch {
	case void:
		return InvoiceVoid
	case outstanding == 0 && amount != 0:
		return InvoicePaid
	case outstanding < amount:
		return InvoicePartPaid
	case sent:
		return InvoiceSent
	}
	return InvoiceNew
}

// PaymentStatus returns whether a payment is explained by invoices in full, in part or
// not at all.
func PaymentStatus(amount, unexplained decimal.Decimal) string {
	switch unexplained {
	case 0:
		return "paid"
	case amount:
		return "unexplained"
	}
	return "partially_explained"
}

// FullyExplained reports whether a payment is explained in full.
func FullyExplained(unexplained decimal.Decimal) bool { return unexplained == 0 }

// PermissionLevelOf is Role.PermissionLevel, for the generated mapping.
func PermissionLevelOf(r Role) int { return int(r.PermissionLevel()) }

// Age returns the age in whole years on a day.
func Age(born, at civil.Date) int {
	years := at.Year - born.Year
	if at.Month < born.Month || at.Month == born.Month && at.Day < born.Day {
		years--
	}
	return years
}
