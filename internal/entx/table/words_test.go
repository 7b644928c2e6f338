package table

import "testing"

func TestNamesInWords(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"nhs_claims":     "NHS claims",
		"payment_plan":   "Payment plan",
		"gdc_number":     "GDC number",
		"ni_number":      "NI number",
		"uda_band":       "UDA band",
		"image_url":      "Image URL",
		"use_sms":        "Use SMS",
		"booked_via_api": "Booked via API",
		"site_id":        "Site ID",
		"notes":          "Notes", // no initialism in the middle of a word
		"unit_of_id":     "Unit of ID",
	} {
		if got := Title(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
