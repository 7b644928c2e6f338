// Package config reads what a command was told by flags and environment and
// checks it.
//
// The structs here are the flags: package main embeds them into its commands,
// and the command-line parser fills them, from the environment variable
// CHAIRSIDE_<FLAG> where the flag is not given (EnvPrefix). Values whose form
// has to be checked are text to the parser; Read turns them into what the
// command works with, and reports everything that is wrong at once (Mistakes),
// not only the first thing.
package config

// EnvPrefix is what the names of all environment variables start with:
// --database-url is CHAIRSIDE_DATABASE_URL.
const EnvPrefix = "CHAIRSIDE"
