package provision

import (
	"errors"
	"testing"

	"chairside/ent"
	"chairside/ent/fee"
	"chairside/ent/user"
	"chairside/internal/principal"
	"chairside/internal/store"
	"chairside/internal/test/testdb"
	"chairside/schema"
)

// open opens a migrated database without rows.
func open(t *testing.T) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), testdb.Migrated.SQLite(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// create creates a practice whose first user has this e-mail address.
func create(t *testing.T, db *store.DB, name, email string) (ids PracticeIDs, err error) {
	t.Helper()
	err = db.Tx(t.Context(), func(tx *ent.Client) error {
		ids, err = Practice(t.Context(), tx, NewPractice{
			Name: name, TimeZone: "Europe/London", Country: "GB",
			First: Person{FirstName: "Ann", LastName: "Archer", Email: email},
		})
		return err
	})
	return ids, err
}

func TestPracticeIsReadyForAppointments(t *testing.T) {
	t.Parallel()
	db := open(t)
	ids, err := create(t, db, "Bright", "ann@bright.test")
	if err != nil {
		t.Fatal(err)
	}
	// Count as the new user, who sees only rows of the own practice.
	ctx := principal.With(t.Context(), &principal.Principal{PracticeID: ids.Practice, UserID: ids.User})
	count := func(what string, want int, n int, err error) {
		t.Helper()
		if err != nil || n != want {
			t.Errorf("%d %s, want %d (%v)", n, what, want, err)
		}
	}
	n, err := db.Ent.Site.Query().Count(ctx)
	count("sites", 1, n, err)
	n, err = db.Ent.Practitioner.Query().Count(ctx)
	count("practitioners", 1, n, err)
	n, err = db.Ent.WorkingSession.Query().Count(ctx)
	count("working sessions", 5, n, err)
	n, err = db.Ent.AppointmentReason.Query().Count(ctx)
	count("reasons", 7, n, err)
	n, err = db.Ent.PaymentPlan.Query().Count(ctx)
	count("plans", 2, n, err)
	n, err = db.Ent.Treatment.Query().Count(ctx)
	count("treatments", len(treatments), n, err)
	n, err = db.Ent.Fee.Query().Where(fee.PaymentPlanID(ids.PrivatePlan)).Count(ctx)
	count("private fees", len(treatments), n, err)
	n, err = db.Ent.Fee.Query().Where(fee.PaymentPlanID(ids.NHSPlan)).Count(ctx)
	count("NHS fees", len(treatments)-1, n, err)
	p, err := db.Ent.Practice.Get(ctx, ids.Practice)
	if err != nil || len(p.OpeningHours) != 5 || p.OpeningHours["Friday"] != (schema.Hours{Open: "09:00", Close: "17:30"}) {
		t.Errorf("opening hours %v (%v)", p.OpeningHours, err)
	}
	for _, reason := range schema.Reasons {
		if reasonStyles[reason].colour == "" {
			t.Errorf("the reason %s has no colour", reason)
		}
	}
}

func TestEmailIsUniqueAcrossPractices(t *testing.T) {
	t.Parallel()
	db := open(t)
	ids, err := create(t, db, "Bright", "ann@bright.test")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := create(t, db, "Other", "ann@bright.test"); !errors.Is(err, ErrEmailTaken) {
		t.Errorf("got %v", err)
	}
	err = db.Tx(t.Context(), func(tx *ent.Client) error {
		_, err := User(t.Context(), tx, ids.Practice, Person{FirstName: "A", LastName: "B", Email: "ann@bright.test"}, schema.RoleNurse)
		return err
	})
	if !errors.Is(err, ErrEmailTaken) {
		t.Errorf("got %v", err)
	}
}

func TestRolesThatTreatPatientsAreMadePractitioners(t *testing.T) {
	t.Parallel()
	db := open(t)
	ids, err := create(t, db, "Bright", "ann@bright.test")
	if err != nil {
		t.Fatal(err)
	}
	for _, role := range schema.Role("").Values() {
		var created UserIDs
		err := db.Tx(t.Context(), func(tx *ent.Client) (err error) {
			created, err = User(t.Context(), tx, ids.Practice, Person{FirstName: "A", LastName: role, Email: role + "@bright.test"}, schema.Role(role))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if (created.Practitioner != nil) != (schema.Role(role).PermissionLevel() == 2) {
			t.Errorf("%s: practitioner is %v", role, created.Practitioner)
		}
		u, err := db.Ent.User.Query().Where(user.ID(created.User)).Only(principal.AsSystem(t.Context()))
		if err != nil || u.SiteID == nil || *u.SiteID != ids.Site {
			t.Errorf("%s: %v, %v", role, u, err)
		}
	}
}

func TestSlug(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"High Street Dental": "high-street-dental", " O'Brien & Søns! ": "o-brien-søns", "!!!": "practice", "Praxis 24/7": "praxis-24-7",
	} {
		if got := slug(name); got != want {
			t.Errorf("slug(%q) = %q, want %q", name, got, want)
		}
	}
}
