package audit

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"sync"

	"github.com/google/uuid"

	"chairside/internal/durable"
)

// Key is the audit key of an installation. It makes the hashes of sensitive values in the audit
// log and signs checkpoints. It is never in the database: someone who has only the database can
// neither test guesses of a value nor sign.
type Key struct {
	signing ed25519.PrivateKey
	hashes  sync.Pool // of *hasher
}

// hasher holds what one hash needs.
type hasher struct {
	mac hash.Hash
	sum [sha256.Size]byte
}

const (
	keySize = 32
	keyType = "CHAIRSIDE AUDIT KEY"
)

// ErrKey means that a file does not hold an audit key.
var ErrKey = errors.New("the file holds no audit key: create one with \"chairside audit key FILE\"")

// CreateKey writes a new, random key to a file that only its owner can read. It does not replace
// a file.
func CreateKey(file string) (*Key, error) {
	secret := make([]byte, keySize)
	if _, err := rand.Read(secret); err != nil {
		return nil, err
	}
	err := durable.Create(file, func(w io.Writer) error {
		return pem.Encode(w, &pem.Block{Type: keyType, Bytes: secret})
	})
	if err != nil {
		return nil, fmt.Errorf("create the audit key: %w", err)
	}
	return newKey(secret)
}

// LoadKey reads a key that CreateKey wrote.
func LoadKey(file string) (*Key, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the audit key: %w", err)
	}
	block, _ := pem.Decode(text)
	if block == nil || block.Type != keyType || len(block.Bytes) != keySize {
		return nil, ErrKey
	}
	return newKey(block.Bytes)
}

// newKey derives the two keys, so that neither tells anything about the other.
func newKey(secret []byte) (*Key, error) {
	seed, err := hkdf.Key(sha256.New, secret, nil, "chairside audit signatures", ed25519.SeedSize)
	if err != nil {
		return nil, err
	}
	macKey, err := hkdf.Key(sha256.New, secret, nil, "chairside audit hashes", sha256.Size)
	if err != nil {
		return nil, err
	}
	k := &Key{signing: ed25519.NewKeyFromSeed(seed)}
	k.hashes.New = func() any { return &hasher{mac: hmac.New(sha256.New, macKey)} }
	return k, nil
}

// AppendHash appends the hash of a column's value, as JSON shows it: 32 hexadecimal digits. Equal
// values of one column have equal hashes within a practice.
func (k *Key) AppendHash(b []byte, practice uuid.UUID, entity, column string, value []byte) []byte {
	h := k.hashes.Get().(*hasher)
	defer k.hashes.Put(h)
	h.mac.Reset()
	h.mac.Write(practice[:])
	prefix := append(append(append(append(make([]byte, 0, 64), entity...), 0), column...), 0)
	h.mac.Write(prefix)
	h.mac.Write(value)
	return hex.AppendEncode(b, h.mac.Sum(h.sum[:0])[:16])
}

// Sign returns the Ed25519 signature of a message.
func (k *Key) Sign(message []byte) []byte { return ed25519.Sign(k.signing, message) }

// Public returns the key that checks signatures.
func (k *Key) Public() PublicKey { return PublicKey(k.signing.Public().(ed25519.PublicKey)) }

// PublicKey checks the signatures of a Key.
type PublicKey ed25519.PublicKey

// ParsePublicKey reads the text that "chairside audit key" prints.
func ParsePublicKey(text string) (PublicKey, error) {
	key, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(key) != ed25519.PublicKeySize {
		return nil, errors.New("the public key must be the text that \"chairside audit key\" prints")
	}
	return key, nil
}

// String returns the key in base64.
func (k PublicKey) String() string { return base64.StdEncoding.EncodeToString(k) }

// Verify reports whether the signature of a message was made by the key.
func (k PublicKey) Verify(message, signature []byte) bool {
	return len(k) == ed25519.PublicKeySize && ed25519.Verify(ed25519.PublicKey(k), message, signature)
}
