package config

import (
	"os"
	"strings"
)

// KeysFlag names the keys of sealed columns.
type KeysFlag struct {
	KeysFile string `placeholder:"FILE" help:"Keys of sealed columns in the database; see \"chairside keys create\". Default: the keys in the environment variable CHAIRSIDE_KEYS; for SQLite, the file PATH.keys, which is created."`
}

// Keys returns the keys in the environment, or "".
func (KeysFlag) Keys() string { return strings.TrimSpace(os.Getenv(EnvPrefix + "_KEYS")) }

// KeysCreateFlags are the flags of "chairside keys create".
type KeysCreateFlags struct {
	File string `arg:"" help:"File of the keys. It must not exist."`
}

// KeysRotateFlags are the flags of "chairside keys rotate".
type KeysRotateFlags struct {
	Database
	AddOnly bool `help:"Only add a key to the file. If several servers have a copy each, copy the file to all of them, then run the command again."`
}

// KeysRemoveFlags are the flags of "chairside keys remove".
type KeysRemoveFlags struct {
	Database
	Key string `arg:"" help:"The key's id; see \"chairside keys status\"."`
}
