package provision

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/practice"
	"chairside/ent/user"
	"chairside/internal/principal"
	"chairside/internal/signin/password"
	"chairside/schema"
)

// ErrEmailTaken is returned where another user, of any practice, has the address.
var ErrEmailTaken = errors.New("a user with this e-mail address exists already")

// NewPractice is what is known of a practice before it exists.
type NewPractice struct {
	Name     string
	TimeZone string // IANA name
	Country  string // ISO 3166 code
	First    Person // the first user, who may do everything
}

// Person is what is known of a new user.
type Person struct {
	FirstName, LastName string
	Email               string          // in the form of schema.NormalizeEmail
	Password            password.Chosen // zero until the user has chosen one
}

// Opened is the ids of a new practice.
type Opened struct {
	Practice     uuid.UUID `json:"practice_id"`
	Slug         string    `json:"slug"`
	Site         uuid.UUID `json:"site_id"`
	User         int64     `json:"user_id"`
	Practitioner int64     `json:"practitioner_id"`
	PrivatePlan  int64     `json:"private_payment_plan_id"`
	NHSPlan      int64     `json:"nhs_payment_plan_id"`
}

// The week of a new practice: Monday to Friday.
const (
	opens  = 9 * 60
	closes = 17*60 + 30
)

func openingHours() schema.OpeningHours {
	clock := func(minute int) string { return fmt.Sprintf("%02d:%02d", minute/60, minute%60) }
	hours := schema.OpeningHours{}
	for day := time.Monday; day <= time.Friday; day++ {
		hours[day.String()] = schema.Hours{Open: clock(opens), Close: clock(closes)}
	}
	return hours
}

// Practice sets up a practice that can be worked with. It fails with
// ErrEmailTaken. tx is the client of a transaction.
func Practice(ctx context.Context, tx *ent.Client, n NewPractice) (o Opened, err error) {
	ctx = principal.AsSystem(ctx)
	if err := emailFree(ctx, tx, n.First.Email); err != nil {
		return o, err
	}
	if o.Slug, err = freeSlug(ctx, tx, n.Name); err != nil {
		return o, err
	}
	p, err := tx.Practice.Create().
		SetName(n.Name).SetSlug(o.Slug).SetTimeZone(n.TimeZone).SetCountry(n.Country).
		SetNhs(true).SetOpeningHours(openingHours()).
		Save(ctx)
	if err != nil {
		return o, fmt.Errorf("provision: practice: %w", err)
	}
	site, err := tx.Site.Create().SetPracticeID(p.ID).SetName(n.Name).SetOpeningHours(openingHours()).Save(ctx)
	if err != nil {
		return o, fmt.Errorf("provision: site: %w", err)
	}
	if err := tx.Room.Create().SetPracticeID(p.ID).SetSiteID(site.ID).SetName("Surgery 1").Exec(ctx); err != nil {
		return o, fmt.Errorf("provision: room: %w", err)
	}
	o.Practice, o.Site = p.ID, site.ID
	u, err := hire(ctx, tx, site, n.First, schema.RoleAdministrator)
	if err != nil {
		return o, err
	}
	o.User = u.ID
	if o.Practitioner, err = practise(ctx, tx, u, site.ID); err != nil {
		return o, err
	}
	if err := work(ctx, tx, p.ID, o.Practitioner, site.ID); err != nil {
		return o, err
	}
	o.PrivatePlan, o.NHSPlan, err = content(ctx, tx, p.ID)
	return o, err
}

// work gives a practitioner the practice's hours as weekly working sessions.
func work(ctx context.Context, tx *ent.Client, practiceID uuid.UUID, practitioner int64, site uuid.UUID) error {
	for day := time.Monday; day <= time.Friday; day++ {
		err := tx.WorkingSession.Create().
			SetPracticeID(practiceID).SetPractitionerID(practitioner).SetSiteID(site).
			SetWeekday(int(day)).SetStartMinute(opens).SetFinishMinute(closes).
			Exec(ctx)
		if err != nil {
			return fmt.Errorf("provision: working session: %w", err)
		}
	}
	return nil
}

// freeSlug makes a short name that no practice has.
func freeSlug(ctx context.Context, tx *ent.Client, name string) (string, error) {
	base := slug(name)
	for n := 1; ; n++ {
		candidate := base
		if n > 1 {
			candidate += "-" + strconv.Itoa(n)
		}
		taken, err := tx.Practice.Query().Where(practice.Slug(candidate)).Exist(ctx)
		if err != nil {
			return "", fmt.Errorf("provision: look for a short name: %w", err)
		}
		if !taken {
			return candidate, nil
		}
	}
}

// slug is a name in lower case, with one hyphen for what is no letter or digit.
func slug(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if len(words) == 0 {
		return "practice"
	}
	return strings.Join(words, "-")
}

func emailFree(ctx context.Context, tx *ent.Client, email string) error {
	taken, err := tx.User.Query().Where(user.Email(email)).Exist(ctx)
	if err != nil {
		return fmt.Errorf("provision: look for the e-mail address: %w", err)
	}
	if taken {
		return ErrEmailTaken
	}
	return nil
}
