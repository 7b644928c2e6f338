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
	text := version()
	if text == "" {
		return errors.New("the program was built without version information")
	}
	_, err := fmt.Fprintf(c.out, "chairside %s %s %s/%s\n", text, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// version is the version and the commit that the build recorded, or "".
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
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
	return fmt.Sprintf("%s (commit %s%s)", info.Main.Version, commit, modified)
}
