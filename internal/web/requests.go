package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/accesstoken"
	"chairside/ent/application"
	"chairside/ent/loggedrequest"
	"chairside/ent/predicate"
	"chairside/internal/audit/trail"
	"chairside/internal/clock"
	"chairside/internal/ratelimit"
	"chairside/internal/scope"
	"chairside/internal/signin"
	"chairside/schema"
)

const requestsPath = "/settings/requests"

const (
	// requestRows is the most requests of a page, errorRows the most errors before them, and limitRows the most
	// tokens whose limits it shows.
	requestRows, errorRows, limitRows = 50, 10, 20
	// firstError is the lowest status of an error.
	firstError = http.StatusBadRequest
)

// requestsView is the data of the page of the request log.
type requestsView struct {
	Tokens, Applications []choice
	Errors, Requests     []requestRow // Errors only before the first page of all requests
	Filtered             bool
	Limits               []limitView // of the chosen token, or of those of the chosen application
	Older                string      // URL of the next page; "" on the last one
	Days, Most           int         // how long, and how many, entries are kept
	Webhooks             bool        // the visitor may open webhooks
}

// limitView is how much of its rate limit a token uses.
type limitView struct {
	LastMinute           int
	Unlimited            bool
	Limit, Remaining     int
	FullAt               time.Time
	Name                 string
	PracticeLeft, OfHour int // of the limit of the practice; OfHour is 0 without one
}

// requestRow is one request with its texts.
type requestRow struct {
	*ent.LoggedRequest
	Token string // its name, and whose it is
}

// Failed reports whether the response is an error.
func (r requestRow) Failed() bool { return r.Status >= firstError }

// Took is the duration in milliseconds: "0.4 ms", "1,204 ms".
func (r requestRow) Took() string {
	ms := float64(r.DurationUs) / 1000
	if ms < 10 {
		return fmt.Sprintf("%.1f ms", ms)
	}
	return thousands(int(ms)) + " ms"
}

// requests lists recent API requests, errors first: those of the visitor's tokens, or for managers and
// administrators of all tokens of the practice.
func (s *Site) requests(w http.ResponseWriter, r *http.Request) error {
	ctx, visitor := r.Context(), signin.From(r.Context())
	sent, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return errMalformed
	}
	f := form{values: url.Values{}}
	for _, field := range []string{"request", "token", "application", "only"} {
		if value := strings.TrimSpace(sent.Get(field)); value != "" {
			f.values.Set(field, value)
		}
	}
	if !storable(f.values) {
		return errMalformed
	}
	page := requestsView{
		Filtered: len(f.values) > 0, Webhooks: visitor.User.Role.PermissionLevel() >= administrator,
		Days: int(trail.RequestsKept / (24 * time.Hour)), Most: trail.RequestsPerPractice,
	}
	var mine []predicate.LoggedRequest
	if visitor.User.Role.PermissionLevel() < scope.Manager {
		mine = append(mine, loggedrequest.UserID(visitor.User.ID))
	}
	names, err := s.requestChoices(ctx, mine, &page)
	if err != nil {
		return err
	}
	chosen := requestFilter(&f, &page)
	if len(f.wrong) > 0 {
		s.show(w, r, http.StatusUnprocessableEntity, "requests", view{Title: "API requests", Here: requestsPath, Form: f, Page: page})
		return nil
	}
	where := slices.Concat(mine, chosen)
	before, err := strconv.ParseInt(sent.Get("before"), 10, 64)
	first := err != nil
	if first && f.Value("request") == "" && f.Value("only") == "" {
		if page.Errors, _, err = s.requestRows(ctx, names, errorRows, slices.Concat(where, []predicate.LoggedRequest{loggedrequest.StatusGTE(firstError)})); err != nil {
			return err
		}
	}
	if first {
		if page.Limits, err = s.limitsOf(ctx, &f, names, mine); err != nil {
			return err
		}
	} else {
		where = append(where, loggedrequest.IDLT(before))
	}
	var last int64
	if page.Requests, last, err = s.requestRows(ctx, names, requestRows, where); err != nil {
		return err
	}
	if last > 0 {
		next := url.Values{"before": {strconv.FormatInt(last, 10)}}
		for field := range f.values {
			next.Set(field, f.Value(field))
		}
		page.Older = requestsPath + "?" + next.Encode()
	}
	s.show(w, r, http.StatusOK, "requests", view{Title: "API requests", Here: requestsPath, Form: f, Page: page})
	return nil
}

// requestFilter returns the conditions of the form, and adds its mistakes.
func requestFilter(f *form, page *requestsView) (where []predicate.LoggedRequest) {
	if id := f.Value("request"); id != "" {
		where = append(where, loggedrequest.RequestIDIn(id, strings.ToUpper(id))) // our own ids are in upper case
	}
	if id, ok := f.chosen("token", "Choose a token.", page.Tokens); ok {
		where = append(where, loggedrequest.TokenID(id))
	}
	if id, ok := f.chosen("application", "Choose an application.", page.Applications); ok {
		where = append(where, loggedrequest.ApplicationID(id))
	}
	switch f.Value("only") {
	case "":
	case "errors":
		where = append(where, loggedrequest.StatusGTE(firstError))
	default:
		f.add("only", "Choose all requests or errors.")
	}
	return where
}

// chosen returns the id that is chosen in a field, if one is.
func (f *form) chosen(field, message string, from []choice) (id uuid.UUID, ok bool) {
	value := f.Value(field)
	if value == "" {
		return id, false
	}
	for _, c := range from {
		if c.ID == value {
			id, err := uuid.Parse(value)
			return id, err == nil
		}
	}
	f.add(field, message)
	return id, false
}

// tokenNames are names of tokens.
type tokenNames map[uuid.UUID]string

// of returns the name of a token, or what is said of one that is deleted.
func (n tokenNames) of(id uuid.UUID) string { return cmp.Or(n[id], "A deleted token") }

// requestChoices sets the options of the filters, and returns the names of the tokens whose requests
// the visitor may see: with mine, only the visitor's own.
func (s *Site) requestChoices(ctx context.Context, mine []predicate.LoggedRequest, page *requestsView) (names tokenNames, err error) {
	visitor := signin.From(ctx)
	q := s.DB.Ent.AccessToken.Query().WithUser().WithApplication().Order(ent.Desc(accesstoken.FieldCreatedAt), accesstoken.ByID())
	if len(mine) > 0 {
		q.Where(accesstoken.UserID(visitor.User.ID))
	}
	tokens, err := q.All(ctx)
	if err != nil {
		return nil, err
	}
	names = tokenNames{}
	used := map[uuid.UUID]bool{}
	for _, t := range tokens {
		if t.ApplicationID != nil {
			used[*t.ApplicationID] = true
		}
		name := t.Name
		if app := t.Edges.Application; app != nil {
			name = app.Name
		}
		if u := t.Edges.User; u.ID != visitor.User.ID {
			name += ", " + schema.FullName(u.FirstName, u.LastName)
		}
		names[t.ID] = name
		if t.ApplicationID == nil {
			page.Tokens = append(page.Tokens, choice{t.ID.String(), name, t.RevokedAt == nil})
		}
	}
	applications, err := s.DB.Ent.Application.Query().Order(application.ByName(), application.ByID()).All(ctx)
	if err != nil {
		return nil, err
	}
	for _, a := range applications {
		if len(mine) > 0 && !used[a.ID] {
			continue
		}
		page.Applications = append(page.Applications, choice{a.ID.String(), a.Name, a.DeletedAt == nil})
	}
	return names, nil
}

// requestRows returns the newest requests, at most limit of them. last is the id of the last one if
// there are more, or 0.
func (s *Site) requestRows(ctx context.Context, names tokenNames, limit int, where []predicate.LoggedRequest) (rows []requestRow, last int64, err error) {
	found, err := s.DB.Ent.LoggedRequest.Query().Where(where...).Order(ent.Desc(loggedrequest.FieldID)).Limit(limit + 1).All(ctx)
	if err != nil {
		return nil, 0, err
	}
	for i, r := range found {
		if i == limit {
			return rows, rows[limit-1].ID, nil
		}
		rows = append(rows, requestRow{r, names.of(r.TokenID)})
	}
	return rows, 0, nil
}

// limitsOf returns how much of their rate limits the chosen token uses, and the tokens that the chosen
// application has used in the last hour, in which a limit is available again; of these at most limitRows. It
// returns nil without a choice.
func (s *Site) limitsOf(ctx context.Context, f *form, names tokenNames, mine []predicate.LoggedRequest) (all []limitView, err error) {
	now := clock.Now(ctx)
	recent := s.DB.Ent.LoggedRequest.Query().Where(mine...)
	var tokens []uuid.UUID
	if id, err := uuid.Parse(f.Value("token")); err == nil {
		tokens = []uuid.UUID{id}
	} else if id, err := uuid.Parse(f.Value("application")); err == nil {
		used := recent.Clone().Where(loggedrequest.ApplicationID(id), loggedrequest.AtGTE(now.Add(-time.Hour)))
		if err := used.Unique(true).Order(loggedrequest.ByTokenID()).Limit(limitRows).Select(loggedrequest.FieldTokenID).Scan(ctx, &tokens); err != nil {
			return nil, err
		}
	}
	var lately []struct {
		Token   uuid.UUID `sql:"token_id"`
		Count   int
		Further int
	}
	err = recent.Where(loggedrequest.TokenIDIn(tokens...), loggedrequest.AtGTE(now.Add(-time.Minute))).GroupBy(loggedrequest.FieldTokenID).
		Aggregate(ent.As(ent.Count(), "count"), ent.As(ent.Sum(loggedrequest.FieldFurther), "further")).Scan(ctx, &lately)
	if err != nil {
		return nil, err
	}
	for _, id := range tokens {
		usage := s.Limits(id, signin.From(ctx).User.PracticeID, now)
		l := limitView{Name: names.of(id), Limit: usage.Token.Limit, Remaining: usage.Token.Remaining, FullAt: usage.Token.Full, Unlimited: usage.Token.Remaining == ratelimit.Unlimited}
		if usage.Practice.Limit > 0 {
			l.PracticeLeft, l.OfHour = usage.Practice.Remaining, usage.Practice.Limit
		}
		for _, x := range lately {
			if x.Token == id {
				l.LastMinute = x.Count + x.Further
			}
		}
		all = append(all, l)
	}
	return all, nil
}
