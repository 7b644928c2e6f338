package api_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"chairside/internal/test/harness"
)

// resource describes a resource as spec.md and behaviour.md do, for the tests of fields, orders,
// pages and filters.
type resource struct {
	path, one, many string
	// fields are "name:kind" separated by spaces; a final "?" allows null. created_at and
	// updated_at are implied.
	fields   string
	single   string   // fields of the single response only
	sorts    []string // values of sort_by other than id, created_at and updated_at
	order    string   // default order
	filters  []filter
	required bool // the list needs payment_plan_id or treatment_id
}

// filter is a query parameter of a list. value returns a value for it from one of the rows;
// keep reports whether the list then has a row.
type filter struct {
	param string
	value func(row) string
	keep  func(w *world, r row, value string) bool
}

// row is a record of a response.
type row = map[string]any

const (
	address = " address_line_1:text? address_line_2:text? town:text? county:text? postcode:text?"
	phones  = " home_phone:text? home_phone_country:text? home_phone_normalized:text?" +
		" mobile_phone:text? mobile_phone_country:text? mobile_phone_normalized:text?" +
		" work_phone:text? work_phone_country:text? work_phone_normalized:text?" +
		" emergency_contact_phone:text? emergency_contact_phone_country:text? emergency_contact_phone_normalized:text?"
)

var resources = []resource{
	{
		path: "accounts", one: "account", many: "accounts", order: "id",
		fields: "id:int current_balance:decimal opening_balance:decimal patient_id:int patient_name:text" +
			" planned_nhs_treatment_value:decimal planned_private_treatment_value:decimal",
		sorts:   []string{"current_balance"},
		filters: []filter{equal("patient_id"), credit("state"), patientsSite("site_id")},
	},
	{
		path: "acquisition_sources", one: "acquisition_source", many: "acquisition_sources", order: "name",
		fields:  "id:uuid active:bool name:text notes:text?",
		sorts:   []string{"name"},
		filters: []filter{equal("active")},
	},
	{
		path: "appointments", one: "appointment", many: "appointments", order: "start_time",
		fields: "id:int arrived_at:datetime? booked_via_api:bool cancelled_at:datetime? completed_at:datetime? confirmed_at:datetime?" +
			" did_not_attend_at:datetime? duration:int finish_time:datetime in_surgery_at:datetime? metadata:hash notes:text? patient_name:text?" +
			" patient_id:int? patient_image_url:url? payment_plan_id:int? pending_at:datetime? practitioner_id:int reason:text room_id:uuid?" +
			" start_time:datetime state:text treatment_description:text? user_id:int? appointment_cancellation_reason_id:uuid?",
		sorts: []string{"start_time", "finish_time", "state"},
		filters: []filter{
			equal("patient_id"), equal("practitioner_id"), equal("room_id"), equal("state"), practitionersSite("site_id"), cancelled("cancelled"),
			onDay("on", "start_time"), from("after", "start_time"), before("before", "start_time"),
		},
	},
	{
		path: "appointment_reasons", one: "appointment_reason", many: "appointment_reasons", order: "position",
		fields:  "id:uuid colour:text? deleted:bool exam:bool hygiene:bool position:int reason:text",
		sorts:   []string{"position"},
		filters: []filter{equal("deleted")},
	},
	{
		path: "appointment_cancellation_reasons", one: "appointment_cancellation_reason", many: "appointment_cancellation_reasons", order: "id",
		fields:  "id:uuid reason:text reason_type:text archived:bool",
		filters: []filter{equal("archived"), equal("reason_type")},
	},
	{
		path: "notes", one: "note", many: "notes", order: "id",
		fields:  "id:int patient_id:int user_id:int body:text pinned:bool kind:text",
		filters: []filter{equal("patient_id"), equal("kind")},
	},
	{
		path: "recalls", one: "recall", many: "recalls", order: "id",
		fields: "id:int patient_id:int practitioner_id:int? recall_type:text due_on:date method:text? status:text contacted_at:datetime?" +
			" appointment_id:int?",
		sorts:   []string{"due_on"},
		filters: []filter{equal("patient_id"), equal("practitioner_id"), equal("status"), equal("recall_type"), from("due_after", "due_on"), until("due_before", "due_on")},
	},
	{
		path: "waiting_lists", one: "waiting_list", many: "waiting_lists", order: "id",
		fields: "id:int patient_id:int practitioner_id:int? appointment_reason:text? duration:int? from_date:date? to_date:date? days:array" +
			" mornings:bool afternoons:bool notes:text? priority:int appointment_id:int? removed_at:datetime?",
		sorts:   []string{"priority"},
		filters: []filter{equal("patient_id"), equal("practitioner_id"), waits("active")},
	},
	{
		path: "patient_referrals", one: "patient_referral", many: "patient_referrals", order: "id",
		fields:  "id:int patient_id:int referrable_type:text referrable_attributes:hash status:text reference:text? dated_on:date",
		sorts:   []string{"dated_on"},
		filters: []filter{equal("patient_id")},
	},
	{
		path: "contracts", one: "contract", many: "contracts", order: "id",
		fields: "id:uuid active:bool contract_number:text end_date:date? name:text nhs_location_id:text? nhs_site_id:text? notes:text?" +
			" pds_plus:bool site_id:uuid start_date:date target:decimal? uda_value:decimal? uoa_target:decimal? uoa_value:decimal?",
		sorts:   []string{"name"},
		filters: []filter{equal("active"), equal("site_id")},
	},
	{
		path: "custom_fields", one: "custom_field", many: "custom_fields", order: "position",
		fields: "id:uuid active:bool customizable_id:uuid customizable_type:text default_value:text? description:text? name:text" +
			" options:array position:int type:text width:int?",
		sorts:   []string{"position"},
		filters: []filter{equal("active"), until("updated_before", "updated_at")},
	},
	{
		path: "fees", one: "fee", many: "fees", order: "id", required: true,
		fields: "id:uuid payment_plan_id:int treatment_id:int multiple_pricing:bool" +
			" duration_one:int duration_two:int duration_three:int duration_four:int duration_five:int" +
			" price_one:decimal price_two:decimal price_three:decimal price_four:decimal price_five:decimal",
		filters: []filter{equal("treatment_id")},
	},
	{
		path: "invoices", one: "invoice", many: "invoices", order: "dated_on",
		fields: "id:int amount:decimal amount_outstanding:decimal dated_on:date due_on:date footnote:text? nhs_amount:decimal? paid:bool paid_on:date?" +
			" payment_terms:text? reference:text? sent_at:datetime? status:text account_id:int patient_id:int site_id:uuid user_id:int?",
		single: "invoice_items:array",
		sorts:  []string{"dated_on", "due_on", "amount"},
		filters: []filter{
			equal("site_id"), equal("account_id"), equal("patient_id"), equal("paid"), equal("status"), from("dated_on_after", "dated_on"), until("dated_on_before", "dated_on"),
			from("created_after", "created_at"), before("created_before", "created_at"),
		},
	},
	{
		path: "invoice_items", one: "invoice_item", many: "invoice_items", order: "id",
		fields: "id:uuid item_price:decimal name:text nhs_charge:bool quantity:int total_price:decimal invoice_id:int practitioner_id:int?" +
			" sundry_id:uuid? treatment_plan_id:int? treatment_plan_item_id:int? user_id:int?",
		filters: []filter{equal("invoice_id"), equal("practitioner_id")},
	},
	{
		path: "nhs_claims", one: "nhs_claim", many: "nhs_claims", order: "id",
		fields: "id:uuid awarded_uda:decimal? approval_date:date? contract_id:uuid claim_status:text expected_uda:decimal? patient_id:int" +
			" practitioner_id:int sequence_number:int site_id:uuid status_comments:text? treatment_plan_id:int? ni_calculated_dentist_fee:decimal?" +
			" ni_calculated_patient_fee:decimal? submitted_date:date? dentist_charge:decimal? patient_charge:decimal? scot_amount_authorised:decimal?" +
			" scot_amount_expected:decimal? uda_band:text? ortho:bool continuation_part_number:int?",
		filters: []filter{
			after("created_after", "created_at"), practitionersSite("site_id"), equal("claim_status"), equal("patient_id"), equal("practitioner_id"),
			from("after", "submitted_date"), before("before", "submitted_date"),
		},
	},
	{
		path: "patients", one: "patient", many: "patients", order: "id",
		fields: "id:int account_id:int active:bool acquisition_source_id:uuid? address_line_1:text address_line_2:text? county:text? town:text? postcode:text" +
			" custom_fields:array custom_field_1:text? custom_field_2:text? date_of_birth:date dentist_id:int? dentist_recall_date:date?" +
			" dentist_recall_interval:int? doctor_id:int? email_address:text? erased_at:datetime? ethnicity:text family_id:uuid? first_name:text middle_name:text?" +
			" last_name:text preferred_name:text? gender:bool hygienist_id:int? hygienist_recall_date:date? hygienist_recall_interval:int?" +
			" image_url:url legacy_id:text? marketing:int medical_alert:bool medical_alert_text:text? metadata:hash nhs_number:text? ni_number:text?" +
			" occupation:text? payment_plan_id:int preferred_phone_number:int? recall_method:text site_id:uuid title:text use_email:bool use_sms:bool" +
			" emergency_contact_name:text? emergency_contact_relationship:text?" + phones,
		sorts:   []string{"first_name", "last_name", "date_of_birth"},
		filters: []filter{equal("site_id"), equal("active"), from("created_after", "created_at"), before("created_before", "created_at")},
	},
	{
		path: "sites", one: "site", many: "sites", order: "id",
		fields:  "id:uuid name:text nickname:text? active:bool phone_number:text? email_address:text? opening_hours:hash" + address,
		filters: []filter{equal("active")},
	},
	{
		path: "rooms", one: "room", many: "rooms", order: "id",
		fields:  "id:uuid name:text site_id:uuid active:bool",
		filters: []filter{equal("active"), equal("site_id")},
	},
	{
		path: "users", one: "user", many: "users", order: "id",
		fields: "id:int title:text? first_name:text last_name:text email:text mobile_phone:text? role:text permission_level:int site_id:uuid?" +
			" practice_id:uuid active:bool image_url:url last_login:datetime?",
		sorts:   []string{"last_name"},
		filters: []filter{equal("active"), equal("site_id")},
	},
	{
		path: "practitioners", one: "practitioner", many: "practitioners", order: "id",
		fields:  "id:int active:bool site_id:uuid user:hash gdc_number:text? nhs_number:text? colour:text? uda_target:decimal? uoa_target:decimal?",
		sorts:   []string{"last_name"},
		filters: []filter{equal("active"), equal("site_id")},
	},
	{
		path: "payment_plans", one: "payment_plan", many: "payment_plans", order: "id",
		fields:  "id:int name:text active:bool nhs:bool",
		filters: []filter{equal("active")},
	},
	{
		path: "treatments", one: "treatment", many: "treatments", order: "id",
		fields:  "id:int nomenclature:text patient_nomenclature:text? nhs_treatment_cat:text? uda_band:text? treatment_category_id:int? active:bool",
		filters: []filter{equal("active")},
	},
	{
		path: "treatment_categories", one: "treatment_category", many: "treatment_categories", order: "id",
		fields: "id:int name:text",
	},
	{
		path: "treatment_plans", one: "treatment_plan", many: "treatment_plans", order: "id",
		fields: "id:int nickname:text? patient_id:int practitioner_id:int payment_plan_id:int completed:bool completed_at:datetime? start_date:date?" +
			" end_date:date? private_treatment_value:decimal nhs_uda_value:decimal patient_name:text total_gross:decimal",
		filters: []filter{equal("patient_id"), equal("practitioner_id"), completed("status"), practitionersSite("site_id")},
	},
	{
		path: "treatment_appointments", one: "treatment_appointment", many: "treatment_appointments", order: "id",
		fields:  "id:int position:int appointment_id:int? notes:text? bookable:bool patient_id:int treatment_plan_id:int",
		sorts:   []string{"position"},
		filters: []filter{equal("patient_id"), equal("treatment_plan_id")},
	},
	{
		path: "treatment_plan_items", one: "treatment_plan_item", many: "treatment_plan_items", order: "id",
		fields: "id:int treatment_plan_id:int treatment_id:int patient_id:int practitioner_id:int payment_plan_id:int teeth:array surfaces:array" +
			" price:decimal duration:int completed:bool completed_at:datetime? charged:bool invoice_id:int? uda_band:text? nomenclature:text notes:text?" +
			" custom_fields:array",
		filters: []filter{equal("patient_id"), equal("treatment_plan_id"), equal("practitioner_id"), equal("invoice_id"), equal("completed")},
	},
	{
		path: "payments", one: "payment", many: "payments", order: "dated_on",
		fields: "id:int amount:decimal amount_unexplained:decimal fully_explained:bool dated_on:date deleted:bool status:text method:text" +
			" site_id:uuid patient_id:int explanations:array",
		sorts:   []string{"dated_on", "amount"},
		filters: []filter{equal("site_id"), equal("patient_id"), from("start_date", "dated_on"), until("end_date", "dated_on"), from("created_after", "created_at")},
	},
	{
		path: "sundries", one: "sundry", many: "sundries", order: "id",
		fields:  "id:uuid name:text price:decimal site_id:uuid? active:bool",
		filters: []filter{equal("active"), equal("site_id")},
	},
}

// everyField returns the fields of a response with their kinds.
func (r resource) everyField(single bool) map[string]string {
	kinds := map[string]string{"created_at": "datetime", "updated_at": "datetime"}
	list := r.fields
	if single {
		list += " " + r.single
	}
	for f := range strings.FieldsSeq(list) {
		name, kind, _ := strings.Cut(f, ":")
		kinds[name] = kind
	}
	return kinds
}

// everySort returns the values of sort_by.
func (r resource) everySort() []string {
	return append([]string{"id", "created_at", "updated_at"}, r.sorts...)
}

// everyFilter returns the filters of the table and the common ones.
func (r resource) everyFilter() []filter {
	return append([]filter{from("updated_after", "updated_at"), from("updated_since", "updated_at")}, r.filters...)
}

// world is a running server with values that several tests need.
type world struct {
	*harness.Env
	token string
	plan  string            // a payment plan with fees
	sites map[string]string // practitioner → site
	homes map[string]string // patient → site
}

func newWorld(t *testing.T, e *harness.Env) *world {
	w := &world{Env: e, token: e.Token(t, ""), sites: map[string]string{}, homes: map[string]string{}}
	w.plan = e.Get(t, "/v1/payment_plans?active=true", w.token).Status(t, 200).Text(t, "payment_plans.0.id")
	for _, p := range w.all(t, "practitioners", "practitioners", nil) {
		w.sites[fmt.Sprint(p["id"])] = fmt.Sprint(p["site_id"])
	}
	for _, p := range w.all(t, "patients", "patients", nil) {
		w.homes[fmt.Sprint(p["id"])] = fmt.Sprint(p["site_id"])
	}
	return w
}

// base returns the query with which a list has every row.
func (w *world) base(r resource) url.Values {
	switch {
	case r.required:
		return url.Values{"payment_plan_id": {w.plan}}
	case r.path == "appointments":
		return url.Values{"cancelled": {"true"}}
	}
	return url.Values{}
}

// rows returns all rows of a resource in its default order.
func (w *world) rows(t *testing.T, r resource) []row {
	t.Helper()
	return w.all(t, r.path, r.many, w.base(r))
}

// all reads a list from its first to its last page.
func (w *world) all(t *testing.T, path, key string, query url.Values) (rows []row) {
	t.Helper()
	for page := 1; ; page++ {
		q := url.Values{"per_page": {"100"}, "page": {fmt.Sprint(page)}}
		for name, values := range query {
			q[name] = values
		}
		res := w.Get(t, "/v1/"+path+"?"+q.Encode(), w.token).Status(t, 200)
		list := res.List(t, key)
		for _, r := range list {
			rows = append(rows, r.(row))
		}
		if len(list) < 100 {
			if total := res.Text(t, "meta.total"); total != fmt.Sprint(len(rows)) {
				t.Errorf("%s?%s: total %s of %d rows", path, query.Encode(), total, len(rows))
			}
			return rows
		}
	}
}

// ids returns the ids of rows, in order.
func ids(rows []row) []string {
	all := make([]string, len(rows))
	for i, r := range rows {
		all[i] = fmt.Sprint(r["id"])
	}
	return all
}

// TestResources runs every test of this table for every resource. They only read, so they
// share one copy of the data for each database.
func TestResources(t *testing.T) {
	tests := []struct {
		name string
		test func(t *testing.T, w *world, r resource)
	}{
		{"EveryDocumentedFieldIsPresent", everyDocumentedFieldIsPresent},
		{"OneRecordIsTheListsElement", oneRecordIsTheListsElement},
		{"IDsInPaths", idsInPaths},
		{"EachFilterSelects", eachFilterSelects},
		{"FiltersCombine", filtersCombine},
		{"UnknownIDsMatchNothing", unknownIDsMatchNothing},
		{"MalformedFiltersAreRefused", malformedFiltersAreRefused},
		{"DateOnlyMeansTheStartOfTheLocalDay", dateOnlyMeansTheStartOfTheLocalDay},
		{"AShownTimeCanBeSentBackInAnyForm", aShownTimeCanBeSentBackInAnyForm},
		{"EverySort", everySort},
		{"DefaultOrder", defaultOrder},
		{"UnknownSortNamesTheAllowedOnes", unknownSortNamesTheAllowedOnes},
		{"PagesMakeUpTheList", pagesMakeUpTheList},
		{"PagesBackwardsMakeUpTheList", pagesBackwardsMakeUpTheList},
		{"PageSizes", pageSizes},
		{"PagesPastTheEndAreEmpty", pagesPastTheEndAreEmpty},
		{"PagesBelowOneAreRefused", pagesBelowOneAreRefused},
		{"ListsAreNeverNull", listsAreNeverNull},
		{"UnknownParametersAreNamed", unknownParametersAreNamed},
		{"AccessTokenIsKnownEverywhere", accessTokenIsKnownEverywhere},
		{"MetaHasWhatTheSpecificationNames", metaHasWhatTheSpecificationNames},
		{"ListsHaveEveryRow", listsHaveEveryRow},
		{"CursorsMakeUpTheList", cursorsMakeUpTheList},
		{"CursorsKeepFilters", cursorsKeepFilters},
		{"CursorsBelongToTheirQuery", cursorsBelongToTheirQuery},
		{"FilterBySeveralIDs", filterBySeveralIDs},
		{"FieldsSelectMembers", fieldsSelectMembers},
		{"ExpandAddsRecords", expandAddsRecords},
	}
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w := newWorld(t, e)
		for _, c := range tests {
			t.Run(c.name, func(t *testing.T) {
				for _, r := range resources {
					t.Run(r.path, func(t *testing.T) { c.test(t, w, r) })
				}
			})
		}
	})
}
