package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// multiThread is a driver.Connector whose SQLite connections do not lock
// themselves: https://sqlite.org/threadsafe.html calls that multi-thread mode. In
// the other one each call locks a mutex, and a text that is read takes three.
//
// The driver asks for the other one, and has no option. What the mode demands,
// that no two goroutines use one connection at a time, database/sql sees to. The
// mutex would not help where it did not: what the driver keeps for a connection is
// used before the mutex is reached, as its documentation says. What the driver
// calls from another goroutine, sqlite3_interrupt, takes no lock.
type multiThread struct{ driver.Connector }

func (m multiThread) Connect(ctx context.Context) (driver.Conn, error) {
	connection, err := m.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	db, err := handle(connection)
	if err != nil {
		return nil, errors.Join(err, connection.Close())
	}
	mutex := db.Fmutex
	db.Fmutex = 0 // where sqlite3_open_v2 with SQLITE_OPEN_NOMUTEX leaves it
	thread := libc.NewTLS()
	defer thread.Close()
	sqlite3.Xsqlite3_mutex_free(thread, mutex) // closing the connection would have
	return connection, nil
}

// handle is SQLite's own record of the driver's connection. The driver keeps its
// address to itself, in a field that is looked up by name; a version of the driver
// without it is refused, so that whoever updates the driver learns of it at once.
func handle(connection driver.Conn) (*sqlite3.Tsqlite3, error) {
	value := reflect.Indirect(reflect.ValueOf(connection))
	if value.Kind() == reflect.Struct {
		if field := value.FieldByName("db"); field.Kind() == reflect.Uintptr && !field.IsZero() {
			address := uintptr(field.Uint())
			if db := *(**sqlite3.Tsqlite3)(unsafe.Pointer(&address)); db.FeOpenState == sqlite3.SQLITE_STATE_OPEN {
				return db, nil
			}
		}
	}
	return nil, fmt.Errorf("store: no SQLite connection found in %T", connection)
}
