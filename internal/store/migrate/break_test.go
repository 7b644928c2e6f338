package migrate

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/lib/pq"
)

// errBroken is the error of a statement whose connection was lost after it.
var errBroken = errors.New("the connection was lost")

// breaker loses the connection of a migration once at each of its statements:
// before it, while it runs (the server ends the process), and after it.
type breaker struct {
	driver.Connector
	admin *sql.DB

	mutex  sync.Mutex
	broken map[string]bool // statement and moment
}

// Break has the connections of the migrations break. It returns how often they did.
func (m *migrator) Break(t *testing.T, url string) (breaks func() int) {
	t.Helper()
	config, err := pq.NewConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	config = config.Clone() // its Runtime is never nil
	maps.Copy(config.Runtime, map[string]string{"statement_timeout": "0", "idle_in_transaction_session_timeout": "0", "timezone": "UTC"})
	config.ApplicationName = "breaking"
	connector, err := pq.NewConnectorConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	b := &breaker{Connector: connector, admin: m.db.SQL, broken: map[string]bool{}}
	m.maintenance = func() *sql.DB { return sql.OpenDB(b) }
	return func() int { return len(b.broken) }
}

func (b *breaker) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := b.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &breaking{c, b}, nil
}

// next is the moment at which a statement breaks now, "" where it already has in all ways.
func (b *breaker) next(statement string, args []driver.NamedValue) string {
	moments := []string{"before", "during", "after"}
	if strings.HasPrefix(statement, "SET ") || len(args) > 0 {
		moments = moments[:1] // the program's own, of which there are many
	}
	for _, a := range args[:min(5, len(args))] { // of a record: version, description, type, applied, total
		statement += fmt.Sprint(" ", a.Value)
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	for _, m := range moments {
		if key := m + " " + statement; !b.broken[key] {
			b.broken[key] = true
			return m
		}
	}
	return ""
}

// around runs work and breaks the connection c at the moment that is due.
func (b *breaker) around(c driver.Conn, statement string, args []driver.NamedValue, work func() error) error {
	switch b.next(statement, args) {
	case "before":
		_ = c.Close()
		return errBroken
	case "during":
		var killing sync.WaitGroup
		killing.Go(func() {
			_, _ = b.admin.Exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'breaking' AND datname = current_database()")
		})
		defer killing.Wait()
		return work()
	case "after":
		err := work()
		_ = c.Close()
		return errors.Join(errBroken, err)
	default:
		return work()
	}
}

// breaking is one of the connections.
type breaking struct {
	driver.Conn
	breaker *breaker
}

func (c *breaking) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (result driver.Result, err error) {
	err = c.breaker.around(c.Conn, query, args, func() error {
		result, err = c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
		return err
	})
	return result, err
}

func (c *breaking) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args)
}

func (c *breaking) CheckNamedValue(v *driver.NamedValue) error {
	return c.Conn.(driver.NamedValueChecker).CheckNamedValue(v)
}

func (c *breaking) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	tx, err := c.Conn.(driver.ConnBeginTx).BeginTx(ctx, o)
	return breakingTx{tx, c}, err
}

type breakingTx struct {
	driver.Tx
	conn *breaking
}

func (tx breakingTx) Commit() error {
	b := tx.conn.breaker
	return b.around(tx.conn.Conn, fmt.Sprint("COMMIT after ", len(b.broken)/40), nil, tx.Tx.Commit)
}
