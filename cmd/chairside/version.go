package main

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
)

type versionCommand struct{}

// Run prints what the build recorded: version, revision, Go and platform.
func (versionCommand) Run(c *console) error {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return errors.New("this program was built without version information")
	}
	revision := "unknown revision"
	changed := ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = ", with changes"
		}
	}
	_, err := fmt.Fprintf(c.out, "chairside %s (%s%s) %s %s/%s\n", info.Main.Version, revision, changed, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
