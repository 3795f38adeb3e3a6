/** What a command that works on a database is made of: its input, its answer, and what it does, as JSON throughout. */
import { Effect, Schema, SchemaIssue } from "effect"
import { SqlClient } from "effect/sql"
import { OrganizationId } from "../domain/Access.ts"
import * as Provisioning from "../layers/sql/Provisioning.ts"
import * as Tenant from "../layers/sql/Tenant.ts"
import { Db } from "../ports/Db.ts"
import { Journal } from "../ports/Journal.ts"

/** A command that was refused; the message is one line for the operator. */
export class Refused extends Schema.TaggedError<Refused>()("Refused", { message: Schema.String }) {}

/** Fails with one line. */
export const refuse = (message: string) => Effect.fail(new Refused({ message }))

const formatIssue = SchemaIssue.makeFormatterStandardSchemaV1()

/** The refusal of an input, in one line. */
export const unreadable = ({ issue }: Schema.SchemaError): Refused => {
  const [first] = formatIssue(issue).issues
  const path = (first?.path ?? []).map((part) => String(typeof part === "object" ? part.key : part)).join(".")
  return new Refused({ message: `${path}: ${(first?.message ?? "it cannot be read").replaceAll(/\s+/g, " ")}.` })
}

/**
 * Declares a command; `run` gets its input decoded, and its answer is encoded. `execute` is the same from JSON to JSON,
 * and whatever goes wrong is `Refused`.
 */
export const command = <
  Input extends Schema.Codec<unknown, unknown>,
  Output extends Schema.Codec<unknown, unknown>,
  E extends { readonly message: string },
  R
>(name: string, input: Input, output: Output, run: (input: Input["Type"]) => Effect.Effect<Output["Type"], E, R>) => {
  const decode = Schema.decodeUnknownEffect(input, { onExcessProperty: "error" })
  const encode = Schema.encodeEffect(output)
  return {
    name,
    input,
    output,
    execute: (json: unknown): Effect.Effect<unknown, Refused, R> =>
      decode(json).pipe(
        Effect.mapError(unreadable),
        Effect.flatMap(run),
        Effect.mapError(({ message }) => new Refused({ message })),
        Effect.flatMap((answer) => Effect.orDie(encode(answer)))
      )
  }
}

/** The organization of an id, or a refusal that it does not exist. */
export const existing = Effect.fnUntraced(function*(id: string) {
  const sql = yield* SqlClient.SqlClient
  const ids = yield* Tenant.directory(sql)(Provisioning.organizationIds)
  if (!ids.includes(id)) return yield* refuse(`There is no organization ${id}.`)
  return OrganizationId.make(id)
})

/** Runs the change and its entry in one transaction of the organization. */
export const journaled = Effect.fnUntraced(function*<A, E, R>(
  organizationId: OrganizationId,
  change: Effect.Effect<readonly [A, ReturnType<typeof Provisioning.operatorEntry> | null], E, R>
) {
  const db = yield* Db
  const journal = yield* Journal
  return yield* db.transaction(
    organizationId,
    Effect.gen(function*() {
      const [answer, entry] = yield* change
      if (entry !== null) yield* journal.append(organizationId, entry)
      return answer
    })
  )
})
