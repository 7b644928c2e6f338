package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"chairside/internal/store"
)

// ownNumbers gives each patient with a mobile number one of their own. There
// are a thousand that ring nowhere, and the seed uses no others, so that in a
// large database hundreds of patients share each: whoever searched for one
// would be measuring a long list. Nothing here is ever rung.
func ownNumbers(ctx context.Context, databaseURL string) (err error) {
	db, err := store.Open(ctx, databaseURL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	const (
		shared = "substr(mobile_phone_normalized, 8)"    // 900123 of +447700900123
		own    = "substr(CAST(1000000 + id AS text), 2)" // six digits
		of     = "mobile_phone_normalized LIKE '+447700900___'"
	)
	statements := []string{"UPDATE patients SET mobile_phone = replace(mobile_phone, " + shared + ", " + own + ")" +
		", search_text = replace(search_text, '7700' || " + shared + ", '7700' || " + own + ")" +
		", mobile_phone_normalized = '+447700' || " + own + " WHERE " + of}
	if strings.HasPrefix(databaseURL, "postgres") {
		statements = append(statements, "VACUUM FULL patients") // nobody would have the old rows
	}
	for _, statement := range statements {
		if _, err := db.SQL.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("give patients numbers of their own: %w", err)
		}
	}
	return nil
}
