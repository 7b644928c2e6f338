package plans

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Node is a step of an executed plan.
type Node struct {
	Type     string  `json:"Node Type"`
	Relation string  `json:"Relation Name"`
	Index    string  `json:"Index Name"`
	Rows     float64 `json:"Actual Rows"` // of one loop
	Loops    float64 `json:"Actual Loops"`
	Filtered float64 `json:"Rows Removed by Filter"` // of one loop
	Children []Node  `json:"Plans"`
}

// Executed is an executed statement with its plan.
type Executed struct {
	First, Later Node // plans of the first and the last execution
	TooLong      bool // stopped by the timeout; there is no plan
}

// statementTimeout is that of Chairside.
const statementTimeout = "30s"

// executionsBefore is the number of executions after which PostgreSQL may switch to a
// generic plan.
const executionsBefore = 5

// Explains reports whether the statement only reads and can be explained.
func (s Statement) Explains() bool {
	text := strings.ToUpper(strings.TrimSpace(s.Text))
	writes := strings.Contains(text, "DELETE FROM ") || strings.Contains(text, "INSERT INTO ") ||
		strings.Contains(strings.ReplaceAll(text, "FOR UPDATE", ""), "UPDATE ")
	return (strings.HasPrefix(text, "SELECT") || strings.HasPrefix(text, "WITH")) && !writes
}

// Explain executes a statement until PostgreSQL settles on a plan, and returns the first
// and the last plan. It changes nothing.
func Explain(ctx context.Context, db *pgx.Conn, s Statement) (e Executed, err error) {
	run := func(text string) (string, error) {
		results, err := db.PgConn().Exec(ctx, text).ReadAll()
		if err != nil || len(results) == 0 || len(results[len(results)-1].Rows) == 0 {
			return "", err
		}
		return string(results[len(results)-1].Rows[0][0]), nil
	}
	if _, err := run("BEGIN READ ONLY; SET LOCAL statement_timeout = '" + statementTimeout + "'; PREPARE explained AS " + s.Text); err != nil {
		_, rollback := run("ROLLBACK")
		return e, errors.Join(fmt.Errorf("plans: %w", err), rollback)
	}
	defer func() {
		_, end := run("ROLLBACK; DEALLOCATE explained")
		err = errors.Join(err, end)
	}()
	execute := "EXECUTE explained" + s.literals()
	for i := range executionsBefore + 1 {
		how := "EXPLAIN (FORMAT JSON) "
		if i == 0 || i == executionsBefore {
			how = "EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) "
		}
		text, err := run(how + execute)
		if tooLong(err) {
			return Executed{TooLong: true}, nil
		}
		if err != nil {
			return e, fmt.Errorf("plans: %w", err)
		}
		var plans []struct{ Plan Node }
		if err := json.Unmarshal([]byte(text), &plans); err != nil || len(plans) != 1 {
			return e, fmt.Errorf("plans: EXPLAIN has an unknown format: %w", err)
		}
		if i == 0 {
			e.First = plans[0].Plan
		}
		e.Later = plans[0].Plan
	}
	return e, nil
}

func tooLong(err error) bool {
	const queryCanceled = "57014"
	var server *pgconn.PgError
	return errors.As(err, &server) && server.Code == queryCanceled
}

// literals returns the arguments for EXECUTE.
func (s Statement) literals() string {
	if len(s.Args) == 0 {
		return ""
	}
	texts := make([]string, len(s.Args))
	for i, a := range s.Args {
		texts[i] = "NULL"
		if a != nil {
			texts[i] = "'" + strings.ReplaceAll(*a, "'", "''") + "'"
		}
	}
	return "(" + strings.Join(texts, ", ") + ")"
}

// Shape identifies a plan, without its figures.
func (n Node) Shape() string {
	text := n.Type
	if n.Index != "" {
		text += " " + n.Index
	} else if n.Relation != "" {
		text += " " + n.Relation
	}
	var children []string
	for _, c := range n.Children {
		children = append(children, c.Shape())
	}
	if len(children) > 0 {
		text += " (" + strings.Join(children, ", ") + ")"
	}
	return text
}

// Key identifies a statement with its arguments.
func (s Statement) Key() string { return s.Text + s.literals() }
