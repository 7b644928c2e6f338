//go:build !unix

package backup

// giveToOwnerOf does nothing: files inherit their directory's permissions.
func giveToOwnerOf(_, _ string) error { return nil }
