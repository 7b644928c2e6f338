package seed

import (
	"strings"
	"sync"
)

// name is a name, and its form in plain Latin letters for an e-mail address.
type name struct{ text, latin string }

// surname may have a form for women.
type surname struct{ male, female name }

// culture is a source of names, with its ethnicity codes.
type culture struct {
	share         int
	ethnicities   string
	female, male  []name
	surnames      []surname
	middleNames   int // percent with a middle name
	doubleBarrels int // percent of families with a double-barrelled name
}

// names parses "Łukasz|Lukasz, Anna": each name with its form in Latin letters, if
// different.
func names(list string) []name {
	var all []name
	for entry := range strings.SplitSeq(list, ",") {
		text, latin, given := strings.Cut(strings.TrimSpace(entry), "|")
		if !given {
			latin = text
		}
		all = append(all, name{text, plain(latin)})
	}
	return all
}

// surnames parses "Kowalski/Kowalska, Nowak": each surname with its form for women, if
// different.
func surnames(list string) []surname {
	var all []surname
	for entry := range strings.SplitSeq(list, ",") {
		male, female, differs := strings.Cut(entry, "/")
		s := surname{male: names(male)[0]}
		if s.female = s.male; differs {
			s.female = names(female)[0]
		}
		all = append(all, s)
	}
	return all
}

// plain keeps the letters a to z.
func plain(latin string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			return r
		}
		return -1
	}, strings.ToLower(latin))
}

// ofPlaces are thousands of surnames built like English place names. Each is rare; one
// English family in seven has a common name, which its culture repeats.
func ofPlaces() []surname {
	var all []surname
	for _, beginning := range strings.Fields("Acker Alder Ash Barn Beck Birch Black Brack Brad Bram Brent Brook Burl Carl Chad Chat Clay Cold Crow Dal Den Dray Dun East Elm Fair Fal Fen Gar Glad Green Had Hal Hamp Harp Hart Has Haw Hay Hazel Heath Hol Horn Hux Kel Kil Kirk Lang Lin Long Lud Mar Mel Mer Mid Mill Mor Nor North Oak Old Pack Pem Pen Pres Rad Raven Red Rock Ros Rush Sed Shel Shep Sher Skel Stan Stock Sut Swin Tad Thorn Thur Tod Wad Wake Wal War Wen West Whit Win Wood Wor Yar") {
		for _, ending := range strings.Fields("bourne bridge brook burgh burn bury by cliffe combe cote croft dale den field ford gate greave ham head hill holme hurst land ley low mere more over pole ridge royd shaw side stead stock stone thorpe ton tree wall ward water way well wick wood worth yard") {
			if strings.ToLower(beginning) != ending { // no Woodwood
				all = append(all, surnames(beginning+ending)...)
			}
		}
	}
	return all
}

// cultureShares are the weights of the cultures.
var cultureShares = sync.OnceValue(func() (shares []int) {
	for _, c := range cultures() {
		shares = append(shares, c.share)
	}
	return shares
})
