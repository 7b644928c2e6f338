package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"chairside/internal/store"
)

// assignDistinctNumbers gives each patient a distinct mobile number. The seed has only
// the thousand numbers reserved for drama, so that in a large database hundreds of
// patients share one, and a search would measure a long list. From a million patients on
// some numbers repeat.
func assignDistinctNumbers(ctx context.Context, databaseURL string) (err error) {
	const (
		shared = "substr(mobile_phone_normalized, 8)"    // 900123 of +447700900123
		own    = "substr(CAST(1000000 + id AS text), 2)" // six digits
		update = "UPDATE patients SET mobile_phone = replace(mobile_phone, " + shared + ", " + own + ")" +
			", search_text = replace(search_text, '7700' || " + shared + ", '7700' || " + own + ")" +
			", mobile_phone_normalized = '+447700' || " + own + " WHERE mobile_phone_normalized LIKE '+447700900___'"
	)
	defer func() {
		if err != nil {
			err = fmt.Errorf("give patients distinct numbers: %w", err)
		}
	}()
	if strings.HasPrefix(databaseURL, "sqlite:") {
		db, err := store.Open(ctx, databaseURL)
		if err != nil {
			return err
		}
		_, err = db.SQL.ExecContext(ctx, update)
		return errors.Join(err, db.Close())
	}
	db, err := pgx.Connect(ctx, databaseURL) // has no statement timeout
	if err != nil {
		return err
	}
	if _, err = db.Exec(ctx, update); err == nil {
		_, err = db.Exec(ctx, "CLUSTER patients USING patients_pkey") // in the seed's order, without dead rows
	}
	return errors.Join(err, db.Close(ctx))
}
