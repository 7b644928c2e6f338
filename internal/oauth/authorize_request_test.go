package oauth_test

import (
	"strings"
	"testing"
)

// Error codes of RFC 6749, section 4.1.2.1.
const (
	invalid      = "invalid_request"
	invalidScope = "invalid_scope"
	unsupported  = "unsupported_response_type"
)

// TestScopesCannotBeEscalated beyond the application's registration.
func TestScopesCannotBeEscalated(t *testing.T) {
	checkAttacks(t, []attack{
		{"one", "scope=patient:read", consent},
		{"all that are registered", "scope=appointment+patient:read+user:read", consent},
		{"one verb of a family", "scope=appointment:delete", consent},
		{"one twice", "scope=patient:read+patient:read", consent},
		{"spaces around", "scope=+patient:read++user:read+", consent},
		{"a thousand times", "scope=patient:read" + strings.Repeat("+patient:read", 1000), consent},

		{"the application's, for a resource", "scope&resource=https://api.example.com/mcp", consent},
		{"an empty resource", "scope&resource=", invalidScope},
		{"two resources", "scope&resource=a&resource=b", invalidScope},
		{"another scope for a resource", "scope=financials&resource=https://api.example.com/mcp", invalidScope},

		{"family of a verb", "scope=patient", invalidScope},
		{"another verb", "scope=patient:update", invalidScope},
		{"another family", "scope=financials", invalidScope},
		{"a good and a bad one", "scope=patient:read+financials:read", invalidScope},
		{"missing", "scope", invalidScope},
		{"empty", "scope=", invalidScope},
		{"spaces alone", "scope=+++", invalidScope},
		{"unknown", "scope=everything", invalidScope},
		{"of other servers", "scope=openid+offline_access+profile", invalidScope},
		{"wildcard", "scope=*", invalidScope},
		{"wildcard verb", "scope=patient:*", invalidScope},
		{"no verb", "scope=patient:", invalidScope},
		{"no family", "scope=:read", invalidScope},
		{"two verbs", "scope=patient:read:update", invalidScope},
		{"in capitals", "scope=PATIENT:READ", invalidScope},
		{"new line between", "scope=patient:read%0auser:read", invalidScope},
		{"carriage return between", "scope=patient:read%0d%0aSet-Cookie:%20x=y", invalidScope},
		{"tab between", "scope=patient:read%09user:read", invalidScope},
		{"comma between", "scope=patient:read,user:read", invalidScope},
		{"plus sign between", "scope=patient:read%2Buser:read", invalidScope},
		{"encoded twice", "scope=patient%253Aread", invalidScope},
		{"no-break space between", "scope=patient:read%C2%A0user:read", invalidScope},
		{"NUL after it", "scope=patient:read%00", invalidScope},
		{"quote", "scope=patient:read%22", invalidScope},
		{"markup", "scope=%3Cscript%3Ealert(1)%3C/script%3E", invalidScope},
		{"broken UTF-8", "scope=patient:read%ff", invalidScope},
		{"10,000 letters", "scope=" + strings.Repeat("a", 10000), invalidScope},
		{"as an array", "scope&scope[]=patient:read", invalidScope},
		{"public application beyond its own", asPublicClient + "&scope=patient:delete", invalidScope},
	})
}

// TestOnlyTheCodeFlowIsOffered, with responses in the query.
func TestOnlyTheCodeFlowIsOffered(t *testing.T) {
	checkAttacks(t, []attack{
		{"response mode query", "response_mode=query", consent},
		{"unknown parameters", "prompt=none&nonce=x&max_age=0&login_hint=y&access_type=offline&audience=z&decide=allow", consent},
		{"empty parameters count as not sent", "response_mode=&request=&request_uri=", consent},

		{"type token", "response_type=token", unsupported},
		{"type id_token", "response_type=id_token", unsupported},
		{"type code token", "response_type=code+token", unsupported},
		{"type token code", "response_type=token+code", unsupported},
		{"type code id_token", "response_type=code+id_token", unsupported},
		{"type none", "response_type=none", unsupported},
		{"type in capitals", "response_type=CODE", unsupported},
		{"type with a space", "response_type=code+", unsupported},
		{"type with NUL", "response_type=code%00", unsupported},
		{"type with markup", "response_type=%3Cb%3E", unsupported},
		{"type missing", "response_type", invalid},
		{"type empty", "response_type=", invalid},
		{"mode form_post", "response_mode=form_post", invalid},
		{"mode fragment", "response_mode=fragment", invalid},
		{"mode web_message", "response_mode=web_message", invalid},
		{"mode query.jwt", "response_mode=query.jwt", invalid},
		{"request object", "request=eyJhbGciOiJub25lIn0.e30.", "request_not_supported"},
		{"request object by address", "request_uri=https://evil.example/request.jwt", "request_uri_not_supported"},
		{"request object that was pushed", "request_uri=urn:ietf:params:oauth:request_uri:x", "request_uri_not_supported"},
	})
}

// TestRepeatedParametersAreRefused, even with equal values (RFC 6749, section 3.1).
func TestRepeatedParametersAreRefused(t *testing.T) {
	checkAttacks(t, []attack{
		{"response_type", "response_type=code&response_type=code", invalid},
		{"another response_type", "response_type=code&response_type=token", invalid},
		{"scope", "scope=patient:read&scope=patient:read", invalid},
		{"another scope", "scope=patient:read&scope=appointment", invalid},
		{"scope, once empty", "scope=patient:read&scope=", invalid},
		{"state", "state=xyz&state=xyz", invalid},
		{"another state", "state=xyz&state=abc", invalid},
		{"code_challenge", "code_challenge={challenge}&code_challenge={challenge}", invalid},
		{"code_challenge by an encoded name", "code%5Fchallenge={challenge}", invalid},
		{"code_challenge_method", "code_challenge_method=S256&code_challenge_method=plain", invalid},
		{"response_mode", "response_mode=query&response_mode=fragment", invalid},
		{"request", "request=&request=", invalid},
		{"everything", "scope=a&scope=b&state=a&state=b&response_type=a&response_type=b", invalid},
	})
}

// TestPKCECannotBeDowngraded in the authorization request (RFC 7636; RFC 9700, section
// 2.1.1).
func TestPKCECannotBeDowngraded(t *testing.T) {
	checkAttacks(t, []attack{
		{"S256", "code_challenge={challenge}&code_challenge_method=S256", consent},
		{"optional for an application with a secret", "code_challenge&code_challenge_method", consent},
		{"public application", asPublicClient, consent},

		{"public application without", asPublicClient + "&code_challenge&code_challenge_method", invalid},
		{"public application with an empty one", asPublicClient + "&code_challenge=&code_challenge_method=", invalid},
		{"public application, plain", asPublicClient + "&code_challenge_method=plain", invalid},
		{"public application, method missing", asPublicClient + "&code_challenge_method", invalid},
		{"method plain", "code_challenge_method=plain", invalid},
		{"method missing, which means plain", "code_challenge_method", invalid},
		{"method empty", "code_challenge_method=", invalid},
		{"method in small letters", "code_challenge_method=s256", invalid},
		{"method S512", "code_challenge_method=S512", invalid},
		{"method none", "code_challenge_method=none", invalid},
		{"method with a space", "code_challenge_method=S256+", invalid},
		{"method without a challenge", "code_challenge", invalid},
		{"challenge empty", "code_challenge=", invalid},
		{"challenge too short", "code_challenge=" + strings.Repeat("a", 42), invalid},
		{"challenge too long", "code_challenge=" + strings.Repeat("a", 44), invalid},
		{"challenge padded", "code_challenge={challenge}=", invalid},
		{"challenge in hexadecimal", "code_challenge=" + strings.Repeat("0f", 32), invalid},
		{"challenge in the other base64", "code_challenge=" + strings.Repeat("%2B", 43), invalid},
		{"challenge with NUL", "code_challenge=" + strings.Repeat("a", 42) + "%00", invalid},
		{"challenge with a new line", "code_challenge={challenge}%0a", invalid},
	})
}
