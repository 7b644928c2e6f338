package durable_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"chairside/internal/durable"
)

func text(content string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, content)
		return err
	}
}

func TestCreate(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a")
	if err := durable.Create(path, text("one")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	if err := durable.Create(path, text("two")); !errors.Is(err, os.ErrExist) {
		t.Errorf("a second file: %v", err)
	}
	failure := errors.New("no more")
	if err := durable.Create(path+"b", func(io.Writer) error { return failure }); !errors.Is(err, failure) {
		t.Errorf("a failing writer: %v", err)
	}
	if err := durable.Create(filepath.Join(path, "c"), text("")); err == nil {
		t.Error("a file below a file")
	}
	if content, err := os.ReadFile(path); err != nil || string(content) != "one" {
		t.Errorf("%s, %v", content, err)
	}
}

func TestRename(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := durable.Create(filepath.Join(dir, "a"), text("one")); err != nil {
		t.Fatal(err)
	}
	if err := durable.Rename(filepath.Join(dir, "a"), filepath.Join(dir, "b")); err != nil {
		t.Fatal(err)
	}
	if content, err := os.ReadFile(filepath.Join(dir, "b")); err != nil || string(content) != "one" {
		t.Errorf("%s, %v", content, err)
	}
	if err := durable.Rename(filepath.Join(dir, "a"), filepath.Join(dir, "b")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if err := durable.SyncDir(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a directory that is not there: %v", err)
	}
}
