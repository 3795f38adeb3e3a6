/** The JSON Schema of seed files, read from their declaration. */
import { Schema } from "effect"
import { Seed } from "./Seed.ts"

/** The schema as a document of its own. */
export const make = () => {
  const { definitions, schema } = Schema.toJsonSchemaDocument(Seed, {
    onExcessProperty: "error",
    generateDescriptions: true
  })
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Seed file of the Organization Security Console",
    ...schema,
    $defs: definitions
  }
}
