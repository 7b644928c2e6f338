package password

import (
	"strings"
	"testing"
)

func TestCheckCountsCharacters(t *testing.T) {
	for password, ok := range map[string]bool{
		"kettle ma": false, "kettle man": true, "éèêëàâäôö": false, "éèêëàâäôöü": true,
		strings.Repeat("kettle mango ", MaxBytes/13): true, strings.Repeat("kettle mango ", MaxBytes/13+1): false, "\xffkettle mango": false,
	} {
		if err := Check(password); (err == nil) != ok {
			t.Errorf("Check(%.14q) = %v", password, err)
		}
	}
}

func TestCheckRefusesCommonPasswords(t *testing.T) {
	for _, password := range []string{
		"password12", "Password123!", "password1234", "PASSWORD2026", "P@ssw0rd2026", "pa55word!!!", " Password12 ", "2026password",
		"1234567890", "12345678910", "0123456789", "9876543210", "0987654321", "1111111111", "1212121212", "123123123123", "123456789123456789", "1234512345",
		"qwertyuiop", "Qwertyuiop12", "qwerty12345", "qwerty123456", "poiuytrewq", "asdfghjkl1", "zxcvbnm123", "azertyuiop", "qwertzuiop", "!@#$%^&*()",
		"1q2w3e4r5t", "q1w2e3r4t5", "1qaz2wsx3edc", "zaq12wsxcde3", "qazwsxedcrfv", "aaaaaaaaaa", "AAAAAaaaaa", "abababababab", "abcabcabcabc", "abcdefghij", "aaaaa11111", "passwordpassword", "monkeymonkey",
		"iloveyou123", "iloveyou2026", "letmein1234", "administrator", "Administrator1", "football2026", "liverpool1", "Manchester", "butterfly1987", "charlotte1", "superman123",
		"welcome123", "Welcome2026!", "changeme123", "Summer2026!", "sunshine99", "dentist123", "Dentistry2026", "TrustNo1!!!", "correct horse battery staple", "ｐａｓｓｗｏｒｄ１２", "password12345678",
	} {
		if err := Check(password); err != errCommon {
			t.Errorf("Check(%q) = %v", password, err)
		}
	}
	for _, password := range []string{
		"long enough", "a long password", "another-password", "demo-password", "correct horse battery", "kettle mango 9", "xK3#pp0qLz", "blue tent river",
		"öffnet sich nie", "другойпароль", "人生七十古来稀なりと言う", "07700900123", "test 4839205716 bench", "password of the heron", "dental mirror in the fog", "кот на крыше",
	} {
		if err := Check(password); err != nil {
			t.Errorf("Check(%q) = %v", password, err)
		}
	}
}

func TestCheckRefusesTheUsersOwnNames(t *testing.T) {
	about := []string{"Ann.Archer@bright.test", "Ann", "Archer", "Bright & Smile Dental", "Jo"}
	for _, password := range []string{
		"ann.archer@bright.test", "ANN.ARCHER@BRIGHT.TEST", "ann.archer", "annarcher1", "Ann Archer 2026", "archer-ann!!", "ArcherAnn1987", "archer123456", "Archer2026!", "4rcher 2026",
		"bright & smile dental", "BrightSmileDental", "brightsmiledental1", "chairside2026", "Chairside!!!",
	} {
		if err := Check(password, about...); err != errOwn {
			t.Errorf("Check(%q) = %v", password, err)
		}
	}
	for _, password := range []string{"ann is not an archer", "jo jo climbs the hill", "a bright smile for dental work"} {
		if err := Check(password, about...); err != nil {
			t.Errorf("Check(%q) = %v", password, err)
		}
	}
	if err := Check("kettle mango", "", " ", "@", "é"); err != nil {
		t.Error(err)
	}
}

func FuzzCheck(f *testing.F) {
	f.Add("Password123!", "ann@bright.test")
	f.Add("\xff\x00 \u0301", "@")
	f.Fuzz(func(t *testing.T, password, about string) {
		if len(password) > 2*MaxBytes {
			return
		}
		if Check(password, about) == nil && Check(strings.ToUpper(password)) == errCommon && fold(strings.ToUpper(password)) == fold(password) {
			t.Errorf("%q is common in capitals alone", password)
		}
	})
}
