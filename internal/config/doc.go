// Package config declares and checks the commands' flags.
//
// Package main embeds these structs into its commands. The command-line parser fills
// them from the flags, or from the environment variable CHAIRSIDE_<FLAG> (EnvPrefix).
// Values that need checking are strings for the parser; Read parses them, so that it
// can report all mistakes at once (Mistakes).
package config

// EnvPrefix begins the names of the environment variables: --database-url is
// CHAIRSIDE_DATABASE_URL.
const EnvPrefix = "CHAIRSIDE"
