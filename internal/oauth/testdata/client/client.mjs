// An application as its developer would write it: it knows the issuer and its
// credentials, and discovers the rest.
//
// It prints the authorization URL, reads the redirect URL, and prints its results as
// one line of JSON.
import { strict as assert } from 'node:assert'
import { createInterface } from 'node:readline'
import * as oauth from 'oauth4webapi'

const { ISSUER, METHOD, CLIENT_ID, CLIENT_SECRET, REDIRECT_URI } = process.env
const plain = { [oauth.allowInsecureRequests]: true } // the test's server speaks no TLS

const issuer = new URL(ISSUER)
const server = await oauth.processDiscoveryResponse(
  issuer, await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...plain }))
assert(server.code_challenge_methods_supported.includes('S256'))
assert(server.token_endpoint_auth_methods_supported.includes(METHOD))
assert(server.authorization_response_iss_parameter_supported)

const client = { client_id: CLIENT_ID }
const proof = {
  client_secret_basic: oauth.ClientSecretBasic,
  client_secret_post: oauth.ClientSecretPost,
  none: oauth.None,
}[METHOD](CLIENT_SECRET)

const verifier = oauth.generateRandomCodeVerifier()
const state = oauth.generateRandomState()
const address = new URL(server.authorization_endpoint)
address.search = new URLSearchParams({
  client_id: CLIENT_ID,
  redirect_uri: REDIRECT_URI,
  response_type: 'code',
  scope: 'user:read',
  state,
  code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
  code_challenge_method: 'S256',
})
console.log(address.href)

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
const back = new URL((await lines.next()).value)
const without = name => { const url = new URL(back); url.searchParams.delete(name); return url }
const wrong = (name, value) => { const url = new URL(back); url.searchParams.set(name, value); return url }
for (const bad of [without('iss'), wrong('iss', 'https://evil.example'), without('state'), wrong('state', 'x')]) {
  assert.throws(() => oauth.validateAuthResponse(server, client, bad, state))
}
const answer = oauth.validateAuthResponse(server, client, back, state)

const grant = () => oauth.authorizationCodeGrantRequest(server, client, proof, answer, REDIRECT_URI, verifier, plain)
const token = await oauth.processAuthorizationCodeResponse(server, client, await grant())
assert.equal(token.token_type, 'bearer')
assert.equal(token.scope, 'user:read')

const user = () => oauth.protectedResourceRequest(token.access_token, 'GET', new URL('/v1/user', issuer), undefined, null, plain)
const { user: { email } } = await (await user()).json()

const introspect = async () => oauth.processIntrospectionResponse(
  server, client, await oauth.introspectionRequest(server, client, proof, token.access_token, plain))
if (METHOD !== 'none') { // a public client may not introspect tokens
  const state = await introspect()
  assert(state.active)
  assert.equal(state.client_id, CLIENT_ID)
  assert.equal(state.scope, 'user:read')
}

await oauth.processRevocationResponse(await oauth.revocationRequest(server, client, proof, token.access_token, plain))
if (METHOD !== 'none') {
  assert.equal((await introspect()).active, false)
}
let afterwards
try {
  await user()
} catch (error) {
  assert(error instanceof oauth.WWWAuthenticateChallengeError)
  assert.equal(error.status, 401)
  afterwards = error.cause[0].parameters.error
}

await assert.rejects(
  async () => oauth.processAuthorizationCodeResponse(server, client, await grant()),
  error => error instanceof oauth.ResponseBodyError && error.error === 'invalid_grant')

console.log(JSON.stringify({ email, afterwards }))
process.exit(0)
