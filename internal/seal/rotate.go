package seal

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"

	"chairside/internal/durable"
)

// Create writes a file with one new key, readable by its owner only. It fails with os.ErrExist if
// there is a file.
func Create(file string) error {
	set, err := keyset.NewHandle(aead.AES256GCMKeyTemplate())
	if err != nil {
		return fmt.Errorf("create the keys: %w", err)
	}
	written, err := write(file, set)
	if err != nil {
		return err
	}
	// A link, unlike a rename, does not replace a file, and shows it only when it is whole.
	err = os.Link(written, file)
	if errors.Is(err, os.ErrExist) {
		err = &os.PathError{Op: "create", Path: file, Err: os.ErrExist}
	}
	return errors.Join(err, os.Remove(written), keep(file))
}

// keep makes the name of a file last, before values are sealed that need its keys.
func keep(file string) error {
	if err := durable.SyncDir(filepath.Dir(file)); err != nil {
		return fmt.Errorf("write the keys: %w", err)
	}
	return nil
}

// write writes keys to a new file beside the given one and returns its name.
func write(file string, set *keyset.Handle) (name string, err error) {
	var content bytes.Buffer
	if err := insecurecleartextkeyset.Write(set, keyset.NewJSONWriter(&content)); err != nil {
		return "", fmt.Errorf("write the keys: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*") // mode 0600
	if err != nil {
		if cause, ok := errors.AsType[*os.PathError](err); ok {
			err = cause.Err // without a random name
		}
		return "", fmt.Errorf("write %s: cannot create a file in its directory: %w", file, err)
	}
	_, err = f.Write(append(content.Bytes(), '\n'))
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(fmt.Errorf("write the keys: %w", err), os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// Add adds a key to the file, which seals from now on, and returns its id.
func (k *Keys) Add() (KeyID, error) {
	var added KeyID
	return added, k.change(func(m *keyset.Manager) error {
		id, err := m.Add(aead.AES256GCMKeyTemplate())
		if err != nil {
			return err
		}
		added = KeyID(id)
		return m.SetPrimary(id)
	})
}

// Remove removes a key from the file. Values that it sealed are lost. It fails for the key that
// seals.
func (k *Keys) Remove(id KeyID) error {
	return k.change(func(m *keyset.Manager) error { return m.Delete(uint32(id)) })
}

// change changes the file, which another process must not change at the same time.
func (k *Keys) change(edit func(*keyset.Manager) error) error {
	if k == nil {
		return ErrNoKeys
	}
	if k.file == "" {
		return errors.New("keys from the environment cannot be changed: use --keys-file")
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.reload(); err != nil {
		return err
	}
	m := keyset.NewManagerFromHandle(k.ring.Load().set)
	if err := edit(m); err != nil {
		return fmt.Errorf("change the keys: %w", err)
	}
	set, err := m.Handle()
	if err != nil {
		return fmt.Errorf("change the keys: %w", err)
	}
	written, err := write(k.file, set)
	if err != nil {
		return err
	}
	if err := os.Rename(written, k.file); err != nil {
		return errors.Join(fmt.Errorf("write the keys: %w", err), os.Remove(written))
	}
	return errors.Join(k.reload(), keep(k.file))
}

// IDs returns the ids of all keys, the one that seals first. There are none before the file is
// created.
func (k *Keys) IDs() []KeyID {
	if k == nil {
		return nil
	}
	if r := k.ring.Load(); r != nil {
		return slices.Clone(r.ids)
	}
	return nil
}
