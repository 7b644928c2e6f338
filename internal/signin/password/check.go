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

// The limits of a password: MinRunes counts Unicode code points, MaxBytes bytes.
const (
	MinRunes = 10
	MaxBytes = 1024
)

var (
	errCommon = errors.New("the password is too common: use several unrelated words")
	errOwn    = errors.New("the password must not be your name, your e-mail address or your practice's name")
)

// Check returns why a password is not accepted, or nil. The text is for the user.
// about lists words that the password must not consist of: the user's e-mail address
// and names, and the practice. There are no rules about kinds of characters, because
// they make passwords worse.
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

// fold normalises a password for comparison: case, surrounding spaces and the
// composition of accents do not matter to a guessing program.
func fold(text string) string {
	return strings.ToLower(strings.TrimSpace(norm.NFKC.String(text)))
}

// maxDecoration is the most digits and symbols around a common password that leave it
// common: "Password2026!".
const maxDecoration = 6

// isCommon reports whether a folded password is a common one (with digits or symbols
// around it or in place of letters), a repetition of something short or common, or a
// run along the keyboard or the alphabet.
func isCommon(p string) bool {
	if isRun(p) || isRepetition(p) {
		return true
	}
	return slices.ContainsFunc(cores(p), func(core string) bool {
		return (isCommonWord(core) || isCommonWord(unleet(core))) && isDecoration(p, core)
	})
}

// cores returns p, and p without surrounding digits or symbols.
func cores(p string) []string {
	sign := func(r rune) bool { return notLetter(r) && !unicode.IsDigit(r) }
	return []string{p, strings.TrimFunc(p, sign), strings.TrimRightFunc(p, notLetter), strings.TrimFunc(p, notLetter)}
}

func isCommonWord(p string) bool { return p != "" && common()[p] }

// isDecoration reports whether the rest of p around core is easy to guess.
func isDecoration(p, core string) bool {
	before, after, _ := strings.Cut(p, core)
	return utf8.RuneCountInString(before)+utf8.RuneCountInString(after) <= maxDecoration || isRun(before+after) || isRepetition(before+after)
}

func notLetter(r rune) bool { return !unicode.IsLetter(r) }

// leet replaces symbols that are commonly typed for letters.
var leet = strings.NewReplacer("@", "a", "4", "a", "3", "e", "1", "i", "!", "i", "0", "o", "$", "s", "5", "s", "7", "t")

func unleet(p string) string { return leet.Replace(p) }

// maxUnit is the longest unit, in characters, whose repetition is always common.
const maxUnit = 4

// isRepetition reports whether p repeats a short or common unit.
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

// paths are rows of keys and sequences that people type as passwords, in both
// directions.
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
	minRun   = 3 // shortest run
	maxStray = 2 // most characters between runs
)

// isRun reports whether p consists of runs along paths, or of one character.
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

// runLength returns the length of the run that runes begin with.
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

// product is a word that every user knows.
const product = "chairside"

// minOwn is the shortest name that is compared, in letters and digits.
const minOwn = 3

// isOwn reports whether a folded password is one or two of the names in about, with
// digits and symbols around them.
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

// compact keeps only letters and digits.
func compact(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, text)
}
