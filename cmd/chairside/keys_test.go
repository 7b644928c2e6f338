package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
)

// TestEncryptedBackupOpensWithItsKeyOnly decrypts a backup.
func TestEncryptedBackupOpensWithItsKeyOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var keys []*age.X25519Identity
	for range 3 { // the third is no recipient
		key, err := age.GenerateX25519Identity()
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key)
	}
	chairside := func(stdin string, args ...string) {
		t.Helper()
		command := exec.CommandContext(t.Context(), "chairside", args...)
		command.Dir, command.Stdin = dir, strings.NewReader(stdin)
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	chairside("correct horse battery", "practice", "create", "--name=Bright", "--time-zone=Europe/London", "--country=GB", "--email=ann@bright.test")
	chairside("", "backup", "--encrypt-to="+keys[0].Recipient().String(), "--encrypt-to="+keys[1].Recipient().String(), "copy.age")
	for i, key := range keys {
		f, err := os.Open(filepath.Join(dir, "copy.age"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		plain, err := age.Decrypt(f, key)
		if i == 2 {
			if err == nil {
				t.Error("another key opens the backup")
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(plain)
		if err != nil || !strings.HasPrefix(string(content), "SQLite format 3\x00") {
			t.Errorf("key %d: %d bytes, %v", i, len(content), err)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range left {
		if strings.HasPrefix(entry.Name(), ".backup") {
			t.Errorf("a plain copy is left: %s", entry.Name())
		}
	}
}
