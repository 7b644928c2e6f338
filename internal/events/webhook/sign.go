package webhook

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

const (
	secretPrefix = "whsec_"
	secretBytes  = 32
	// rotationOverlap is how long the secret before a rotation also signs.
	rotationOverlap = 24 * time.Hour
)

// NewSecret returns a random signing secret.
func NewSecret() string {
	b := make([]byte, secretBytes)
	_, _ = rand.Read(b) // never fails
	return secretPrefix + base64.StdEncoding.EncodeToString(b)
}

// The headers of a delivery.
const (
	idHeader        = "webhook-id"
	timeHeader      = "webhook-timestamp"
	signatureHeader = "webhook-signature"
	// bodyHeader has the HMAC of the body alone, for receivers without a library.
	bodyHeader = "X-Chairside-Signature"
)

// Sign returns the headers that identify and sign a body. The first of the secrets is the
// current one.
func Sign(id string, at time.Time, body []byte, secrets ...string) map[string]string {
	timestamp := strconv.FormatInt(at.Unix(), 10)
	signed := append([]byte(id+"."+timestamp+"."), body...)
	var signatures []string
	for _, s := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(s, secretPrefix))
		if err != nil {
			continue // only secrets of NewSecret are stored
		}
		signatures = append(signatures, "v1,"+base64.StdEncoding.EncodeToString(mac(key, signed)))
	}
	return map[string]string{
		idHeader:        id,
		timeHeader:      timestamp,
		signatureHeader: strings.Join(signatures, " "),
		bodyHeader:      hex.EncodeToString(mac([]byte(secrets[0]), body)),
	}
}

func mac(key, message []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(message)
	return h.Sum(nil)
}
