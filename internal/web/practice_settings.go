package web

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"chairside/ent"
	"chairside/internal/scope"
	"chairside/internal/signin"
)

const practiceSettingsPath = "/settings/practice"

// factorChoices are the choices of who must have two-factor authentication, by permission level.
var factorChoices = []choice{
	{"0", "No one", true},
	{"4", "Administrators", true},
	{"3", "Managers and administrators", true},
	{"2", "Everyone except reception", true},
	{"1", "Everyone", true},
}

// practiceSettings shows the practice's rules for signing in.
func (s *Site) practiceSettings(w http.ResponseWriter, r *http.Request) error {
	rules := signin.RulesOf(signin.From(r.Context()).Practice())
	s.showPracticeSettings(w, r, http.StatusOK, s.restored(r, form{values: map[string][]string{
		"second_factor": {strconv.Itoa(int(rules.FactorFrom))}, "idle_minutes": {strconv.Itoa(rules.IdleMinutes)},
	}}, practiceSettingsPath))
	return nil
}

func (s *Site) showPracticeSettings(w http.ResponseWriter, r *http.Request, status int, f form) {
	s.show(w, r, status, "practice_settings", view{Title: "Practice", Here: practiceSettingsPath, Form: f, Page: factorChoices})
}

// savePracticeSettings changes the practice's rules for signing in.
func (s *Site) savePracticeSettings(w http.ResponseWriter, r *http.Request) error {
	ctx, f := r.Context(), submitted(r)
	level, err := strconv.Atoi(f.Value("second_factor"))
	if err != nil {
		level = -1 // refused below
	}
	minutes, err := strconv.Atoi(strings.TrimSpace(f.Value("idle_minutes")))
	if err != nil {
		minutes = -1
	}
	err = s.DB.Tx(ctx, func(tx *ent.Client) error {
		return signin.SetRules(ctx, tx, signin.From(ctx).Practice().ID, signin.Rules{FactorFrom: scope.Level(level), IdleMinutes: minutes})
	})
	switch {
	case errors.Is(err, signin.ErrFactorFrom):
		f.add("second_factor", "Choose who must have two-factor authentication.")
	case errors.Is(err, signin.ErrIdleMinutes):
		f.add("idle_minutes", "Enter a number of minutes from 5 to 120, or 0 for never.")
	case err != nil:
		return err
	default:
		return redirect(w, practiceSettingsPath+"?done=practice-saved")
	}
	s.showPracticeSettings(w, r, http.StatusUnprocessableEntity, f)
	return nil
}
