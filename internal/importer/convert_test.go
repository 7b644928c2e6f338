package importer

import (
	"testing"
	"time"

	"chairside/internal/codec"
)

func TestAmounts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, mark, want string }{
		{"12.50", "", "12.50"}, {"12.5", "", "12.5"}, {"12", "", "12"}, {"-3.00", "", "-3.00"}, {"3.00-", "", "-3.00"}, {"(3.00)", "", "-3.00"},
		{"£1,234.50", "", "1234.50"}, {"-£5", "", "-5"}, {"£-5", "", "-5"}, {"$ 7.00", "", "7.00"}, {"7,00 €", "", "7.00"}, {"1 234.50", "", "1234.50"},
		{"12.5000", "", "12.50"}, {".50", "", "0.50"}, {"1,234", "", "1234"}, {"1.234,50", ",", "1234.50"}, {"12,5", ",", "12.5"}, {"1.234", ",", "1234"},
		{"1\u202f234,50 €", ",", "1234.50"}, {"1\u00a0234,5", ",", "1234.5"}, {"1’234.50", "", "1234.50"}, {"12.50", ",", ""}, {"1,234.50", ",", ""},
		{"12,-", ",", "12"}, {"€ 1.250,-", ",", "1250"}, {"12,-- €", ",", "12"}, {"12,–", ",", "12"}, {"(12,-)", ",", "-12"}, {"-12,-", ",", "-12"}, {"12,-", "", "12"},
		{"12.-", "", "12"}, {"12.00-", "", "-12.00"}, {"12,00-", ",", "-12.00"}, {"12-", ",", "-12"}, {"\u221212.50", "", "-12.50"}, {"12,-5", ",", ""},
		{"£(3.00)", "", "-3.00"}, {"(£(3.00))", "", ""}, {"£ -", "", "0"}, {"-  €", ",", "0"}, {"-", "", ""}, {"–", "", ""}, {"£", "", ""},
		{"37.199999999999996", "", "37.20"}, {"-0.30000000000000004", "", "-0.30"}, {"99,99999999999999", ",", "100.00"}, {"1234.5650000000001", "", "1234.5650000000001"},
		{"12.345", "", "12.345"}, // refused by the API's reader
		{"1,23,4", "", ""}, {"abc", "", ""}, {"", "", ""}, {"1e5", "", ""}, {"--5", "", ""}, {"(5", "", ""},
	} {
		got, message := parseAmount(test.text, test.mark)
		if got != test.want || (message == "") != (test.want != "") {
			t.Errorf("%q with %q is %q (%s), want %q", test.text, test.mark, got, message, test.want)
		}
	}
}

// Whole numbers may have separated thousands and decimals of zero, like amounts.
func TestIntegers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, mark, want string }{
		{"12", "", "12"}, {"12.00", "", "12"}, {"1,234", "", "1234"}, {"1.234", "", "1.234"}, {"12.5", "", "12.5"},
		{"12", ",", "12"}, {"12,00", ",", "12"}, {"1.000", ",", "1000"}, {"12.000,0", ",", "12000"}, {"1\u00a0234", ",", "1234"}, {"1,5", ",", "1,5"}, {"-3,0", ",", "-3"},
	} {
		read := converter{decimalMark: test.mark}
		if got, message := read.value(codec.Field{Kind: codec.Integer}, test.text); got != test.want || message != "" {
			t.Errorf("%q with %q is %q (%s), want %q", test.text, test.mark, got, message, test.want)
		}
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	read, err := newConverter(format{}, nil, nil, time.UTC, today)
	if err != nil {
		t.Fatal(err)
	}
	titles := codec.Field{Kind: codec.Enum, Values: []string{"Mr", "Mrs", "Dr", "Master"}}
	for _, test := range []struct {
		field      codec.Field
		text, want string
	}{
		{titles, "MR.", "Mr"}, {titles, "mrs", "Mrs"}, {titles, "Doctor", "Dr"}, {titles, "mstr", "Master"}, {titles, "Herr", "Herr"},
		{codec.Field{Kind: codec.Boolean}, "Y", "true"}, {codec.Field{Kind: codec.Boolean}, "no", "false"}, {codec.Field{Kind: codec.Boolean}, "0", "false"}, {codec.Field{Kind: codec.Boolean}, "maybe", ""},
		{codec.Field{Kind: codec.Consent}, "Yes", "1"}, {codec.Field{Kind: codec.Consent}, "2", "2"},
		{codec.Field{Kind: codec.Gender}, "F", "female"}, {codec.Field{Kind: codec.Gender}, "Male", "male"}, {codec.Field{Kind: codec.Gender}, "U", ""},
		{codec.Field{Kind: codec.Country}, "uk", "GB"}, {codec.Field{Kind: codec.Country}, "ie", "ie"},
		{codec.Field{Kind: codec.Integer}, "30.0", "30"}, {codec.Field{Kind: codec.Integer}, "30.5", "30.5"}, {codec.Field{Kind: codec.Integer}, "1:30", "90"},
		{codec.Field{Kind: codec.Integer, Name: "start_minute"}, "540", "540"}, {codec.Field{Kind: codec.Integer, Name: "start_minute"}, "9:00", "540"},
		{codec.Field{Kind: codec.Integer, Name: "start_minute"}, "5:30 p.m.", "1050"}, {codec.Field{Kind: codec.Integer, Name: "start_minute"}, "9h00", "540"},
		{codec.Field{Kind: codec.Integer, Name: "start_minute"}, "1899-12-30 09:00:00", "540"}, {codec.Field{Kind: codec.Integer, Name: "finish_minute"}, "24:00", "1440"},
		{codec.Field{Kind: codec.Integer, Name: "weekday"}, "MONDAY", "1"}, {codec.Field{Kind: codec.Integer, Name: "weekday"}, "Sun.", "0"}, {codec.Field{Kind: codec.Integer, Name: "weekday"}, "6", "6"},
		{codec.Field{Kind: codec.Integer, Name: "start_minute"}, "0900", ""}, {codec.Field{Kind: codec.Integer, Name: "start_minute"}, "9.00", ""},
	} {
		got, message := read.value(test.field, test.text)
		if got != test.want || (message == "") != (test.want != "") {
			t.Errorf("%s %q is %q (%s), want %q", test.field.Kind, test.text, got, message, test.want)
		}
	}
}
