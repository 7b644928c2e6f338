package seal

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
)

// hashBytes is how much of the HMAC a hash keeps: enough that no two values of a practice share it.
const hashBytes = 10

// NewHashKey returns a random key for Hash.
func NewHashKey() string { return rand.Text() } // 128 bits

// Hash returns a keyed hash by which equal texts can be found without being shown: 20 letters from
// a to p. It is a part of the HMAC-SHA256.
func Hash(key, text string) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(text))
	hash := make([]byte, 0, 2*hashBytes)
	for _, b := range mac.Sum(nil)[:hashBytes] {
		hash = append(hash, 'a'+b>>4, 'a'+b&15)
	}
	return string(hash)
}
