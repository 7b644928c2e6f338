package main

import (
	"strings"
	"testing"

	"chairside/cmd/chairside/deploy/drill/internal/drill"
)

// TestLastTag is the highest version of an earlier commit, not the newest tag, that of another branch, or
// that of the commit itself.
func TestLastTag(t *testing.T) {
	t.Parallel()
	repository := t.TempDir()
	git := func(arguments string) {
		t.Helper()
		environment := []string{"GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com"}
		if _, err := drill.Execute(t.Context(), repository, environment, "git", strings.Fields(arguments)...); err != nil {
			t.Fatal(err)
		}
	}
	git("init --quiet --initial-branch main")
	for _, step := range []struct{ commands, want string }{
		{"commit --quiet --allow-empty -m one", ""},
		{"tag v0.9.0", ""},
		{"tag vendored", ""},
		{"commit --quiet --allow-empty -m two", "v0.9.0"},
		{"tag v0.10.0-rc.1", "v0.9.0"},
		{"commit --quiet --allow-empty -m three", "v0.10.0-rc.1"},
		{"tag v0.10.0 HEAD~1", "v0.10.0"},
		{"tag v0.9.1 HEAD~1", "v0.10.0"},
		{"checkout --quiet -b other", "v0.10.0"},
		{"commit --quiet --allow-empty -m four", "v0.10.0"},
		{"tag v1.0.0", "v0.10.0"},
		{"checkout --quiet main", "v0.10.0"},
		{"commit --quiet --allow-empty -m five", "v0.10.0"},
	} {
		git(step.commands)
		if tag, err := lastTag(t.Context(), repository); err != nil || tag != step.want {
			t.Errorf("after git %s: %q, want %q; %v", step.commands, tag, step.want, err)
		}
	}
}
