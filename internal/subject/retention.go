package subject

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"chairside/ent"
	"chairside/internal/civil"
	"chairside/internal/entx/table"
	"chairside/internal/principal"
	"chairside/internal/store"
)

// retention is how long the law of a country, or the advice of its profession, keeps patients'
// records.
type retention struct {
	years    int    // after the last entry, for adults and children
	childAge int    // the birthday until which children's records are kept at least; 0 for none
	source   string // law or advice
}

// retentions are the defaults by country. A practice may set other years (record_retention_years).
// Money has no period: it stays without the person.
var retentions = map[string]retention{
	"AT": {10, 0, "Zahnärztegesetz § 19"},
	"AU": {7, 25, "Health Records and Information Privacy Act 2002 (NSW), section 25"},
	"BE": {30, 0, "Law of 22 April 2019 on quality of practice in health care, article 35"},
	"DE": {10, 0, "Bürgerliches Gesetzbuch § 630f (3)"},
	"ES": {5, 0, "Ley 41/2002, article 17"},
	"FR": {20, 28, "Code de la santé publique, article R1112-7"},
	"GB": {11, 25, "NHS Records Management Code of Practice, as advised by the Dental Defence Union"},
	"IE": {8, 25, "HSE Record Retention Policy, as advised by Dental Protection"},
	"NL": {20, 0, "Burgerlijk Wetboek 7:454 (3)"},
	"NZ": {10, 0, "Health (Retention of Health Information) Regulations 1996"},
	"PL": {20, 22, "Act on Patients' Rights, article 29"},
	"SE": {10, 0, "Patientdatalagen chapter 3, section 17"},
}

// otherCountries is the default of countries that are not listed: the longest of those that are.
var otherCountries = retention{30, 28, "no rule for this country is built in: the longest of all"}

// adulthood is the age at which a patient counts as an adult.
const adulthood = 18

// entries are the columns that date an entry in the record. A row with a day of its own is not
// dated by created_at, which for imported records is the day of the import.
var entries = map[string][]string{
	"appointments":         {"start_time"},
	"invoices":             {"dated_on"},
	"nhs_claims":           {"submitted_date", "approval_date"},
	"note_versions":        {"at"},
	"notes":                {"created_at"},
	"patient_referrals":    {"dated_on"},
	"treatment_plan_items": {"completed_at"},
	"treatment_plans":      {"start_date", "end_date", "completed_at"},
}

// noEntries are the other tables with rows about a patient, with the reason.
var noEntries = map[string]string{
	"accounts":               "opened with the patient",
	"audit_events":           "about the use of the record",
	"custom_field_answers":   "part of the patient's details",
	"invoice_items":          "of the day of the invoice",
	"patients":               "the day of registration counts if there is no entry",
	"payment_explanations":   "of the day of the invoice",
	"payments":               "a debt paid late is no treatment",
	"recalls":                "plans",
	"treatment_appointments": "plans; the appointments count",
	"waiting_lists":          "plans; the appointments count",
}

// Keeping is what keeps a patient's record from being erased.
type Keeping struct {
	Patient  int64
	ErasedAt *time.Time
	HeldAt   *time.Time // start of the legal hold
	Hold     string     // its reason

	Last   string     // the last entry: "appointment 12"
	On     civil.Date // its day
	Until  civil.Date // the first day on which the record may be erased, without a hold
	Rule   string     // why that day: "adult, GB: 11 years after the last entry"
	Source string

	zone *time.Location
}

// ErasedOn returns the day of the erasure as the page shows it.
func (k Keeping) ErasedOn() string { return k.ErasedAt.In(k.zone).Format(dayLayout) }

// HeldOn returns the first day of the legal hold as the page shows it.
func (k Keeping) HeldOn() string { return k.HeldAt.In(k.zone).Format(dayLayout) }

// UntilDay returns Until as the page shows it.
func (k Keeping) UntilDay() string { return k.Until.Time().Format(dayLayout) }

// LastDay returns On as the page shows it.
func (k Keeping) LastDay() string { return k.On.Time().Format(dayLayout) }

// Refusal says why the record cannot be erased on a day. It is an error.
type Refusal string

// Error is the reason.
func (r Refusal) Error() string { return string(r) }

// Refuse returns a Refusal if the record may not be erased on a day.
func (k Keeping) Refuse(day civil.Date) error {
	switch {
	case k.ErasedAt != nil:
		return Refusal(fmt.Sprintf("patient %d was erased on %s", k.Patient, civil.Of(k.ErasedAt.In(k.zone))))
	case k.HeldAt != nil:
		return Refusal(fmt.Sprintf("patient %d cannot be erased: a legal hold keeps the record since %s: %s", k.Patient, civil.Of(k.HeldAt.In(k.zone)), k.Hold))
	case day.Before(k.Until):
		return Refusal(fmt.Sprintf("patient %d cannot be erased before %s: %s of %s keeps the record (%s; %s)", k.Patient, k.Until, k.Last, k.On, k.Rule, k.Source))
	}
	return nil
}

// keeping reads what keeps a record.
func keeping(ctx context.Context, tx *sql.Tx, practice *ent.Practice, p *ent.Patient, zone *time.Location) (Keeping, error) {
	k := Keeping{Patient: p.ID, ErasedAt: p.ErasedAt, HeldAt: p.LegalHoldAt, zone: zone, Last: "the registration", On: civil.Of(p.CreatedAt.In(zone))}
	if p.LegalHoldReason != nil {
		k.Hold = *p.LegalHoldReason
	}
	found := false
	for _, t := range ent.Tables {
		for _, column := range entries[t.Name] {
			id, day, err := lastOf(ctx, tx, t, t.Column(column), practice, p.ID, zone)
			if err != nil {
				return k, fmt.Errorf("subject: the last entry of %s: %w", t.Name, err)
			}
			if id != "" && (!found || k.On.Before(day)) {
				found, k.Last, k.On = true, one(t)+" "+id, day
			}
		}
	}
	k.Until, k.Rule, k.Source = retentionOf(practice).until(practice, k.On, p.DateOfBirth)
	return k, nil
}

// retentionOf returns the retention of a practice's country, with the practice's own years.
func retentionOf(practice *ent.Practice) retention {
	r, ok := retentions[practice.Country]
	if !ok {
		r = otherCountries
	}
	if own := practice.RecordRetentionYears; own != nil {
		r.years, r.source = *own, "set by the practice"
	}
	return r
}

// retentionRule describes how long a practice keeps records, and why.
func retentionRule(practice *ent.Practice) string {
	r := retentionOf(practice)
	text := "records are kept for " + inYears(r.years) + " after the last entry"
	if r.childAge > 0 {
		text += fmt.Sprintf(", and of children at least until their %dth birthday", r.childAge)
	}
	return fmt.Sprintf("%s (%s; %s)", text, practice.Country, r.source)
}

// inYears returns a number of years in words.
func inYears(n int) string {
	if n == 1 {
		return "1 year"
	}
	return fmt.Sprintf("%d years", n)
}

// until returns the first day on which a record with this last entry may be erased.
func (r retention) until(practice *ent.Practice, last, born civil.Date) (day civil.Date, rule, source string) {
	day = last.AddMonths(12 * r.years)
	who, rule := "adult", inYears(r.years)+" after the last entry"
	if last.Before(born.AddMonths(12 * adulthood)) {
		who = "child"
		if birthday := born.AddMonths(12 * r.childAge); r.childAge > 0 && day.Before(birthday) {
			day, rule = birthday, fmt.Sprintf("until the %dth birthday", r.childAge)
		}
	}
	return day, fmt.Sprintf("%s, %s: %s", who, practice.Country, rule), r.source
}

// lastOf returns the id and the day of the latest row of t by a column; "" without one.
func lastOf(ctx context.Context, tx *sql.Tx, t *table.Table, c *table.Column, practice *ent.Practice, patient int64, zone *time.Location) (id string, day civil.Date, err error) {
	name, at := table.Quote(t.Name), table.Quote(t.Name)+"."+table.Quote(c.Name)
	var key, value any
	err = tx.QueryRowContext(ctx, "SELECT "+name+".id, "+at+" FROM "+name+" WHERE "+condition(t)+" AND "+practiceColumn(t)+" = $1 AND "+at+" IS NOT NULL ORDER BY "+at+" DESC, "+name+".id DESC LIMIT 1",
		practice.ID, patient).Scan(&key, &value)
	if errors.Is(err, sql.ErrNoRows) {
		return "", day, nil
	}
	if err != nil {
		return "", day, err
	}
	if id, _, err = t.Columns[0].Stored.Format(key); err != nil {
		return "", day, err
	}
	text, _, err := c.Stored.Format(value)
	if err != nil {
		return "", day, err
	}
	if c.Stored == table.Date {
		day, err = civil.Parse(text)
		return id, day, err
	}
	moment, err := time.Parse(time.RFC3339Nano, text)
	return id, civil.Of(moment.In(zone)), err
}

// SetRetention sets the years for which the caller's practice keeps records, or the default of the
// country for 0, and returns the rule. nil changes nothing.
func SetRetention(ctx context.Context, db *store.DB, years *int) (rule string, err error) {
	id := principal.Must(ctx).PracticeID
	err = db.Tx(ctx, func(tx *ent.Client) error {
		if years != nil {
			update := tx.Practice.UpdateOneID(id).ClearRecordRetentionYears()
			if *years > 0 {
				update = tx.Practice.UpdateOneID(id).SetRecordRetentionYears(*years)
			}
			if err := update.Exec(ctx); err != nil {
				return err
			}
		}
		practice, err := tx.Practice.Get(ctx, id)
		if err == nil {
			rule = retentionRule(practice)
		}
		return err
	})
	return rule, err
}
