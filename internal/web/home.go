package web

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"chairside/ent"
	"chairside/ent/practitioner"
	"chairside/internal/scope"
	"chairside/internal/signin"
)

// home redirects to the page of the visitor's work.
func (s *Site) home(w http.ResponseWriter, r *http.Request) error {
	page, err := s.landing(r.Context(), signin.From(r.Context()))
	if err != nil {
		return err
	}
	if done := r.URL.Query().Get("done"); done != "" {
		address, err := url.Parse(page)
		if err != nil {
			return err
		}
		query := address.Query()
		query.Set("done", done)
		address.RawQuery = query.Encode()
		page = address.String()
	}
	return redirect(w, page)
}

// landing returns the page of a visitor's work: the diary for the reception, the visitor's own
// diary for practitioners, the reports for managers, and the status for administrators.
func (s *Site) landing(ctx context.Context, v *signin.Visitor) (string, error) {
	switch v.User.Role.PermissionLevel() {
	case scope.Administrator:
		return statusPath, nil
	case scope.Manager:
		return reportsPath, nil
	case scope.Practitioner:
		id, err := s.DB.Ent.Practitioner.Query().Where(practitioner.UserID(v.User.ID), practitioner.Active(true)).OnlyID(ctx)
		switch {
		case ent.IsNotFound(err): // the user treats no patients any more
			return diaryPath, nil
		case err != nil:
			return "", err
		}
		return diaryPath + "?practitioner=" + strconv.FormatInt(id, 10), nil
	default:
		return diaryPath, nil
	}
}
