// Validates the manifests in a file by the published schemas of Kubernetes, and prints each kind:
// node validate.js FILE. It then writes manifests.ts: the schemas allow unknown fields, the types
// do not.
import fs from 'node:fs'
import { parseAllDocuments } from 'yaml'

let types = ''
for (const [i, document] of parseAllDocuments(fs.readFileSync(process.argv[2], 'utf8')).entries()) {
  const manifest = document.toJS()
  const path = `kubernetes-models/${manifest.apiVersion}/${manifest.kind}`
  const { [manifest.kind]: Kind } = await import(path)
  new Kind(manifest).validate()
  types += `import type { I${manifest.kind} } from '${path}'\nexport const manifest${i}: I${manifest.kind} = ${JSON.stringify(manifest)}\n`
  console.log(manifest.kind)
}
fs.writeFileSync('manifests.ts', types)
