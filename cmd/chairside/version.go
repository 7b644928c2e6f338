package main

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
)

type versionCommand struct{}

// Run prints the version, commit, Go version and platform that the build recorded.
func (versionCommand) Run(c *console) error {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return errors.New("the program was built without version information")
	}
	commit, modified := "unknown", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = ", modified"
		}
	}
	_, err := fmt.Fprintf(c.out, "chairside %s (commit %s%s) %s %s/%s\n", info.Main.Version, commit, modified, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
