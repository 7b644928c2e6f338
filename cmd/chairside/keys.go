package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"chairside/internal/audit"
	"chairside/internal/audit/trail"
	"chairside/internal/clock"
	"chairside/internal/config"
	"chairside/internal/seal"
	"chairside/internal/store"
	"chairside/internal/store/sealing"
)

type keysCommands struct {
	Create keysCreate `cmd:"" help:"Create a file with a new key."`
	Status keysStatus `cmd:"" help:"List the keys and how many values each has sealed."`
	Rotate keysRotate `cmd:"" help:"Add a key and seal all values again with it."`
	Remove keysRemove `cmd:"" help:"Remove an old key from the file."`
}

// loadKeys gives the database the keys that the flags name: those of sealed columns and that of
// the audit log. An embedded database has its own key file, created when it is first needed.
func loadKeys(db *store.DB, d config.Database) error { return loadKeysBeside(db, d, db.File) }

// loadKeysBeside is loadKeys for a copy of the embedded database at path, whose keys it needs.
func loadKeysBeside(db *store.DB, d config.Database, path string) (err error) {
	if d.AuditKey != "" {
		if db.AuditKey, err = audit.LoadKey(d.AuditKey); err != nil {
			return err
		}
	}
	switch text := d.Keys(); {
	case d.KeysFile != "":
		db.Keys, err = seal.File(d.KeysFile, false)
	case text != "":
		db.Keys, err = seal.Text(text)
	case db.File != "":
		db.Keys, err = seal.File(keysBeside(path), true)
	}
	return err
}

// keysBeside is the key file of the embedded database at path.
func keysBeside(path string) string { return path + ".keys" }

// secretFiles lists the files with keys, which the flags name or the database has.
func secretFiles(db *store.DB, d config.Database, further ...string) (files []string) {
	for _, file := range append([]string{d.KeysFile, d.AuditKey}, further...) {
		if file != "" {
			files = append(files, file)
		}
	}
	if db != nil && db.File != "" {
		files = append(files, keysBeside(db.File))
	}
	return files
}

type keysCreate struct{ config.KeysCreateFlags }

// Help is the text of --help.
func (keysCreate) Help() string {
	return `The keys seal what the server must be able to read and a copy of the database must not show: NHS and National Insurance numbers, medical alerts, notes, authenticator secrets and signing secrets of webhooks. Without the file these are lost: keep a copy of it, apart from the database and its backups.

Servers and commands take the file with --keys-file, or its content in the environment variable CHAIRSIDE_KEYS.`
}

// Run creates the file.
func (k *keysCreate) Run(c *console) error {
	if err := seal.Create(k.File); err != nil {
		return err
	}
	keys, err := seal.File(k.File, false)
	if err != nil {
		return err
	}
	fmt.Fprintln(c.out, keys.IDs()[0])
	return nil
}

type keysStatus struct {
	config.Database
	listing
}

// Help is the text of --help.
func (keysStatus) Help() string {
	return "The first key seals new values; the others only open old ones. The exit status is 1 if a value needs a key that is missing."
}

// Run prints a line for each key and column.
func (k *keysStatus) Run(c *console) error {
	return c.withDatabase(k.Database, func(db *store.DB) error {
		uses, err := sealing.Uses(c, db)
		if err != nil {
			return err
		}
		all := db.Keys.IDs()
		for _, u := range uses {
			if !slices.Contains(all, u.Key) {
				all = append(all, u.Key)
			}
		}
		var cells [][]any
		for i, id := range all {
			state := "opens"
			switch {
			case !slices.Contains(db.Keys.IDs(), id):
				state = "missing"
			case i == 0:
				state = "seals"
			}
			none := true
			for _, u := range uses {
				if u.Key == id {
					none = false
					cells = append(cells, []any{id.String(), state, u.Table + "." + u.Column, u.Values})
				}
			}
			if none {
				cells = append(cells, []any{id.String(), state, nil, 0})
			}
		}
		if err := k.print(c, []string{"KEY", "STATE", "COLUMN", "VALUES"}, cells); err != nil {
			return err
		}
		return sealing.Check(c, db)
	})
}

type keysRotate struct{ config.KeysRotateFlags }

// Help is the text of --help.
func (keysRotate) Help() string {
	return `Adds a key to the file, which seals from then on, and seals all values again with it, while servers run: they read the file again when they meet the new key. If the command is interrupted, run it again: it continues with the key that it added.

Servers with a copy of the file each need the new key before a value is sealed with it: add it with --add-only, copy the file to all of them, then run the command again. The old keys stay in the file, because backups need them ("chairside keys remove").`
}

// Run adds a key, unless values still wait for one, and seals everything again.
func (k *keysRotate) Run(c *console) error {
	return c.withDatabase(k.Database, func(db *store.DB) error {
		if err := sealing.Check(c, db); err != nil {
			return err
		}
		uses, err := sealing.Uses(c, db)
		if err != nil {
			return err
		}
		// A key that seals nothing yet, or not everything, was added by a run before this one.
		unfinished := len(db.Keys.IDs()) > 1 && slices.ContainsFunc(uses, func(u sealing.Use) bool { return u.Key != db.Keys.IDs()[0] })
		if k.AddOnly || !unfinished {
			id, err := db.Keys.Add()
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return errors.New("there is no key file yet: create one with \"chairside keys create\"")
			case err != nil:
				return err
			}
			if err := c.audited(c, db, trail.Entry{Action: "rotate", Record: id.String()}); err != nil {
				return err
			}
			fmt.Fprintf(c.err, "added the key %s\n", id)
		}
		if k.AddOnly {
			return nil
		}
		n, err := sealing.Reseal(c, db)
		fmt.Fprintf(c.err, "sealed %s again with the key %s\n", count(n, "value"), db.Keys.IDs()[0])
		return err
	})
}

type keysRemove struct {
	config.KeysRemoveFlags
	confirmation
}

// Help is the text of --help.
func (keysRemove) Help() string {
	return "Refuses a key that values in the database need. Backups and exports that it sealed cannot be opened afterwards."
}

// Run removes a key that nothing in the database needs.
func (k *keysRemove) Run(c *console) error {
	id, err := seal.ParseKeyID(k.Key)
	if err != nil {
		return config.Mistakes{"<key>: " + err.Error() + "; see \"chairside keys status\""}
	}
	return c.withDatabase(k.Database, func(db *store.DB) error {
		switch ids := db.Keys.IDs(); {
		case !slices.Contains(ids, id):
			return fmt.Errorf("there is no key %s: see \"chairside keys status\"", id)
		case id == ids[0]:
			return errors.New("this key seals new values: add another one first, with \"chairside keys rotate\"")
		}
		uses, err := sealing.Uses(c, db)
		if err != nil {
			return err
		}
		for _, u := range uses {
			if u.Key == id {
				return fmt.Errorf("%d values of %s.%s need this key: run \"chairside keys rotate\" first", u.Values, u.Table, u.Column)
			}
		}
		if err := k.confirmDeletion(c, "This removes the key. Older backups and exports hold secrets that need it."); err != nil {
			return err
		}
		tx, err := db.SQL.BeginTx(c, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback() // after a commit it does nothing
		e := trail.Entry{At: clock.Now(c), Action: "delete", Resource: "SealingKey", Record: id.String()}
		if err := trail.WriteIn(c, db, tx, e); err != nil {
			return fmt.Errorf("write the audit log: %w", err)
		}
		return errors.Join(db.Keys.Remove(id), tx.Commit()) // the file may have changed although it fails
	})
}
