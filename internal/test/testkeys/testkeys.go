// Package testkeys has the keys of sealed columns for tests, the same in every process.
package testkeys

import "chairside/internal/seal"

// Text is the content of a file of keys.
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
