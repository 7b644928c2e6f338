package seed

import "fmt"

// town is a town. Its telephone numbers are from the ranges reserved for drama.
type town struct {
	name, county string
	area         string // of its postcodes
	exchange     string // its numbers without the last three digits
}

// nearTowns is the number of towns, at the beginning of towns, with the sites and most
// patients.
const nearTowns = 3

var towns = []town{
	{"Sheffield", "South Yorkshire", "S", "0114 496 0"},
	{"Leeds", "West Yorkshire", "LS", "0113 496 0"},
	{"Manchester", "Greater Manchester", "M", "0161 496 0"},
	{"Nottingham", "Nottinghamshire", "NG", "0115 496 0"},
	{"Leicester", "Leicestershire", "LE", "0116 496 0"},
	{"Bristol", "", "BS", "0117 496 0"},
	{"Reading", "Berkshire", "RG", "0118 496 0"},
	{"Birmingham", "West Midlands", "B", "0121 496 0"},
	{"Edinburgh", "", "EH", "0131 496 0"},
	{"Glasgow", "", "G", "0141 496 0"},
	{"Liverpool", "Merseyside", "L", "0151 496 0"},
	{"Newcastle upon Tyne", "Tyne and Wear", "NE", "0191 498 0"},
	{"Cardiff", "", "CF", "029 2018 0"},
	{"Belfast", "", "BT", "028 9649 6"},
	{"London", "", "SE", "020 7946 0"},
	{"Norwich", "Norfolk", "NR", "01632 960"},
}

var streets = []string{
	"Ashdown", "Bellflower", "Brackenhill", "Copperfield", "Dovecote", "Elderberry", "Fennimore", "Goldcrest", "Hawthorn", "Ivybridge",
	"Juniper", "Kestrel", "Larkspur", "Merlin", "Nightingale", "Oldmill", "Primrose", "Quarry", "Rowan", "Saddlers",
	"Thornfield", "Underwood", "Viaduct", "Weavers", "Yarrow", "Tanners", "Saint Oswald's", "Wheatsheaf", "Foundry", "Cathedral",
}

var streetKinds = []string{"Road", "Street", "Lane", "Avenue", "Close", "Drive", "Mews", "Terrace", "Gardens", "Crescent", "Way", "Place"}

// address is a household's address.
type address struct {
	line1    string
	line2    *string
	town     *town
	postcode string
}

// address returns an address, mostly in one of the near towns.
func (r random) address() address {
	t := &towns[r.IntN(nearTowns)]
	if r.chance(12) {
		t = &towns[r.IntN(len(towns))]
	}
	a := address{
		line1:    fmt.Sprintf("%d %s %s", r.between(1, 180), pick(r, streets), pick(r, streetKinds)),
		town:     t,
		postcode: t.postcode(r),
	}
	if r.chance(18) {
		a.line2 = &a.line1
		flat := fmt.Sprintf("Flat %d", r.between(1, 24))
		a.line1, a.line2 = flat, new(a.line1)
	}
	return a
}

// postcode returns a well-formed postcode, with letters that inward codes use.
func (t *town) postcode(r random) string {
	const letters = "ABDEFGHJLNPQRSTUWXYZ"
	return fmt.Sprintf("%s%d %d%c%c", t.area, r.between(1, 19), r.between(0, 9), letters[r.IntN(len(letters))], letters[r.IntN(len(letters))])
}

// countyOrNil returns the county, or nil if the town is written without one.
func (t *town) countyOrNil() *string {
	if t.county == "" {
		return nil
	}
	return &t.county
}

// number returns the town's n-th number.
func (t *town) number(n int) string { return fmt.Sprintf("%s%03d", t.exchange, n%1000) }

// phone is a number as entered, with its country if given.
type phone struct{ number, country *string }

// landline returns a landline number of the town.
func (r random) landline(t *town) phone {
	number := t.number(r.IntN(1000))
	switch r.weighted(80, 10, 6, 4) {
	case 1:
		number = "+44 " + number[1:]
	case 2:
		number += " (evenings)"
	case 3:
		number = "ex-directory"
	}
	return phone{number: &number, country: optional(r, 15, "GB")}
}

// mobile returns a mobile number; a few are foreign or incomplete.
func (r random) mobile() phone {
	n := r.IntN(1000)
	number := fmt.Sprintf("07700 900%03d", n)
	switch r.weighted(70, 12, 8, 3, 3, 2, 2) {
	case 1:
		number = fmt.Sprintf("+44 7700 900%03d", n)
	case 2:
		number = fmt.Sprintf("07700900%03d", n)
	case 3:
		return phone{number: new(fmt.Sprintf("202-555-01%02d", n%100)), country: new("US")}
	case 4:
		return phone{number: new(fmt.Sprintf("06 39 98 %02d %02d", n/100, n%100)), country: new("FR")}
	case 5:
		return phone{number: new(fmt.Sprintf("+353 20 91%d %04d", n%10, n)), country: new("IE")}
	case 6:
		number = fmt.Sprintf("07700 %d", n%90)
	}
	return phone{number: &number, country: optional(r, 25, "GB")}
}
