// Validates a bundle of FHIR R4, read from standard input, and each of its resources against the
// published definitions. It prints what is wrong, and nothing if the bundle is valid.
import { Fhir } from 'fhir';
import { readFileSync } from 'node:fs';

const fhir = new Fhir();
const bundle = JSON.parse(readFileSync(0, 'utf8'));
for (const resource of [bundle, ...bundle.entry.map((e) => e.resource)]) {
  for (const m of fhir.validate(resource).messages) {
    if (m.severity !== 'info') console.log(`${resource.resourceType} ${resource.id ?? ''}: ${m.location}: ${m.message}`);
  }
}
console.error(`${bundle.entry.length} resources`);
