package feed

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"

	"chairside/internal/apierror"
)

// A cursor is the base64 of
//
//	version 1 · identity 8 · seq 8 · checksum 4     bytes
//
// The identity is a hash of what distinguishes databases (stateColumns, fileNumber): a database
// that was restored, moved or promoted after a failure may have other changes under the same
// numbers.
const (
	cursorVersion = 1
	cursorBytes   = 1 + 8 + 8 + 4
)

type cursor struct {
	identity [8]byte
	seq      int64
}

// identityOf returns the identity in cursors of a database with this description.
func identityOf(description string) (identity [8]byte) {
	sum := sha256.Sum256([]byte(description))
	copy(identity[:], sum[:])
	return identity
}

// String returns the cursor as clients see it.
func (c cursor) String() string {
	b := append([]byte{cursorVersion}, c.identity[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(c.seq))
	sum := sha256.Sum256(b)
	return base64.RawURLEncoding.EncodeToString(append(b, sum[:4]...))
}

// parseCursor parses a cursor, or returns apierror.InvalidParameter.
func parseCursor(text string) (c cursor, err error) {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil && len(b) == cursorBytes && b[0] == cursorVersion {
		sum := sha256.Sum256(b[:cursorBytes-4])
		if [4]byte(sum[:4]) == [4]byte(b[cursorBytes-4:]) {
			return cursor{[8]byte(b[1:9]), int64(binary.BigEndian.Uint64(b[9:17]))}, nil
		}
	}
	return c, apierror.InvalidParameter(apierror.Params{"cursor": {"must be a cursor of /changes or /snapshot"}})
}
