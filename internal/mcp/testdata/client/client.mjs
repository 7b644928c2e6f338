// An assistant as its developer would write it, on the protocol's TypeScript SDK. It connects
// over HTTP (URL), signing its user in by OAuth (CLIENT_ID), or starts a command (COMMAND).
//
// It prints the authorization URL, reads the redirect URL, and prints its results as one line
// of JSON.
import { strict as assert } from 'node:assert'
import { createInterface } from 'node:readline'
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import Ajv from 'ajv/dist/2020.js'

const { URL: address, COMMAND, CLIENT_ID, REDIRECT_URI, SCOPE, CHAIRSIDE_TOKEN } = process.env
const assistant = () => new Client({ name: 'assistant', version: '1.0.0' })

// kept holds what the SDK asks to keep.
const kept = {}
const user = {
  redirectUrl: REDIRECT_URI,
  clientMetadata: { redirect_uris: [REDIRECT_URI], scope: SCOPE || undefined },
  clientInformation: () => ({ client_id: CLIENT_ID }),
  tokens: () => kept.tokens,
  saveTokens: tokens => { kept.tokens = tokens },
  saveCodeVerifier: verifier => { kept.verifier = verifier },
  codeVerifier: () => kept.verifier,
  redirectToAuthorization: url => console.log(url.href),
}

const overHTTP = async () => {
  const connect = async transport => {
    const client = assistant()
    await client.connect(transport)
    return client
  }
  const transport = () => new StreamableHTTPClientTransport(new URL(address), { authProvider: user })
  const first = transport()
  await assert.rejects(connect(first), UnauthorizedError)
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
  const back = new URL((await lines.next()).value)
  await first.finishAuth(back.searchParams.get('code'), back.searchParams.get('iss'))
  assert.equal(kept.tokens.scope, SCOPE || 'patient:read user:read')
  return connect(transport())
}

const overStreams = async () => {
  const [command, ...args] = JSON.parse(COMMAND)
  const client = assistant()
  await client.connect(new StdioClientTransport({ command, args, env: { CHAIRSIDE_TOKEN } }))
  return client
}

const client = await (COMMAND ? overStreams() : overHTTP())

const { tools } = await client.listTools()
const ajv = new Ajv({ strict: true, allowUnionTypes: true, formats: { date: true, 'date-time': true, int64: true, int32: true, uuid: true, uri: true, email: true } })
const check = Object.fromEntries(tools.map(tool => [tool.name, ajv.compile(tool.inputSchema)]))
assert(check.listPatients({ per_page: 1 }))
assert(!check.listPatients({ per_page: 'one' }))
assert(!check.listPatients({ access_token: 'x' }))

const call = async (name, args) => {
  const { isError, content: [{ text }] } = await client.callTool({ name, arguments: args })
  return { isError, text }
}
const { text } = await call('listPatients', { per_page: 1 })
const [patient] = JSON.parse(text).patients
const missing = await call('getPatient', { id: 999999 })
assert(missing.isError)
const { resources } = await client.listResources()
const guide = await client.readResource({ uri: resources.find(r => r.mimeType === 'text/markdown').uri })

console.log(JSON.stringify({
  server: client.getServerVersion().name,
  tools: tools.map(tool => tool.name),
  patient: patient.id,
  missing: JSON.parse(missing.text).error.code,
  guide: guide.contents[0].text.slice(0, 2),
}))
await client.close()
process.exit(0)
