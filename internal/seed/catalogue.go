package seed

import (
	"strings"

	"chairside/ent"
	"chairside/ent/fee"
	entpaymentplan "chairside/ent/paymentplan"
	"chairside/ent/sundry"
	enttreatment "chairside/ent/treatment"
	entcategory "chairside/ent/treatmentcategory"
	"chairside/internal/decimal"
)

// treatment is a treatment that the practice offers. Its name is its key.
type treatment struct {
	id       int64
	name     string
	words    string // name for patients
	category string
	band     string // NHS band; "" if the NHS does not cover it; 2a, 2b and 2c cost patients the same
	minutes  int
	price    string // private price for one unit
	per      unit
}

// unit is what a treatment is priced by.
type unit int

const (
	mouth unit = iota
	tooth
	surface // of a tooth
)

// The treatments that courses of treatment are made of.
const (
	examination     = "Examination"
	newPatientExam  = "New patient examination"
	emergencyExam   = "Emergency examination"
	bitewings       = "Bitewing radiographs"
	scaleAndPolish  = "Scale and polish"
	hygieneVisit    = "Hygienist visit"
	rootPlaning     = "Root surface debridement"
	fluoride        = "Fluoride varnish"
	fissureSealant  = "Fissure sealant"
	compositeFront  = "Composite filling, anterior"
	compositeBack   = "Composite filling, posterior"
	amalgam         = "Amalgam filling"
	glassIonomer    = "Glass ionomer filling"
	extraction      = "Extraction"
	rootCanal       = "Root canal treatment"
	rootCanalMolar  = "Root canal treatment, molar"
	crownCeramic    = "Porcelain bonded crown"
	crownZirconia   = "Zirconia crown"
	partialDenture  = "Acrylic partial denture"
	fullDenture     = "Full denture"
	temporaryFill   = "Temporary filling"
	whitening       = "Tooth whitening kit"
	implant         = "Implant placement"
	nightGuard      = "Night guard"
	orthoAssessment = "Orthodontic assessment"
	recement        = "Re-cement crown"
)

var treatmentList = []treatment{
	{name: examination, words: "Check-up", category: "Diagnosis", band: "1", minutes: 20, price: "65.00"},
	{name: newPatientExam, words: "First check-up", category: "Diagnosis", band: "1", minutes: 40, price: "95.00"},
	{name: emergencyExam, words: "Emergency appointment", category: "Diagnosis", band: "urgent", minutes: 20, price: "68.00"},
	{name: bitewings, words: "Small X-rays", category: "Diagnosis", band: "1", minutes: 5, price: "19.50"},
	{name: "Panoramic radiograph", words: "Large X-ray", category: "Diagnosis", band: "1", minutes: 10, price: "41.00"},
	{name: "Study models", words: "Models of your teeth", category: "Diagnosis", band: "1", minutes: 20, price: "58.00"},
	{name: orthoAssessment, words: "Brace assessment", category: "Orthodontics", band: "1", minutes: 30, price: "95.00"},
	{name: scaleAndPolish, words: "Cleaning", category: "Prevention", band: "1", minutes: 15, price: "48.00"},
	{name: hygieneVisit, words: "Cleaning with the hygienist", category: "Prevention", minutes: 30, price: "64.00"},
	{name: rootPlaning, words: "Deep cleaning", category: "Periodontics", band: "2a", minutes: 45, price: "118.00"},
	{name: "Periodontal review", words: "Gum check", category: "Periodontics", band: "1", minutes: 20, price: "45.00"},
	{name: fluoride, words: "Fluoride varnish", category: "Prevention", band: "1", minutes: 10, price: "22.00"},
	{name: fissureSealant, words: "Protective sealing", category: "Prevention", band: "1", minutes: 15, price: "34.00", per: tooth},
	{name: compositeFront, words: "White filling", category: "Restoration", band: "2a", minutes: 30, price: "112.00", per: surface},
	{name: compositeBack, words: "White filling", category: "Restoration", minutes: 40, price: "138.00", per: surface},
	{name: amalgam, words: "Silver filling", category: "Restoration", band: "2a", minutes: 30, price: "88.00", per: surface},
	{name: glassIonomer, words: "Filling", category: "Restoration", band: "2a", minutes: 25, price: "79.00", per: surface},
	{name: temporaryFill, words: "Temporary filling", category: "Restoration", band: "urgent", minutes: 20, price: "46.00", per: tooth},
	{name: "Inlay", words: "Made-to-measure filling", category: "Restoration", band: "3", minutes: 50, price: "425.00", per: tooth},
	{name: "Veneer", words: "Porcelain facing", category: "Restoration", minutes: 60, price: "560.00", per: tooth},
	{name: extraction, words: "Tooth removal", category: "Surgery", band: "2a", minutes: 30, price: "126.00", per: tooth},
	{name: "Surgical extraction", words: "Difficult tooth removal", category: "Surgery", band: "2a", minutes: 50, price: "245.00", per: tooth},
	{name: implant, words: "Implant", category: "Surgery", minutes: 90, price: "1850.00", per: tooth},
	{name: "Implant crown", words: "Crown on an implant", category: "Surgery", minutes: 45, price: "1150.00", per: tooth},
	{name: "Bone graft", words: "Bone graft", category: "Surgery", minutes: 60, price: "620.00"},
	{name: rootCanal, words: "Root canal treatment", category: "Endodontics", band: "2b", minutes: 60, price: "468.00", per: tooth},
	{name: rootCanalMolar, words: "Root canal treatment of a back tooth", category: "Endodontics", band: "2c", minutes: 75, price: "595.00", per: tooth},
	{name: "Apicectomy", words: "Root end surgery", category: "Endodontics", band: "2b", minutes: 60, price: "640.00", per: tooth},
	{name: crownCeramic, words: "Crown", category: "Crowns and bridges", band: "3", minutes: 50, price: "585.00", per: tooth},
	{name: crownZirconia, words: "Tooth-coloured crown", category: "Crowns and bridges", minutes: 50, price: "715.00", per: tooth},
	{name: recement, words: "Crown put back", category: "Crowns and bridges", band: "urgent", minutes: 20, price: "72.00", per: tooth},
	{name: "Bridge unit", words: "Bridge", category: "Crowns and bridges", band: "3", minutes: 60, price: "610.00", per: tooth},
	{name: partialDenture, words: "Partial denture", category: "Dentures", band: "3", minutes: 40, price: "540.00"},
	{name: "Chrome denture", words: "Metal denture", category: "Dentures", band: "3", minutes: 40, price: "990.00"},
	{name: fullDenture, words: "Full denture", category: "Dentures", band: "3", minutes: 45, price: "820.00"},
	{name: "Denture repair", words: "Denture repair", category: "Dentures", band: "urgent", minutes: 15, price: "85.00"},
	{name: whitening, words: "Whitening", category: "Cosmetic", minutes: 30, price: "349.00"},
	{name: "Composite bonding", words: "Bonding", category: "Cosmetic", minutes: 45, price: "265.00", per: tooth},
	{name: nightGuard, words: "Night guard", category: "Cosmetic", minutes: 20, price: "195.00"},
	{name: "Sports mouthguard", words: "Sports guard", category: "Cosmetic", minutes: 20, price: "92.00"},
	{name: "Clear aligner review", words: "Aligner check", category: "Orthodontics", minutes: 15, price: "60.00"},
	{name: "Retainer", words: "Retainer", category: "Orthodontics", minutes: 20, price: "145.00"},
}

// planKind determines the prices of a payment plan.
type planKind int

const (
	planNHS     planKind = iota
	planExempt           // NHS without charge
	planPrivate          // the list price
	planCare             // examinations and hygiene included, the rest a fifth off
	planClosed           // no longer offered; a tenth off
)

var planNames = []string{planNHS: "NHS", planExempt: "NHS exempt", planPrivate: "Private", planCare: "Care Plan", planClosed: "Evergreen Plan (closed)"}

func (k planKind) nhs() bool { return k == planNHS || k == planExempt }

// catalogue holds treatments, plans and prices.
type catalogue struct {
	plans      []int64 // ids by planKind
	treatments map[string]*treatment
	fees       map[feeKey]ent.Fee
	sundries   []product
	year       int // in which the contract year begins that has the prices of fees
}

// productList are the products that reception sells; the last one is no longer sold.
var productList = []struct {
	name  string
	price decimal.Decimal
	of    audience
}{
	{"Soft toothbrush", 3_50, everyone}, {"Interdental brushes, pack of 8", 4_95, from(14)}, {"High-fluoride toothpaste", 7_25, from(16)}, {"Dental floss", 2_80, from(10)},
	{"Mouthwash, 500 ml", 5_60, from(10)}, {"Electric toothbrush", 64_99, from(6)}, {"Brush heads, pack of 4", 17_50, from(6)}, {"Denture cleaning tablets", 4_20, from(55)},
	{"Chewable disclosing tablets", 2_10, from(6)},
}

// product is a product that is sold at reception.
type product struct {
	row ent.Sundry
	of  audience
}

type feeKey struct {
	plan      planKind
	treatment int64
}

// writeCatalogue creates plans, treatments, fees and sundries.
func (g *generator) writeCatalogue() {
	c := &g.catalogue
	for kind, name := range planNames {
		plan := ent.PaymentPlan{ID: g.number(entpaymentplan.Table), PracticeID: g.practice, CreatedAt: g.opened, UpdatedAt: g.opened, Name: name, Active: planKind(kind) != planClosed, Nhs: planKind(kind).nhs()}
		c.plans = append(c.plans, plan.ID)
		g.out.plans = append(g.out.plans, plan)
	}
	categories := map[string]int64{}
	c.treatments = map[string]*treatment{}
	c.year = contractYear(g.date(g.today)).Year
	c.fees = map[feeKey]ent.Fee{}
	for _, t := range treatmentList {
		if categories[t.category] == 0 {
			row := ent.TreatmentCategory{ID: g.number(entcategory.Table), PracticeID: g.practice, CreatedAt: g.opened, UpdatedAt: g.opened, Name: t.category}
			categories[t.category] = row.ID
			g.out.categories = append(g.out.categories, row)
		}
		t.id = g.number(enttreatment.Table)
		c.treatments[t.name] = &t
		row := ent.Treatment{
			ID: t.id, PracticeID: g.practice, CreatedAt: g.opened, UpdatedAt: g.opened,
			Nomenclature: t.name, PatientNomenclature: &t.words, TreatmentCategoryID: new(categories[t.category]), Active: t.name != "Apicectomy",
		}
		if t.band != "" {
			row.UdaBand, row.NhsTreatmentCat = new(t.band), new(strings.ToUpper(t.category[:1])+t.band[:1])
		}
		g.out.treatments = append(g.out.treatments, row)
		for kind := range planNames {
			f := g.fee(planKind(kind), &t)
			c.fees[feeKey{planKind(kind), t.id}] = f
			g.out.fees = append(g.out.fees, f)
		}
	}
	for i, s := range productList {
		row := ent.Sundry{ID: g.uuid(sundry.Table), PracticeID: g.practice, CreatedAt: g.opened, UpdatedAt: g.opened, Name: s.name, Price: s.price, Active: i != len(productList)-1}
		if i == 5 { // sold at one site only
			row.SiteID = &g.sites[0].id
		}
		if row.Active {
			c.sundries = append(c.sundries, product{row, s.of})
		}
		g.out.sundries = append(g.out.sundries, row)
	}
}

// fee returns the row for a plan and a treatment.
func (g *generator) fee(kind planKind, t *treatment) ent.Fee {
	price := decimal.MustParse(t.price)
	switch {
	case kind.nhs() && t.band != "":
		if price = chargeOf(t.band, g.catalogue.year); kind == planExempt {
			price = 0
		}
	case kind == planCare && (t.category == "Diagnosis" || t.category == "Prevention"):
		price = 0
	case kind == planCare:
		price = price / 5 * 4
	case kind == planClosed:
		price = price / 10 * 9
	}
	f := ent.Fee{
		ID: g.uuid(fee.Table), PracticeID: g.practice, CreatedAt: g.opened, UpdatedAt: g.timeBetween(g.opened, g.at(g.today-10, 12*hour)),
		PaymentPlanID: g.catalogue.plans[kind], TreatmentID: t.id,
		MultiplePricing: t.per != mouth && !(kind.nhs() && t.band != ""),
	}
	minutes := t.minutes
	if kind.nhs() && t.band != "" {
		minutes = nhsMinutes(minutes)
	}
	prices := []*decimal.Decimal{&f.PriceOne, &f.PriceTwo, &f.PriceThree, &f.PriceFour, &f.PriceFive}
	durations := []*int{&f.DurationOne, &f.DurationTwo, &f.DurationThree, &f.DurationFour, &f.DurationFive}
	for i := range prices {
		n := 0
		if f.MultiplePricing {
			n = i
		}
		*prices[i] = price + price*decimal.Decimal(n)*6/10
		*durations[i] = minutes + minutes*n/3
	}
	return f
}

// nhsMinutes is how long the NHS allows for a treatment: two thirds of the private time.
func nhsMinutes(private int) int {
	return max(2, (private*2/3+slotMinutes/2)/slotMinutes) * slotMinutes
}

// price returns the price and duration of a treatment for a number of teeth or surfaces in the
// contract year that begins in the given year. Private prices rise every April; for NHS prices see
// chargeOf.
func (c *catalogue) price(kind planKind, t *treatment, count, year int) (price decimal.Decimal, minutes int) {
	f := c.fees[feeKey{kind, t.id}]
	prices := []decimal.Decimal{f.PriceOne, f.PriceTwo, f.PriceThree, f.PriceFour, f.PriceFive}
	durations := []int{f.DurationOne, f.DurationTwo, f.DurationThree, f.DurationFour, f.DurationFive}
	n := 0
	if f.MultiplePricing {
		n = min(max(count, 1), len(prices)) - 1
	}
	const rise, step = 4, 50 // percent of today's price; pence
	price = prices[n]
	if back := max(0, c.year-year); back > 0 {
		price = price * decimal.Decimal(max(100-rise*back, 40)) / 100 / step * step
	}
	return price, durations[n]
}

// minutes returns how long a treatment without teeth takes.
func (c *catalogue) minutes(kind planKind, name string) int {
	return c.fees[feeKey{kind, c.treatments[name].id}].DurationOne
}
