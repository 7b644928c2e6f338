package floor

import (
	"context"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"chairside/internal/seal"
)

type phone struct{ number, country, normalized *string }

type patient struct {
	id                             int64
	title, first                   string
	middle                         *string
	last                           string
	preferred                      *string
	born                           pgtype.Date
	gender                         bool
	ethnicity                      string
	active                         bool
	line1                          string
	line2, town, county            *string
	postcode                       string
	email, contact, contactIs      *string
	preferredPhone                 *int64
	plan                           int64
	site                           pgtype.UUID
	dentist                        *int64
	dentistRecall                  pgtype.Date
	dentistMonths, hygienist       *int64
	hygienistRecall                pgtype.Date
	hygienistMonths                *int64
	recallMethod                   string
	source                         pgtype.UUID
	doctor                         *int64
	family                         pgtype.UUID
	legacy                         *string
	marketing                      int64
	alert                          bool
	alertText, nhs, ni, occupation *string
	useEmail, useSMS               bool
	custom1, custom2               *string
	metadata                       []byte
	erased                         *time.Time
	home, mobile, work, emergency  phone
	created, updated               time.Time
	account                        *int64
}

const patientColumns = `SELECT p.id, p.title, p.first_name, p.middle_name, p.last_name, p.preferred_name, p.date_of_birth, p.gender, p.ethnicity, p.active,
	p.address_line_1, p.address_line_2, p.town, p.county, p.postcode, p.email_address, p.emergency_contact_name, p.emergency_contact_relationship,
	p.preferred_phone_number, p.payment_plan_id, p.site_id, p.dentist_id, p.dentist_recall_date, p.dentist_recall_interval, p.hygienist_id,
	p.hygienist_recall_date, p.hygienist_recall_interval, p.recall_method, p.acquisition_source_id, p.doctor_id, p.family_id, p.legacy_id, p.marketing,
	p.medical_alert, p.medical_alert_text, p.nhs_number, p.ni_number, p.occupation, p.use_email, p.use_sms, p.custom_field_1, p.custom_field_2, p.metadata, p.erased_at,
	p.home_phone, p.home_phone_country, p.home_phone_normalized, p.mobile_phone, p.mobile_phone_country, p.mobile_phone_normalized,
	p.work_phone, p.work_phone_country, p.work_phone_normalized,
	p.emergency_contact_phone, p.emergency_contact_phone_country, p.emergency_contact_phone_normalized, p.created_at, p.updated_at, c.id
	FROM patients p LEFT JOIN accounts c ON c.patient_id = p.id`

func (p *patient) scan(rows pgx.Row) error {
	return rows.Scan(&p.id, &p.title, &p.first, &p.middle, &p.last, &p.preferred, &p.born, &p.gender, &p.ethnicity, &p.active,
		&p.line1, &p.line2, &p.town, &p.county, &p.postcode, &p.email, &p.contact, &p.contactIs,
		&p.preferredPhone, &p.plan, &p.site, &p.dentist, &p.dentistRecall, &p.dentistMonths, &p.hygienist,
		&p.hygienistRecall, &p.hygienistMonths, &p.recallMethod, &p.source, &p.doctor, &p.family, &p.legacy, &p.marketing,
		&p.alert, &p.alertText, &p.nhs, &p.ni, &p.occupation, &p.useEmail, &p.useSMS, &p.custom1, &p.custom2, &p.metadata, &p.erased,
		&p.home.number, &p.home.country, &p.home.normalized, &p.mobile.number, &p.mobile.country, &p.mobile.normalized,
		&p.work.number, &p.work.country, &p.work.normalized, &p.emergency.number, &p.emergency.country, &p.emergency.normalized,
		&p.created, &p.updated, &p.account)
}

// open opens the sealed columns of a patient.
func (s *Server) open(c *caller, p *patient) error {
	at := seal.Place{Practice: c.practice.Bytes, Table: "patients", Row: strconv.FormatInt(p.id, 10)}
	for _, sealed := range []struct {
		column string
		text   *string
	}{{"medical_alert_text", p.alertText}, {"nhs_number", p.nhs}, {"ni_number", p.ni}} {
		if sealed.text == nil {
			continue
		}
		v, err := seal.Parse(*sealed.text)
		if err != nil {
			return err
		}
		at.Column = sealed.column
		if *sealed.text, err = s.keys.Open(at, v); err != nil {
			return err
		}
	}
	return nil
}

func (p *patient) encode(e *encoder, fields []customField, answers map[answerKey]string) error {
	e.open('{').key("id").int(p.id).key("title").text(p.title).key("first_name").text(p.first).key("middle_name").optionalText(p.middle)
	e.key("last_name").text(p.last).key("preferred_name").optionalText(p.preferred).key("date_of_birth").date(p.born).key("gender").bool(p.gender)
	e.key("ethnicity").text(p.ethnicity).key("active").bool(p.active).key("address_line_1").text(p.line1).key("address_line_2").optionalText(p.line2)
	e.key("town").optionalText(p.town).key("county").optionalText(p.county).key("postcode").text(p.postcode).key("email_address").optionalText(p.email)
	e.key("emergency_contact_name").optionalText(p.contact).key("emergency_contact_relationship").optionalText(p.contactIs)
	e.key("preferred_phone_number").optionalInt(p.preferredPhone).key("payment_plan_id").int(p.plan).key("site_id").uuid(p.site)
	e.key("dentist_id").optionalInt(p.dentist).key("dentist_recall_date").date(p.dentistRecall).key("dentist_recall_interval").optionalInt(p.dentistMonths)
	e.key("hygienist_id").optionalInt(p.hygienist).key("hygienist_recall_date").date(p.hygienistRecall)
	e.key("hygienist_recall_interval").optionalInt(p.hygienistMonths).key("recall_method").text(p.recallMethod).key("acquisition_source_id").uuid(p.source)
	e.key("doctor_id").optionalInt(p.doctor).key("family_id").uuid(p.family).key("legacy_id").optionalText(p.legacy).key("marketing").int(p.marketing)
	e.key("medical_alert").bool(p.alert).key("medical_alert_text").optionalText(p.alertText).key("nhs_number").optionalText(p.nhs)
	e.key("ni_number").optionalText(p.ni).key("occupation").optionalText(p.occupation).key("use_email").bool(p.useEmail).key("use_sms").bool(p.useSMS)
	e.key("custom_field_1").optionalText(p.custom1).key("custom_field_2").optionalText(p.custom2).key("metadata")
	if _, err := e.object(p.metadata); err != nil {
		return err
	}
	e.key("erased_at").optionalTime(p.erased)
	e.key("home_phone").optionalText(p.home.number).key("home_phone_country").optionalText(p.home.country).key("home_phone_normalized").optionalText(p.home.normalized)
	e.key("mobile_phone").optionalText(p.mobile.number).key("mobile_phone_country").optionalText(p.mobile.country)
	e.key("mobile_phone_normalized").optionalText(p.mobile.normalized)
	e.key("work_phone").optionalText(p.work.number).key("work_phone_country").optionalText(p.work.country).key("work_phone_normalized").optionalText(p.work.normalized)
	e.key("emergency_contact_phone").optionalText(p.emergency.number).key("emergency_contact_phone_country").optionalText(p.emergency.country)
	e.key("emergency_contact_phone_normalized").optionalText(p.emergency.normalized)
	e.key("created_at").time(p.created).key("updated_at").time(p.updated).key("account_id").optionalInt(p.account).key("custom_fields").open('[')
	for _, q := range fields {
		value, given := answers[answerKey{p.id, q.id}]
		if !given && !q.active {
			continue
		}
		e.open('{').key("field_id").uuid(q.id).key("value")
		switch {
		case !given:
			e.null()
		case q.kind == "checkbox":
			e.bool(value == "true")
		default:
			e.text(value)
		}
		e.key("position").int(q.position).close('}')
	}
	e.close(']').key("image_url").avatar().close('}')
	return nil
}

// customField is a custom field of patients.
type customField struct {
	id       pgtype.UUID
	kind     string
	active   bool
	position int64
}

type answerKey struct {
	patient int64
	field   pgtype.UUID
}

const (
	customFieldsOfPractice = `SELECT id, type, active, position FROM custom_fields
		WHERE practice_id = $1 AND customizable_type = 'Patient' AND type NOT IN ('title', 'spacer') ORDER BY position, id`
	answersOfPatients = `SELECT patient_id, custom_field_id, value FROM custom_field_answers
		WHERE practice_id = $1 AND patient_id = ANY($2) AND treatment_plan_item_id IS NULL`
)

// answers returns the practice's custom fields, and the patients' answers to them.
func (s *Server) answers(ctx context.Context, c *caller, patients []patient) ([]customField, map[answerKey]string, error) {
	rows, err := s.db.Query(ctx, customFieldsOfPractice, c.practice)
	if err != nil {
		return nil, nil, err
	}
	fields, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (q customField, err error) {
		return q, row.Scan(&q.id, &q.kind, &q.active, &q.position)
	})
	if err != nil {
		return nil, nil, err
	}
	ids := make([]int64, len(patients))
	for i := range patients {
		ids[i] = patients[i].id
	}
	if rows, err = s.db.Query(ctx, answersOfPatients, c.practice, ids); err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	answers := map[answerKey]string{}
	for rows.Next() {
		var (
			a     answerKey
			value string
		)
		if err := rows.Scan(&a.patient, &a.field, &value); err != nil {
			return nil, nil, err
		}
		answers[a] = value
	}
	return fields, answers, rows.Err()
}

// listPatients supports the search filter, query.
func (s *Server) listPatients(r *http.Request, c *caller, e *encoder) (int, error) {
	query := r.URL.Query()
	page, err := readPage(query, 25, 100)
	if err != nil {
		return 0, err
	}
	where, args := " WHERE p.practice_id = $1", []any{c.practice}
	prefix := hex.EncodeToString(c.practice.Bytes[12:]) // of all keys of the practice
	for _, sought := range patterns(query.Get("query")) {
		var any []string
		for _, p := range sought.alternatives {
			args = append(args, p)
			any = append(any, "p.search_text LIKE $"+strconv.Itoa(len(args)))
		}
		args = append(args, prefix+sought.key)
		where += " AND (" + strings.Join(any, " OR ") + ") AND practice_search_keys(p.practice_id, p.search_text) @> ARRAY[$" + strconv.Itoa(len(args)) + "]"
	}
	var total int
	if err := s.db.QueryRow(r.Context(), "SELECT count(*) FROM patients p"+where, args...).Scan(&total); err != nil {
		return 0, err
	}
	n := len(args)
	text := patientColumns + where + " ORDER BY p.id LIMIT $" + strconv.Itoa(n+1) + " OFFSET $" + strconv.Itoa(n+2)
	rows, err := s.db.Query(r.Context(), text, append(args, page.size, page.offset())...)
	if err != nil {
		return 0, err
	}
	patients, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (p patient, err error) {
		if err := p.scan(row); err != nil {
			return p, err
		}
		return p, s.open(c, &p)
	})
	if err != nil {
		return 0, err
	}
	var (
		fields  []customField
		answers map[answerKey]string
	)
	if len(patients) > 0 {
		if fields, answers, err = s.answers(r.Context(), c, patients); err != nil {
			return 0, err
		}
	}
	e.open('{').key("patients").open('[')
	for i := range patients {
		if err := patients[i].encode(e, fields, answers); err != nil {
			return 0, err
		}
	}
	e.close(']')
	page.meta(e, total)
	e.close('}')
	return http.StatusOK, nil
}

var escape = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// pattern is an alternative that search_text must match, with its key in the index.
type pattern struct {
	alternatives []string
	key          string
}

// patterns returns the patterns that search_text must match. A word with a letter matches
// the start of one of the patient's words. All other words together are part of a British
// telephone number, in national or international form.
func patterns(query string) (all []pattern) {
	var digits strings.Builder
	for word := range strings.FieldsSeq(strings.ToLower(query)) {
		if strings.ContainsFunc(word, unicode.IsLetter) {
			all = append(all, pattern{[]string{"% " + escape.Replace(word) + "%"}, beginning(word)})
			continue
		}
		for _, r := range word {
			if r >= '0' && r <= '9' {
				digits.WriteRune(r)
			}
		}
	}
	if number := digits.String(); number != "" {
		forms := []string{"%" + number + "%"}
		if national, ok := strings.CutPrefix(number, "0"); ok {
			forms = append(forms, "%44"+national+"%")
		}
		all = append(all, pattern{forms, ending(number)})
	}
	return all
}

// ending returns a number's key in the index.
func ending(number string) string {
	if n := len(number); n >= 5 {
		return number[n-5:]
	} else if n >= 3 {
		return number[n-3:]
	}
	return number
}

// beginning returns a word's key in the index.
func beginning(word string) string {
	if name, _, ok := strings.Cut(word, "@"); ok {
		return name + "@"
	}
	characters := []rune(word)
	switch n := len(characters); {
	case n >= 5:
		return string(characters[:5])
	case n >= 3:
		return string(characters[:3])
	}
	return word
}
