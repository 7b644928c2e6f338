// Package testkeys has the keys of sealed columns for tests, the same in every process.
package testkeys

import (
	"fmt"

	"github.com/google/uuid"

	"chairside/internal/seal"
)

// Text is the content of a key file.
const Text = `{"primaryKeyId":1621024707, "key":[{"keyData":{"typeUrl":"type.googleapis.com/google.crypto.tink.AesGcmKey",
"value":"GiAIdhWwxVh2LBdaP8UVkgyda/9vw1GGfU9qOMM2ls+7cA==", "keyMaterialType":"SYMMETRIC"}, "status":"ENABLED", "keyId":1621024707, "outputPrefixType":"TINK"}]}`

// Keys returns the keys.
func Keys() *seal.Keys {
	keys, err := seal.Text(Text)
	if err != nil {
		panic(err) // Text is a constant
	}
	return keys
}

// Seal returns a text as SQL stores it in a sealed column of a practice's row.
func Seal(practice, table, column string, row any, text string) string {
	v, err := Keys().Seal(seal.Place{Practice: uuid.MustParse(practice), Table: table, Column: column, Row: fmt.Sprint(row)}, text)
	if err != nil {
		panic(err) // the keys are constant
	}
	return v.String()
}
