package seal

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"
)

var (
	// ErrNoKeys means that the program was given no keys.
	ErrNoKeys = errors.New(`there are no keys for sealed values: create them with "chairside keys create FILE", then name the file with --keys-file`)
	// ErrLostKey means that a value was sealed with a key that the keys lack.
	ErrLostKey = errors.New("the keys do not include the one that sealed a value: use the key file that belongs to this database")
	// ErrMoved means that a value was changed, or stands in another place than it was sealed for.
	ErrMoved = errors.New("a sealed value was changed, or was moved from another row")
	// ErrNotSealed means that a sealed column holds something else.
	ErrNotSealed = errors.New("a sealed column cannot hold a value that is not sealed")
)

// missingFileError is the error for a key file that does not exist.
type missingFileError string

func (f missingFileError) Error() string {
	return fmt.Sprintf("the keys file %s is missing: restore it, or name it with --keys-file", string(f))
}

func (missingFileError) Unwrap() error { return os.ErrNotExist }

// Keys seal and open values. The nil Keys have no key. They are safe for concurrent use.
type Keys struct {
	file   string // "" if they come from a text
	create bool   // whether the first value that is sealed creates the file

	ring atomic.Pointer[ring] // nil before the file exists

	mu   sync.Mutex  // held to read or change the file
	read os.FileInfo // of the file that was read last
}

// ring is a set of keys at one time.
type ring struct {
	set    *keyset.Handle
	cipher tink.AEAD
	ids    []KeyID // the one that seals first
}

// KeyID identifies a key. It is no secret.
type KeyID uint32

// String returns the id as stored with each value: eight hexadecimal digits.
func (id KeyID) String() string { return fmt.Sprintf("%08x", uint32(id)) }

// ParseKeyID returns the id of a text that String returns.
func ParseKeyID(text string) (KeyID, error) {
	id, err := strconv.ParseUint(text, 16, 32)
	if err != nil || len(text) != idDigits {
		return 0, errors.New("the id of a key has eight hexadecimal digits")
	}
	return KeyID(id), nil
}

// File returns the keys of a file. If there is no file and create is true, the first value that
// is sealed creates it. The file is read again when a value needs a key that was added since.
func File(path string, create bool) (*Keys, error) {
	k := &Keys{file: path, create: create}
	err := k.reload()
	if create && errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return k, err
}

// Text returns the keys of a text: the content of a key file.
func Text(text string) (*Keys, error) {
	r, err := parse([]byte(text))
	k := &Keys{}
	k.ring.Store(r)
	return k, err
}

func parse(content []byte) (*ring, error) {
	set, err := insecurecleartextkeyset.Read(keyset.NewJSONReader(bytes.NewReader(content)))
	if err != nil { // Tink's error might quote the content
		return nil, errors.New(`the keys are not in the form that "chairside keys create" writes`)
	}
	return newRing(set)
}

func newRing(set *keyset.Handle) (*ring, error) {
	cipher, err := aead.New(set)
	if err != nil {
		return nil, fmt.Errorf("use the keys: %w", err)
	}
	primary, err := set.Primary()
	if err != nil {
		return nil, fmt.Errorf("use the keys: %w", err)
	}
	r := &ring{set, cipher, []KeyID{KeyID(primary.KeyID())}}
	for _, info := range set.KeysetInfo().GetKeyInfo() {
		if id := KeyID(info.GetKeyId()); id != r.ids[0] {
			r.ids = append(r.ids, id)
		}
	}
	return r, nil
}

// has reports whether there is a key with the id.
func (r *ring) has(id KeyID) bool { return r != nil && slices.Contains(r.ids, id) }

// reload reads the file. It fails with os.ErrNotExist if there is none.
func (k *Keys) reload() error {
	info, err := os.Stat(k.file)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return missingFileError(k.file)
	case err != nil:
		return fmt.Errorf("read the keys: %w", err)
	}
	content, err := os.ReadFile(k.file)
	if err != nil {
		return fmt.Errorf("read the keys: %w", err)
	}
	r, err := parse(content)
	if err != nil {
		return fmt.Errorf("%s: %w", k.file, err)
	}
	k.ring.Store(r)
	k.read = info
	return nil
}

// reloadIfChanged reads the file if it was written since the last time. A file that is gone leaves
// the keys as they are.
func (k *Keys) reloadIfChanged() error {
	info, err := os.Stat(k.file)
	// Each change is a new file. Within a few milliseconds, two may have the same time.
	if err != nil || k.read != nil && os.SameFile(info, k.read) && info.ModTime().Equal(k.read.ModTime()) {
		return nil
	}
	return k.reload()
}

// Seal seals a text for a place. It fails with ErrNoKeys, or if it cannot create the file.
func (k *Keys) Seal(at Place, plain string) (Value, error) {
	r, err := k.sealing()
	if err != nil {
		return Value{}, err
	}
	sealed, err := r.cipher.Encrypt([]byte(plain), at.bytes())
	if err != nil {
		return Value{}, fmt.Errorf("seal: %w", err)
	}
	return Value{text: prefix + r.ids[0].String() + ":" + base64.RawStdEncoding.EncodeToString(sealed), plain: &plain}, nil
}

// sealing returns the keys to seal with, and creates the file if that is asked for.
func (k *Keys) sealing() (*ring, error) {
	if k == nil {
		return nil, ErrNoKeys
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	// A key that is no longer the first may be removed soon.
	if err := k.reloadIfChanged(); err != nil {
		return nil, err
	}
	if r := k.ring.Load(); r != nil {
		return r, nil
	}
	// Another process may create the file at the same time: whichever is first wins.
	if err := Create(k.file); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, err
	}
	err := k.reload()
	return k.ring.Load(), err
}

// Open returns the text of a value. NULL is "". It fails with ErrNoKeys, ErrLostKey, ErrMoved and
// ErrNotSealed.
func (k *Keys) Open(at Place, v Value) (string, error) {
	if v.IsNull() {
		return "", nil
	}
	id, encoded, err := v.split()
	if err != nil {
		return "", err
	}
	r, err := k.opening(id)
	if err != nil {
		return "", err
	}
	sealed, err := base64.RawStdEncoding.DecodeString(encoded)
	if err != nil {
		return "", ErrMoved
	}
	plain, err := r.cipher.Decrypt(sealed, at.bytes())
	if err != nil {
		return "", ErrMoved
	}
	return string(plain), nil
}

// Unseal makes the plain text of a value known to it. It fails as Open does.
func (k *Keys) Unseal(at Place, v *Value) error {
	if _, known := v.Plain(); known {
		return nil
	}
	plain, err := k.Open(at, *v)
	if err == nil {
		v.plain = &plain
	}
	return err
}

// opening returns keys with the one of the given id. It reads the file again if a key may have
// been added.
func (k *Keys) opening(id KeyID) (*ring, error) {
	if k == nil {
		return nil, ErrNoKeys
	}
	if r := k.ring.Load(); r.has(id) {
		return r, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.reloadIfChanged(); err != nil {
		return nil, err
	}
	r := k.ring.Load()
	if !r.has(id) {
		return nil, fmt.Errorf("key %s: %w", id, ErrLostKey)
	}
	return r, nil
}
