package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"entgo.io/ent/dialect/sql"
	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/accesstoken"
	"chairside/ent/application"
	"chairside/ent/authorizationcode"
	"chairside/internal/apierror"
	"chairside/internal/clock"
	"chairside/internal/principal"
	"chairside/internal/scope"
	"chairside/internal/store"
	"chairside/internal/token"
)

// The limits of an application's fields.
const (
	maxName         = 100 // characters
	maxRedirectURIs = 20
	maxRedirectURI  = 2000 // bytes
)

// Draft describes an application to register or edit.
type Draft struct {
	Name         string
	RedirectURIs []string
	Scopes       []string // that it may request
	Public       bool     // public client, without a secret; set only on registration

	RefreshTokens bool // gets refresh tokens, and access tokens that expire after an hour
}

// validate trims spaces and checks all fields. It fails with apierror.ValidationFailed.
func (d *Draft) validate() error {
	wrong := apierror.Params{}
	d.Name = strings.TrimSpace(d.Name)
	switch {
	case d.Name == "":
		wrong.Add("name", "can't be blank")
	case utf8.RuneCountInString(d.Name) > maxName:
		wrong.Add("name", fmt.Sprintf("is too long (maximum is %d characters)", maxName))
	case !utf8.ValidString(d.Name) || strings.ContainsFunc(d.Name, func(r rune) bool { return r < ' ' || r == '\u007f' }):
		wrong.Add("name", "must not contain control characters")
	}
	var addresses []string
	for _, address := range d.RedirectURIs {
		if address = strings.TrimSpace(address); address == "" || slices.Contains(addresses, address) {
			continue
		}
		if err := checkRedirectURI(address); err != nil {
			wrong.Add("redirect_uris", err.Error())
		}
		addresses = append(addresses, address)
	}
	switch d.RedirectURIs = addresses; {
	case len(addresses) == 0:
		wrong.Add("redirect_uris", "can't be blank")
	case len(addresses) > maxRedirectURIs:
		wrong.Add("redirect_uris", fmt.Sprintf("are too many (maximum is %d)", maxRedirectURIs))
	}
	scopes, err := scope.Parse(strings.Join(d.Scopes, " "))
	switch {
	case err != nil:
		wrong.Add("scopes", "must be existing scopes")
	case len(scopes) == 0:
		wrong.Add("scopes", "can't be blank")
	}
	d.Scopes = scopes
	if len(wrong) > 0 {
		return apierror.ValidationFailed(wrong)
	}
	return nil
}

// checkRedirectURI refuses URIs that must not receive a code (RFC 6749, section 3.1.2;
// RFC 8252, section 7; RFC 9700, section 2.6).
func checkRedirectURI(address string) error {
	u, err := url.Parse(address)
	switch {
	case len(address) > maxRedirectURI:
		return fmt.Errorf("is too long (maximum is %d bytes)", maxRedirectURI)
	case err != nil || !u.IsAbs() || strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r > '~' || r == '\\' }):
		return errors.New("must be absolute, such as https://app.example.com/callback")
	case strings.Contains(address, "#"):
		return errors.New("must not have a fragment (#)")
	case u.User != nil:
		return errors.New("must not contain a user name")
	case u.Scheme == "https" || u.Scheme == "http":
		if u.Hostname() == "" || strings.Contains(u.Host, "*") {
			return errors.New("must have a host name")
		}
		if u.Scheme == "http" && !loopback(u.Hostname()) {
			return errors.New("must use https, except for localhost")
		}
		return nil
	case !strings.Contains(u.Scheme, "."):
		return errors.New("must use https, or a custom scheme with a dot, such as com.example.app:/callback")
	}
	return nil
}

// loopback reports whether a host is this machine.
func loopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}

// Register registers an application for the caller's practice and returns its secret,
// or "" for a public one. It fails with apierror.ValidationFailed. tx is the client of
// a transaction.
func Register(ctx context.Context, tx *ent.Client, d Draft) (app *ent.Application, secret string, err error) {
	if err := d.validate(); err != nil {
		return nil, "", err
	}
	c := principal.Must(ctx)
	create := tx.Application.Create().
		SetOwnerID(c.PracticeID).
		SetUserID(c.UserID).
		SetName(d.Name).
		SetRedirectUris(d.RedirectURIs).
		SetScopes(scope.Set(d.Scopes).String()).
		SetRefreshTokens(d.RefreshTokens).
		SetPublic(d.Public)
	if !d.Public {
		var hash []byte
		secret, hash = token.Mint(token.Secret)
		create.SetSecretHash(hash)
	}
	if app, err = create.Save(ctx); err != nil {
		return nil, "", fmt.Errorf("store the application: %w", err)
	}
	return app, secret, nil
}

// ApplicationByID returns an application of the caller's practice. For an unknown
// ID it returns ent.NotFoundError, which callers report as apierror.NotFound.
func ApplicationByID(ctx context.Context, client *ent.Client, id uuid.UUID) (*ent.Application, error) {
	return client.Application.Query().Where(application.ID(id), application.DeletedAtIsNil()).Only(ctx)
}

// Edit changes an application. Its new scopes limit its existing tokens at once
// (package token). It fails like Register and ApplicationByID. tx is the client of a
// transaction.
func Edit(ctx context.Context, tx *ent.Client, id uuid.UUID, d Draft) error {
	if err := d.validate(); err != nil {
		return err
	}
	app, err := ApplicationByID(ctx, tx, id)
	if err != nil {
		return err
	}
	return tx.Application.UpdateOne(app).
		SetName(d.Name).
		SetRedirectUris(d.RedirectURIs).
		SetScopes(scope.Set(d.Scopes).String()).
		SetRefreshTokens(d.RefreshTokens).
		Exec(ctx)
}

// ErrPublic means that a public application cannot have a secret.
var ErrPublic = errors.New("a public application has no secret")

// RotateSecret replaces an application's secret; the old one stops working at once. It
// fails like ApplicationByID and with ErrPublic. tx is the client of a transaction.
func RotateSecret(ctx context.Context, tx *ent.Client, id uuid.UUID) (secret string, err error) {
	app, err := ApplicationByID(ctx, tx, id)
	switch {
	case err != nil:
		return "", err
	case app.Public:
		return "", ErrPublic
	}
	secret, hash := token.Mint(token.Secret)
	return secret, tx.Application.UpdateOne(app).SetSecretHash(hash).Exec(ctx)
}

// Delete deletes an application and revokes its tokens in all practices. It fails like
// ApplicationByID. tx is the client of a transaction.
func Delete(ctx context.Context, tx *ent.Client, id uuid.UUID) error {
	app, err := ApplicationByID(ctx, tx, id)
	if err != nil {
		return err
	}
	if err := tx.Application.UpdateOne(app).SetDeletedAt(clock.Now(ctx)).ClearSecretHash().Exec(ctx); err != nil {
		return fmt.Errorf("delete the application: %w", err)
	}
	everywhere := principal.AsSystemWithin(ctx)
	_, err = tx.AuthorizationCode.Delete().
		Where(authorizationcode.ApplicationID(id), authorizationcode.UsedAtIsNil()).
		Exec(everywhere)
	if err != nil {
		return fmt.Errorf("delete codes: %w", err)
	}
	return token.Revoke(everywhere, tx, accesstoken.ApplicationID(id))
}

// DeleteEverywhere is Delete in a transaction of its own, which may write rows of all practices.
func DeleteEverywhere(ctx context.Context, db *store.DB, id uuid.UUID) error {
	return db.Tx(principal.AsSystemWithin(ctx), func(tx *ent.Client) error { return Delete(ctx, tx, id) })
}

// Registered is an application of the caller's practice.
type Registered struct {
	*ent.Application
	LastUsed *time.Time // last use of any of its tokens, to the hour
	Users    int        // users of all practices who have authorised it
}

// Applications lists the applications of the caller's practice by name.
func Applications(ctx context.Context, client *ent.Client) ([]Registered, error) {
	apps, err := client.Application.Query().
		Where(application.DeletedAtIsNil()).
		Order(application.ByName(), application.ByID()).
		All(ctx)
	if err != nil || len(apps) == 0 {
		return nil, err
	}
	ids := make([]uuid.UUID, len(apps))
	for i, app := range apps {
		ids[i] = app.ID
	}
	var use []struct {
		ApplicationID uuid.UUID    `json:"application_id"`
		LastUsed      clock.Stored `json:"last_used"`
		Users         int          `json:"users"`
	}
	err = client.AccessToken.Query().
		Where(accesstoken.ApplicationIDIn(ids...)).
		GroupBy(accesstoken.FieldApplicationID).
		Aggregate(ent.As(ent.Max(accesstoken.FieldLastUsedAt), "last_used"), distinctUsers).
		Scan(principal.AsSystemWithin(ctx), &use)
	if err != nil {
		return nil, fmt.Errorf("read the use of applications: %w", err)
	}
	all := make([]Registered, len(apps))
	for i, app := range apps {
		all[i].Application = app
		for _, u := range use {
			if u.ApplicationID == app.ID {
				all[i].Users = u.Users
				if !u.LastUsed.IsZero() {
					all[i].LastUsed = &u.LastUsed.Time
				}
			}
		}
	}
	return all, nil
}

// distinctUsers counts the users with unrevoked tokens for the application.
func distinctUsers(s *sql.Selector) string {
	return sql.As("COUNT(DISTINCT CASE WHEN "+s.C(accesstoken.FieldRevokedAt)+" IS NULL THEN "+s.C(accesstoken.FieldUserID)+" END)", "users")
}
