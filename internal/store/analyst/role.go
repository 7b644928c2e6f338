package analyst

import (
	"context"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"chairside/ent/analyst"
	"chairside/internal/entx/table"
)

// connections is the most connections of an analyst: a program such as Metabase keeps a few.
const connections = 5

var (
	// ErrExists refuses the name of a role that the database server already has.
	ErrExists = errors.New("the database server already has a role of this name: choose another one")
	// ErrUnknown refuses a role that is no analyst of the database.
	ErrUnknown = errors.New(`no such analyst; see "chairside analyst list"`)
)

var roleName = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)

// CheckName refuses a name that is not a plain identifier.
func CheckName(name string) error {
	if !roleName.MatchString(name) || strings.HasPrefix(name, "pg_") || name == "public" || name == "none" {
		return errors.New("must be a role name: lower-case letters, digits and underscores, not beginning with a digit or pg_")
	}
	return nil
}

// shortest and longest are the limits of a password, in bytes.
const shortest, longest = 15, 200

// CheckPassword refuses a password that is short, or that clients and server may encode differently.
func CheckPassword(password string) error {
	if len(password) < shortest || len(password) > longest {
		return fmt.Errorf("the password must have %d to %d characters", shortest, longest)
	}
	for _, r := range password {
		if r < ' ' || r > '~' {
			return errors.New("the password must have only ASCII characters, without control characters")
		}
	}
	return nil
}

// Draft is a new analyst.
type Draft struct {
	Name     string
	Practice uuid.UUID
	Zone     string // the practice's, for the times in a session
	Password string
	Timeout  time.Duration // of a statement, unless the analyst sets another
}

// Create creates the role of an analyst in tx, with what it needs to read the views, and binds it to
// the practice. The role that tx runs as must own the tables and be allowed to create roles. Roles
// belong to the server: ErrExists if another database has one of the name.
//
// An analyst can lift the time limits and the read-only default of a session, which only prevent
// accidents. What it may do at all, its privileges decide.
func Create(ctx context.Context, tx *sql.Tx, d Draft, now time.Time) error {
	var database, owner string
	var exists, superuser bool
	if err := tx.QueryRowContext(ctx, `SELECT current_database(), (SELECT tableowner FROM pg_tables WHERE schemaname = 'public' AND tablename = $2),
		EXISTS (SELECT FROM pg_roles WHERE rolname = $1), (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)`, d.Name, analyst.Table).Scan(&database, &owner, &exists, &superuser); err != nil {
		return err
	}
	if exists {
		return ErrExists
	}
	verifier, err := scramVerifier(d.Password)
	if err != nil {
		return err
	}
	role, on := table.Quote(d.Name), table.Quote(database)
	statements := []string{
		fmt.Sprintf("CREATE ROLE %s LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT NOREPLICATION NOBYPASSRLS CONNECTION LIMIT %d PASSWORD %s", role, connections, literal(verifier)),
		"GRANT CONNECT ON DATABASE " + on + " TO " + role,
		"GRANT USAGE ON SCHEMA " + table.Quote(Schema) + " TO " + role,
		// PostgreSQL lets every role make temporary tables. The owner makes some to prune the audit log.
		"GRANT TEMPORARY ON DATABASE " + on + " TO " + table.Quote(owner),
		"REVOKE TEMPORARY ON DATABASE " + on + " FROM PUBLIC",
	}
	for _, s := range []struct{ name, value string }{
		{"search_path", table.Quote(Schema)},
		{"default_transaction_read_only", "on"},
		{"statement_timeout", literal(fmt.Sprintf("%dms", d.Timeout.Milliseconds()))},
		{"lock_timeout", "'2s'"},
		{"idle_in_transaction_session_timeout", "'60s'"},
		{"timezone", literal(d.Zone)},
		{"jit", "off"},
	} {
		statements = append(statements, fmt.Sprintf("ALTER ROLE %s SET %s = %s", role, s.name, s.value))
	}
	if superuser { // only a superuser may set it, and only a superuser may lift it
		statements = append(statements, fmt.Sprintf("ALTER ROLE %s SET temp_file_limit = '2GB'", role), noLargeObjects)
	}
	if _, err := tx.ExecContext(ctx, strings.Join(statements, ";\n")); err != nil {
		return explain(err)
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO analysts (practice_id, role, created_at) VALUES ($1, $2, $3)", d.Practice, d.Name, now)
	return explain(err)
}

// noLargeObjects keeps analysts from creating large objects. PostgreSQL lets every role create them, even in a
// read-only transaction. Chairside uses none. Only a superuser can revoke the privilege.
const noLargeObjects = "REVOKE EXECUTE ON FUNCTION lo_creat(integer), lo_create(oid), lo_from_bytea(oid, bytea) FROM PUBLIC"

// Drop removes an analyst in tx and returns its practice. Open sessions end, or see no rows any more
// if the role of tx may not end them.
func Drop(ctx context.Context, tx *sql.Tx, name string) (practice uuid.UUID, err error) {
	err = tx.QueryRowContext(ctx, "DELETE FROM analysts WHERE role = $1 RETURNING practice_id", name).Scan(&practice)
	if errors.Is(err, sql.ErrNoRows) {
		return practice, ErrUnknown
	}
	if err != nil {
		return practice, explain(err)
	}
	var exists, mayEnd bool
	if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1),
		coalesce((SELECT rolsuper OR pg_has_role(current_user, 'pg_signal_backend', 'MEMBER') FROM pg_roles WHERE rolname = current_user), false)`, name).Scan(&exists, &mayEnd); err != nil {
		return practice, err
	}
	if !exists { // someone dropped the role by hand
		return practice, nil
	}
	role := table.Quote(name)
	// A role that owns anything, such as default privileges, cannot be dropped. DROP OWNED needs membership in it.
	if _, err := tx.ExecContext(ctx, "GRANT "+role+" TO CURRENT_USER; DROP OWNED BY "+role); err != nil {
		return practice, explain(err)
	}
	if mayEnd {
		if _, err := tx.ExecContext(ctx, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1", name); err != nil {
			return practice, explain(err)
		}
	}
	_, err = tx.ExecContext(ctx, "DROP ROLE "+role)
	return practice, explain(err)
}

// explain says what to do about a missing privilege.
func explain(err error) error {
	var failed *pq.Error
	if !errors.As(err, &failed) {
		return err
	}
	switch failed.Code.Name() {
	case "insufficient_privilege":
		return fmt.Errorf("%w: use the database URL of a superuser, or of the tables' owner with CREATEROLE", err)
	case "duplicate_object", "unique_violation":
		return ErrExists
	case "dependent_objects_still_exist":
		return fmt.Errorf("%w: the role owns something in another database of the server (%s): run DROP OWNED BY there first", err, failed.Detail)
	}
	return err
}

// scramVerifier returns what PostgreSQL stores of a password (SCRAM-SHA-256, RFC 5803), so that the
// password itself is in no statement, which the server might log.
func scramVerifier(password string) (string, error) {
	const iterations = 4096 // PostgreSQL's own
	salt := make([]byte, 16)
	rand.Read(salt)
	salted, err := pbkdf2.Key(sha256.New, password, salt, iterations, sha256.Size)
	if err != nil {
		return "", err
	}
	sign := func(text string) []byte {
		mac := hmac.New(sha256.New, salted)
		mac.Write([]byte(text))
		return mac.Sum(nil)
	}
	stored := sha256.Sum256(sign("Client Key"))
	encode := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("SCRAM-SHA-256$%d:%s$%s:%s", iterations, encode(salt), encode(stored[:]), encode(sign("Server Key"))), nil
}
