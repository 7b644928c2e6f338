package web

import (
	"reflect"
	"runtime"
	"strings"
	"testing"

	"chairside/internal/store"
)

// sensitive are the actions that need a recent proof of the password or the second factor: they
// create or show a credential, send data elsewhere, or change who may do so.
var sensitive = []string{
	"newToken", "createToken",
	"newApplication", "registerApplication", "editApplication", "rotateSecret",
	"newWebhook", "createWebhook", "editWebhook", "rotateWebhookSecret",
	"patientData", "patientDataFile",
	"secondFactor", "enableSecondFactor",
	"newPasskey", "newPasskeyOptions", "addPasskey", "removePasskey",
	"savePracticeSettings", "liftSiteLimit",
}

// TestSensitiveActionsNeedProof compares the route table with the list, in both directions.
func TestSensitiveActionsNeedProof(t *testing.T) {
	t.Parallel()
	s, err := New(Options{DB: &store.DB{}, BaseURL: "http://localhost"})
	if err != nil {
		t.Fatal(err)
	}
	listed, found := map[string]bool{}, map[string]bool{}
	for _, name := range sensitive {
		listed[name] = true
	}
	for _, route := range s.Routes() {
		for _, of := range []struct {
			act  action
			rule rules
		}{{route.get, proofToGet}, {route.post, proofToPost}} {
			if of.act == nil {
				continue
			}
			name := runtime.FuncForPC(reflect.ValueOf(of.act).Pointer()).Name()
			name = strings.TrimSuffix(name[strings.LastIndex(name, ".")+1:], "-fm")
			found[name] = true
			if asked := route.rules&of.rule != 0; asked != listed[name] {
				t.Errorf("%s: %s asks for a proof: %t, is sensitive: %t", route.Path, name, asked, listed[name])
			}
		}
	}
	for name := range listed {
		if !found[name] {
			t.Errorf("no route has the action %s", name)
		}
	}
}
