package signin

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/user"
	"chairside/internal/clock"
	"chairside/internal/principal"
	"chairside/internal/seal"
	"chairside/internal/signin/password"
	"chairside/internal/store"
)

// InvitationLife is how long an invitation works.
const InvitationLife = 72 * time.Hour

// ErrInvitation means that an invitation is malformed, has expired or was used, or that its user
// cannot sign in any more.
var ErrInvitation = errors.New("the invitation does not work")

// Invite returns an invitation: a secret with which a user can choose a password without the old one,
// once, within InvitationLife. It is not stored. It names the user and seals the hash of the
// credentials that it replaces, so it ends as soon as they change. The audit log gets an entry, with
// the user's id, in the transaction of tx: a caller shows the invitation after that. It fails with
// seal.ErrNoKeys.
func (s *Sessions) Invite(ctx context.Context, tx *ent.Client, u *ent.User) (string, error) {
	replaces, err := credentials(s.db.Keys, u)
	if err != nil {
		return "", err
	}
	until := clock.Now(ctx).Add(InvitationLife).Unix()
	sealed, err := s.db.Keys.Seal(placeOfInvitation(u.PracticeID, u.ID), fmt.Sprintf("%d %s", until, replaces))
	if err != nil {
		return "", fmt.Errorf("seal an invitation: %w", err)
	}
	if err := store.AuditCreation(ctx, tx, u.PracticeID, "Invitation", strconv.FormatInt(u.ID, 10)); err != nil {
		return "", fmt.Errorf("signin: audit an invitation: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%s %d %s", u.PracticeID, u.ID, sealed)), nil
}

// placeOfInvitation is where the sealed part of an invitation stands. No column has the name.
func placeOfInvitation(practice uuid.UUID, userID int64) seal.Place {
	return seal.Place{Practice: practice, Table: user.Table, Column: "invitation", Row: strconv.FormatInt(userID, 10)}
}

// Invited returns the user of an invitation, with the practice. It fails with ErrInvitation.
func (s *Sessions) Invited(ctx context.Context, invitation string) (*ent.User, error) {
	return s.invited(principal.AsSystemWithin(ctx), s.db.Ent, invitation)
}

func (s *Sessions) invited(ctx context.Context, client *ent.Client, invitation string) (*ent.User, error) {
	practice, id, sealed, err := readInvitation(invitation)
	if err != nil {
		return nil, err
	}
	opened, err := s.db.Keys.Open(placeOfInvitation(practice, id), sealed)
	if err != nil {
		return nil, ErrInvitation
	}
	until, replaces, _ := strings.Cut(opened, " ")
	seconds, err := strconv.ParseInt(until, 10, 64)
	if err != nil || !clock.Now(ctx).Before(time.Unix(seconds, 0)) {
		return nil, ErrInvitation
	}
	u, err := client.User.Query().Where(user.ID(id), user.PracticeID(practice)).WithPractice().Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return nil, ErrInvitation
	case err != nil:
		return nil, fmt.Errorf("signin: find the invited user: %w", err)
	}
	now, err := credentials(s.db.Keys, u)
	if err != nil {
		return nil, err
	}
	if subtle.ConstantTimeCompare([]byte(now), []byte(replaces)) != 1 || !u.Active || isClosed(ctx, u) {
		return nil, ErrInvitation
	}
	return u, nil
}

// readInvitation splits an invitation. It fails with ErrInvitation.
func readInvitation(invitation string) (practice uuid.UUID, userID int64, sealed seal.Value, err error) {
	text, err := base64.RawURLEncoding.DecodeString(invitation)
	parts := strings.Split(string(text), " ")
	if err != nil || len(parts) != 3 {
		return practice, 0, sealed, ErrInvitation
	}
	practice, wrongPractice := uuid.Parse(parts[0])
	userID, wrongUser := strconv.ParseInt(parts[1], 10, 64)
	sealed, wrongSeal := seal.Parse(parts[2])
	if errors.Join(wrongPractice, wrongUser, wrongSeal) != nil || sealed.IsNull() {
		return practice, 0, sealed, ErrInvitation
	}
	return practice, userID, sealed, nil
}

// AcceptInvitation sets the password of the invited user, and ends what ResetPassword ends. It fails
// with ErrInvitation, and with *Unsuitable for a password that does not pass the checks.
func (s *Sessions) AcceptInvitation(ctx context.Context, invitation, chosen string) error {
	ctx = principal.AsSystemWithin(ctx)
	u, err := s.invited(ctx, s.db.Ent, invitation)
	if err != nil {
		return err
	}
	ctx = principal.AsSystemFor(ctx, &principal.Principal{PracticeID: u.PracticeID, UserID: u.ID})
	about := About(u, u.Edges.Practice.Name)
	if err := password.Check(chosen, about...); err != nil {
		return &Unsuitable{err}
	}
	hashed, err := password.Choose(ctx, chosen, about...)
	if err != nil {
		return err
	}
	return s.db.Tx(ctx, func(tx *ent.Client) error {
		switch err := store.HoldAccess(ctx, tx, u.ID); {
		case errors.Is(err, store.ErrAccessEnded):
			return ErrInvitation
		case err != nil:
			return err
		}
		u, err := s.invited(ctx, tx, invitation) // a second use waits for the first, and then fails
		if err != nil {
			return err
		}
		return ResetPassword(ctx, tx, u, hashed, false)
	})
}

// EndSessions ends all sessions of a user. NoteSignedOut follows once tx is committed.
func EndSessions(ctx context.Context, tx *ent.Client, u *ent.User) error {
	if _, err := tx.User.Query().Where(user.ID(u.ID), store.ForUpdate).Only(ctx); err != nil {
		return fmt.Errorf("signin: lock the user: %w", err)
	}
	return EndAccess(ctx, tx, u.ID, BySession)
}
