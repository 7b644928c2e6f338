package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"filippo.io/age"

	"chairside/internal/audit/trail"
	"chairside/internal/config"
	"chairside/internal/store"
	"chairside/internal/store/backup"
	"chairside/internal/store/migrate"
)

type restoreCommand struct{ config.RestoreFlags }

// Help is the text of --help.
func (restoreCommand) Help() string {
	return `Puts a copy in the place of an embedded database. First it checks the copy as "chairside restore-check" does: its checksum, the file, migrations, foreign keys, totals, the audit log, and that the keys open every sealed value. It changes nothing if any check fails, or while any program has the database open. A database that cannot be read is replaced only with --force, because then nothing shows whether a server still uses it. The copy may be encrypted (--identity), and stays as it is.

The previous database stays beside the restored one, as NAME.replaced-TIME. A copy from before a migration is migrated. The change feed starts anew, so that clients with an old cursor read everything again. The audit log of the restored database records the restore. If the audit log has checkpoints, start the server with a new, empty directory for them.

The keys are those of the database: PATH.keys beside it, --keys-file or CHAIRSIDE_KEYS. On a new machine put the key file there first.`
}

// Run checks the copy and replaces the database.
func (r *restoreCommand) Run(c *console) (err error) {
	identities, err := readIdentities(r.Identity)
	if err != nil {
		return err
	}
	path, err := filepath.Abs(r.Database.File())
	if err != nil {
		return err
	}
	if err := notInUse(c, path, r.Force); err != nil {
		return err
	}
	err = backup.Stage(path, func(dir string) error {
		return r.replace(c, filepath.Join(dir, filepath.Base(path)), path, identities)
	})
	if errors.Is(err, backup.ErrBusy) {
		return unchanged(err)
	}
	return err
}

// replace fetches the copy to staged, checks it, and puts it in the place of the database at path.
func (r *restoreCommand) replace(c *console, staged, path string, identities []age.Identity) error {
	checked, err := backup.Fetch(c, r.File, staged, identities)
	if err != nil {
		return unchanged(err)
	}
	if !checked {
		fmt.Fprintf(c.err, "there is no checksum beside the copy (%s.sha256): only its content is checked\n", r.File)
	}
	if err := c.checkStaged(staged, path, r.Database); err != nil {
		return unchanged(err)
	}
	if err := c.noteRestore(staged, r.File); err != nil {
		return unchanged(err)
	}
	kept, err := backup.Replace(c, staged, path, r.Force)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.err, "restored %s to %s\n", r.File, path)
	if kept != "" {
		fmt.Fprintf(c.err, "the previous database is now %s\n", kept)
	}
	return nil
}

// noteRestore writes the restore to the copy's audit log, from which everything after the copy is missing.
func (c *console) noteRestore(staged, file string) (err error) {
	db, err := store.OpenExisting(c, "sqlite:"+staged)
	if err != nil {
		return err
	}
	return errors.Join(c.audited(c, db, trail.Entry{Action: "import", Record: "restore of " + filepath.Base(file)}), db.Close())
}

// unchanged adds to an error that the database was left as it is.
func unchanged(err error) error { return fmt.Errorf("nothing was changed: %w", err) }

// notInUse fails early if the database is open: the checks may take minutes.
func notInUse(ctx context.Context, path string, force bool) error {
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	switch err := store.InUse(ctx, path); {
	case errors.Is(err, store.ErrDamaged) && force:
		return nil
	case errors.Is(err, store.ErrDamaged):
		return unchanged(fmt.Errorf("%w, so whether a server still uses it is unknown: stop every server, then restore with --force", err))
	case err != nil:
		return unchanged(err)
	}
	return nil
}

// readIdentities returns the secret keys in files.
func readIdentities(files []string) (all []age.Identity, err error) {
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("read the secret key: %w", err)
		}
		found, err := age.ParseIdentities(file)
		if err = errors.Join(err, file.Close()); err != nil {
			return nil, config.Mistakes{"--identity: " + name + " holds no secret key of age"} // the error may quote the key
		}
		all = append(all, found...)
	}
	return all, nil
}

// checkStaged checks a copy with the keys of the database at path. It migrates one of an earlier
// program.
func (c *console) checkStaged(staged, path string, d config.Database) (err error) {
	if err := c.migrateStaged(staged); err != nil {
		return err
	}
	db, err := store.OpenReadOnly(c, "sqlite:"+staged)
	if err != nil {
		return fmt.Errorf("the copy is no database: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := loadKeysBeside(db, d, path); err != nil {
		return err
	}
	var problems []string
	for _, f := range c.checkCopy(db, nil) {
		if f.result == failed {
			problems = append(problems, strings.TrimSuffix(f.check+": "+f.found+": "+f.mend, ": "))
		}
	}
	if len(problems) > 0 {
		return errors.New("the copy is not whole:\n" + strings.Join(problems, "\n"))
	}
	return nil
}

// migrateStaged applies pending migrations to a copy.
func (c *console) migrateStaged(staged string) (err error) {
	db, err := store.OpenReadOnly(c, "sqlite:"+staged)
	if err != nil {
		return fmt.Errorf("the copy is no database: %w", err)
	}
	damage, err := db.Damage(c)
	pending := err == nil && len(damage) == 0 && errors.Is(migrate.Check(c, db), migrate.ErrPending)
	if pending {
		all, err := migrate.Status(c, db)
		pending = err == nil && len(all) > 0 && !all[0].AppliedAt.IsZero() // an empty file is no copy
	}
	if err := errors.Join(err, db.Close()); err != nil {
		return fmt.Errorf("the copy is damaged: %w", err)
	}
	if !pending {
		return nil // checkCopy says what is wrong
	}
	if db, err = store.OpenExisting(c, "sqlite:"+staged); err != nil {
		return err
	}
	return errors.Join(c.prepare(db, true), db.Close())
}
