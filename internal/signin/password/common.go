package password

import (
	_ "embed"
	"encoding/json"
	"strings"
	"sync"

	"github.com/ccojocar/zxcvbn-go/data"
)

// long are common passwords of ten or more characters, of which the library's list has
// few. They were collected by hand from published rankings of leaked passwords. The
// file's header says what it omits.
//
//go:embed common.txt
var long string

// common is the set of common passwords, folded: 7,000 from zxcvbn (MIT licence,
// through github.com/ccojocar/zxcvbn-go) and our own. Loading takes about 5 ms, when
// the first password is chosen.
var common = sync.OnceValue(func() map[string]bool {
	var list struct{ List []string }
	text, err := data.Asset("data/Passwords.json")
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	if err != nil {
		panic(err) // the library's list is compiled in
	}
	set := make(map[string]bool, len(list.List))
	for _, p := range list.List {
		set[fold(p)] = true
	}
	for line := range strings.Lines(long) {
		if p := fold(line); p != "" && !strings.HasPrefix(p, "#") {
			set[p] = true
		}
	}
	return set
})
