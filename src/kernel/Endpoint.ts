/** The HTTP endpoint of an operation, from which documents and clients are made. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema, OpenApi } from "effect/http-api"
import type { FailureClass } from "../domain/Failure.ts"
import { answersContent, type Declaration } from "./Contract.ts"
import { toWire } from "./FailureJson.ts"

const orNone = (fields: Schema.Struct.Fields) => Object.keys(fields).length === 0 ? undefined : fields

/** The endpoint of an operation that fails with these classes. */
export const endpoint = (contract: Declaration, failures: ReadonlyArray<FailureClass>) => {
  const body = orNone(contract.body)
  // The methods that carry a body are known only where the declaration's types are; so are the parts of its input.
  return HttpApiEndpoint.make(contract.method as "POST")(contract.id, contract.path, {
    params: orNone(contract.params) as any,
    query: orNone(contract.query) as any,
    payload: body === undefined ? undefined : Schema.Struct(body) as any,
    success: answersContent(contract) ? HttpApiSchema.StreamUint8Array() : contract.success,
    error: failures.map(toWire) as any
  }).annotateMerge(OpenApi.annotations({
    identifier: contract.id,
    summary: contract.summary,
    ...(contract.description === undefined ? {} : { description: contract.description }),
    override: {
      tags: [contract.toolset],
      security: [{ bearer: [] }],
      "x-scope": contract.scope,
      ...(contract.destructive ? { "x-destructive": true } : {}),
      ...(contract.confirm ? { "x-confirm": true } : {})
    }
  }))
}
