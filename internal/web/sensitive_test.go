package web

import (
	"io/fs"
	"maps"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"chairside/internal/store"
	"chairside/ogent"
)

// sensitive are the actions that need a recent proof of the password or the second factor: they
// create or show a credential, send or give out data, or change who may do so.
var sensitive = map[string]rules{
	"newToken": proofToGet, "createToken": proofToPost,
	"newApplication": proofToGet, "registerApplication": proofToPost, "editApplication": proofToPost, "rotateSecret": proofToPost,
	"newWebhook": proofToGet, "createWebhook": proofToPost, "editWebhook": proofToPost, "rotateWebhookSecret": proofToPost,
	"resumeWebhook": proofToPost, "testWebhook": proofToPost, "redeliver": proofToPost, "retryDelivery": proofToPost,
	"patientData": proofToGet, "patientDataFile": proofToGet, "report": proofToDownload,
	"consentPage": proofToAllow, "consent": proofToAllow,
	"secondFactor": proofToGet, "enableSecondFactor": proofToPost,
	"newPasskey": proofToGet, "newPasskeyOptions": proofToPost, "addPasskey": proofToPost, "removePasskey": proofToPost,
	"newUser": proofToGet, "createUser": proofToPost, "editUser": proofToPost, "inviteUser": proofToPost,
	"resetUserFactor": proofToPost, "enableUser": proofToPost,
	"savePracticeSettings": proofToPost, "liftSiteLimit": proofToPost,
}

// harmless are the other actions of forms, with the reason why they need no proof.
var harmless = map[string]string{
	"signIn":              "proves who the visitor is",
	"signInCode":          "proves who the visitor is",
	"passkeyOptions":      "begins such a proof",
	"confirm":             "is the proof",
	"signOut":             "ends access",
	"revokeToken":         "ends access",
	"deleteApplication":   "ends access",
	"revokeAuthorization": "ends access",
	"endOtherSessions":    "ends access",
	"endSession":          "ends access",
	"endUserSessions":     "ends access",
	"disableUser":         "ends access",
	"acceptInvitation":    "its form has the invitation, which proves who the visitor is",
	"restoreSiteLimit":    "ends access",
	"pauseWebhook":        "sends nothing any more",
	"deleteWebhook":       "sends nothing any more",
	"dismissSignIns":      "hides a notice that the visitor has read",
	"renamePasskey":       "changes a name",
	"changePassword":      "its form has the current password",
	"disableSecondFactor": "its form has the password and a code",
	"renewRecoveryCodes":  "its form has the password and a code",
}

// TestSensitiveActionsNeedProof compares the route table with the lists, in both directions. The
// action of a form is in one of them.
func TestSensitiveActionsNeedProof(t *testing.T) {
	t.Parallel()
	s, err := New(Options{DB: &store.DB{}, Document: ogent.Document, BaseURL: "http://localhost"})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, route := range s.Routes() {
		for _, of := range []struct {
			act   action
			rules rules
			form  bool
		}{{route.get, proofToGet | proofToDownload | proofToAllow, false}, {route.post, proofToPost | proofToAllow, true}} {
			if of.act == nil {
				continue
			}
			name := runtime.FuncForPC(reflect.ValueOf(of.act).Pointer()).Name()
			name = strings.TrimSuffix(name[strings.LastIndex(name, ".")+1:], "-fm")
			found[name] = true
			if asks := route.rules & of.rules; asks != sensitive[name] {
				t.Errorf("%s: %s asks for a proof by the rules %b, want %b", route.Path, name, asks, sensitive[name])
			}
			if of.form && (sensitive[name] != plain) == (harmless[name] != "") {
				t.Errorf("%s: %s is the action of a form: add it to sensitive or, with a reason, to harmless", route.Path, name)
			}
		}
	}
	for _, name := range slices.Concat(slices.Collect(maps.Keys(sensitive)), slices.Collect(maps.Keys(harmless))) {
		if !found[name] {
			t.Errorf("no route has the action %s", name)
		}
	}
}

// secretInput is an input of a template for a secret, secretName its name.
var secretInput, secretName = regexp.MustCompile(`<input[^>]*(?:type="password"|one-time-code|name="passkey")[^>]*>`), regexp.MustCompile(` name="([^"]+)"`)

// TestSecretFieldsAreNotKept: every field for a secret is in secretFields.
func TestSecretFieldsAreNotKept(t *testing.T) {
	t.Parallel()
	names, found := map[string]bool{}, 0
	for _, name := range secretFields {
		names[name] = true
	}
	files, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := fs.ReadFile(templateFiles, file)
		if err != nil {
			t.Fatal(err)
		}
		for _, input := range secretInput.FindAllString(string(text), -1) {
			found++
			if name := secretName.FindStringSubmatch(input); name == nil || !names[name[1]] {
				t.Errorf("%s: %s is not in secretFields", file, input)
			}
		}
	}
	if found < len(secretFields) {
		t.Errorf("found only %d inputs for secrets", found)
	}
}
