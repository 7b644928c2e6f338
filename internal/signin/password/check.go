package password

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Limits of a password. The minimum counts Unicode code points; the maximum
// counts bytes and only keeps absurd inputs out.
const (
	MinRunes = 10
	MaxBytes = 1024
)

var (
	errCommon = errors.New("the password is too common: choose a few words that only you would put together")
	errOwn    = errors.New("the password must not be your name, your e-mail address or your practice's name")
)

// Check returns the reason why a password cannot be chosen, or nil. Its text is
// for the user. about is what others know of the user: the e-mail address, the
// names, the practice. There are no rules about kinds of characters: they make
// passwords worse.
func Check(text string, about ...string) error {
	switch {
	case !utf8.ValidString(text):
		return errors.New("the password is not valid UTF-8 text")
	case utf8.RuneCountInString(text) < MinRunes:
		return fmt.Errorf("the password must have at least %d characters", MinRunes)
	case len(text) > MaxBytes:
		return fmt.Errorf("the password must not have more than %d bytes", MaxBytes)
	}
	folded := fold(text)
	switch {
	case isCommon(folded):
		return errCommon
	case isOwn(folded, about):
		return errOwn
	}
	return nil
}

// fold is a password as guessing programs try it: case and the spaces around it
// do not matter, nor whether an é is one code point or two.
func fold(text string) string {
	return strings.ToLower(strings.TrimSpace(norm.NFKC.String(text)))
}

// maxDecoration is the most digits and signs around a common password that
// still leave it common: "Password2026!".
const maxDecoration = 6

// isCommon reports whether a folded password is a common one, possibly with
// digits or signs around it or in place of letters, the repetition of something
// short or common, or a run along the keyboard or the alphabet.
func isCommon(p string) bool {
	if isRun(p) || isRepetition(p) {
		return true
	}
	return slices.ContainsFunc(cores(p), func(core string) bool {
		return (isCommonWord(core) || isCommonWord(unleet(core))) && isDecoration(p, core)
	})
}

// cores are p as it is, and without the digits or signs around it.
func cores(p string) []string {
	sign := func(r rune) bool { return notLetter(r) && !unicode.IsDigit(r) }
	return []string{p, strings.TrimFunc(p, sign), strings.TrimRightFunc(p, notLetter), strings.TrimFunc(p, notLetter)}
}

func isCommonWord(p string) bool { return p != "" && common()[p] }

// isDecoration reports whether p holds little around core that would be hard to
// guess.
func isDecoration(p, core string) bool {
	before, after, _ := strings.Cut(p, core)
	return utf8.RuneCountInString(before)+utf8.RuneCountInString(after) <= maxDecoration || isRun(before+after) || isRepetition(before+after)
}

func notLetter(r rune) bool { return !unicode.IsLetter(r) }

// leet replaces the signs that are commonly typed for letters.
var leet = strings.NewReplacer("@", "a", "4", "a", "3", "e", "1", "i", "!", "i", "0", "o", "$", "s", "5", "s", "7", "t")

func unleet(p string) string { return leet.Replace(p) }

// maxUnit is the longest unit, in characters, whose repetition is common
// whatever it is.
const maxUnit = 4

// isRepetition reports whether p repeats a unit that is short or common.
func isRepetition(p string) bool {
	runes := []rune(p)
	for size := 1; size <= len(runes)/2; size++ {
		if len(runes)%size != 0 && size > maxUnit {
			continue
		}
		repeats := true
		for i := size; i < len(runes) && repeats; i++ {
			repeats = runes[i] == runes[i-size]
		}
		if repeats {
			return size <= maxUnit || isCommonWord(string(runes[:size]))
		}
	}
	return false
}

// paths are rows of characters along which people type without thinking. Each
// also counts backwards.
var paths = func() (all []string) {
	for _, path := range []string{
		"abcdefghijklmnopqrstuvwxyz", "01234567890", "!@#$%^&*()", `!"£$%^&*()`,
		"qwertyuiop", "asdfghjkl", "zxcvbnm", "qwertzuiop", "yxcvbnm", "azertyuiop", "qsdfghjklm", "wxcvbn",
		"1qaz", "2wsx", "3edc", "4rfv", "5tgb", "6yhn", "7ujm",
	} {
		runes := []rune(path)
		slices.Reverse(runes)
		all = append(all, path, string(runes))
	}
	return all
}()

const (
	minRun   = 3 // characters that make a run
	maxStray = 2 // characters that may stand between runs
)

// isRun reports whether p is made of runs along paths, or of one character.
func isRun(p string) bool {
	stray, found := 0, false
	for runes := []rune(p); len(runes) > 0; {
		n := runLength(runes)
		if n < minRun {
			n = 1
			stray++
		} else {
			found = true
		}
		runes = runes[n:]
	}
	return found && stray <= maxStray
}

// runLength is how many characters from the first on are one run.
func runLength(runes []rune) int {
	longest := 1
	for longest < len(runes) && runes[longest] == runes[0] {
		longest++
	}
	for _, path := range paths {
		row := []rune(path)
		at := slices.Index(row, runes[0])
		n := 0
		for at >= 0 && n < len(runes) && at+n < len(row) && row[at+n] == runes[n] {
			n++
		}
		longest = max(longest, n)
	}
	return longest
}

// product is a word that everybody who signs in here knows.
const product = "chairside"

// minOwn is the least number of letters and digits that make a name worth
// comparing.
const minOwn = 3

// isOwn reports whether a folded password is one of the names in about, or two
// of them together, with digits and signs around.
func isOwn(p string, about []string) bool {
	names := []string{product}
	for _, text := range about {
		text = fold(text)
		local, _, isAddress := strings.Cut(text, "@")
		names = append(names, compact(text))
		if isAddress {
			names = append(names, compact(local))
		}
	}
	names = slices.DeleteFunc(names, func(n string) bool { return utf8.RuneCountInString(n) < minOwn })
	return slices.ContainsFunc(cores(p), func(core string) bool {
		for _, core := range []string{compact(core), compact(unleet(core))} {
			for _, first := range names {
				if rest, ok := strings.CutPrefix(core, first); ok && (rest == "" || slices.Contains(names, rest)) {
					return true
				}
			}
		}
		return false
	})
}

// compact keeps letters and digits alone.
func compact(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, text)
}
