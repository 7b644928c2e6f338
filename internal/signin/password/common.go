package password

import (
	_ "embed"
	"encoding/json"
	"strings"
	"sync"

	"github.com/ccojocar/zxcvbn-go/data"
)

// long are common passwords of ten and more characters, which the library's
// list has few of. They were collected by hand from what every published
// ranking of leaked passwords has; the file says what it leaves out.
//
//go:embed common.txt
var long string

// common is the set of common passwords, folded: the 7,000 of zxcvbn (MIT
// licence, through github.com/ccojocar/zxcvbn-go) and our own. It is read when
// the first password is chosen, in some 5 ms.
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
