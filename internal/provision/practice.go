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

// ErrEmailTaken means that a user of this or another practice has the address.
var ErrEmailTaken = errors.New("a user with this e-mail address already exists: use another address")

// NewPractice describes a practice to create.
type NewPractice struct {
	Name     string
	TimeZone string // IANA name
	Country  string // ISO 3166 code
	First    Person // the first user, an administrator
}

// Person describes a user to create.
type Person struct {
	FirstName, LastName string
	Email               string          // normalised by schema.NormalizeEmail
	Password            password.Chosen // zero for no password
	Site                uuid.UUID       // zero for the practice's first active site
}

// PracticeIDs are the ids of a new practice and its rows.
type PracticeIDs struct {
	Practice     uuid.UUID `json:"practice_id"`
	Slug         string    `json:"slug"`
	Site         uuid.UUID `json:"site_id"`
	User         int64     `json:"user_id"`
	Practitioner int64     `json:"practitioner_id"`
	PrivatePlan  int64     `json:"private_payment_plan_id"`
	NHSPlan      int64     `json:"nhs_payment_plan_id"`
}

// The opening hours of a new practice, in minutes, Monday to Friday.
const (
	opens  = 9 * 60
	closes = 17*60 + 30
)

// openingHours returns the opening hours of a new practice and of its site.
func openingHours() schema.OpeningHours {
	clock := func(minute int) string { return fmt.Sprintf("%02d:%02d", minute/60, minute%60) }
	hours := schema.OpeningHours{}
	for day := time.Monday; day <= time.Friday; day++ {
		hours[day.String()] = schema.Hours{Open: clock(opens), Close: clock(closes)}
	}
	return hours
}

// Practice creates a practice. It fails with ErrEmailTaken. tx is the client of a
// transaction.
func Practice(ctx context.Context, tx *ent.Client, n NewPractice) (ids PracticeIDs, err error) {
	ctx = principal.AsSystem(ctx)
	if err := checkEmailFree(ctx, tx, n.First.Email); err != nil {
		return ids, err
	}
	if ids.Slug, err = freeSlug(ctx, tx, n.Name); err != nil {
		return ids, err
	}
	p, err := tx.Practice.Create().
		SetName(n.Name).SetSlug(ids.Slug).SetTimeZone(n.TimeZone).SetCountry(n.Country).
		SetNhs(true).SetOpeningHours(openingHours()).
		Save(ctx)
	if err != nil {
		return ids, fmt.Errorf("create practice: %w", err)
	}
	site, err := tx.Site.Create().SetPracticeID(p.ID).SetName(n.Name).SetOpeningHours(openingHours()).Save(ctx)
	if err != nil {
		return ids, fmt.Errorf("create site: %w", err)
	}
	if err := tx.Room.Create().SetPracticeID(p.ID).SetSiteID(site.ID).SetName("Surgery 1").Exec(ctx); err != nil {
		return ids, fmt.Errorf("create room: %w", err)
	}
	ids.Practice, ids.Site = p.ID, site.ID
	u, err := createUser(ctx, tx, site, n.First, schema.RoleAdministrator)
	if err != nil {
		return ids, err
	}
	ids.User = u.ID
	if ids.Practitioner, err = createPractitioner(ctx, tx, u, site.ID); err != nil {
		return ids, err
	}
	if err := addWorkingSessions(ctx, tx, p.ID, ids.Practitioner, site.ID); err != nil {
		return ids, err
	}
	ids.PrivatePlan, ids.NHSPlan, err = addDefaults(ctx, tx, p.ID)
	return ids, err
}

// addWorkingSessions adds the practice's opening hours as weekly working sessions.
func addWorkingSessions(ctx context.Context, tx *ent.Client, practiceID uuid.UUID, practitioner int64, site uuid.UUID) error {
	for day := time.Monday; day <= time.Friday; day++ {
		err := tx.WorkingSession.Create().
			SetPracticeID(practiceID).SetPractitionerID(practitioner).SetSiteID(site).
			SetWeekday(int(day)).SetStartMinute(opens).SetFinishMinute(closes).
			Exec(ctx)
		if err != nil {
			return fmt.Errorf("create working session: %w", err)
		}
	}
	return nil
}

// freeSlug returns a short name that no practice has.
func freeSlug(ctx context.Context, tx *ent.Client, name string) (string, error) {
	base := slug(name)
	for n := 1; ; n++ {
		candidate := base
		if n > 1 {
			candidate += "-" + strconv.Itoa(n)
		}
		taken, err := tx.Practice.Query().Where(practice.Slug(candidate)).Exist(ctx)
		if err != nil {
			return "", fmt.Errorf("find a short name: %w", err)
		}
		if !taken {
			return candidate, nil
		}
	}
}

// slug lower-cases a name and joins its words with hyphens. Only letters and digits of
// any script are kept.
func slug(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if len(words) == 0 {
		return "practice"
	}
	return strings.Join(words, "-")
}

// checkEmailFree fails with ErrEmailTaken if a user of any practice has the address.
func checkEmailFree(ctx context.Context, tx *ent.Client, email string) error {
	taken, err := tx.User.Query().Where(user.Email(email)).Exist(ctx)
	if err != nil {
		return fmt.Errorf("find the e-mail address: %w", err)
	}
	if taken {
		return ErrEmailTaken
	}
	return nil
}
